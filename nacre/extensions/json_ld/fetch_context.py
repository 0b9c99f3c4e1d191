"""Download JSON-LD contexts: address -> document, within one deadline for all of them and from public addresses."""

import ipaddress
import json
import socket
import time
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx

from nacre.errors import IngestionError
from nacre.stores.sparql.deadline_network import bound_to_deadlines, network_deadline

# seconds of all downloads of an ingest together, bytes and redirects of one, number of downloads (given)
FETCH_SECONDS, MAX_CONTEXT_BYTES, MAX_REDIRECTS, MAX_FETCHED = 10.0, 2 << 20, 5, 100

_ACCEPT = {"Accept": "application/ld+json, application/json;q=0.9"}


class ContextDownloads:
    """The downloads of one ingest."""

    def __init__(self, seconds: float = FETCH_SECONDS) -> None:
        self._seconds, self._left, self._count = seconds, seconds, 0

    def fetch(self, url: str, named_by: str = "") -> Any:
        """The document at an address, which a file names, or another downloaded context (`named_by`).

        Raises IngestionError beyond the limits, and for redirects and contexts that lead to another private address.
        """
        self._count += 1
        if self._count > MAX_FETCHED:
            raise IngestionError(f"more than {MAX_FETCHED} JSON-LD contexts would have to be fetched")
        started = time.monotonic()
        try:
            with network_deadline(started + self._left):
                return json.loads(self._follow(url, named_by))
        except RecursionError:
            raise IngestionError(f"the JSON-LD context {url} is nested too deeply") from None
        except httpx.TimeoutException:
            raise IngestionError(
                f"the JSON-LD contexts can't be fetched within {self._seconds:g} seconds, {url} among them."
                f" Give a copy with --context {url}=FILE"
            ) from None
        except (httpx.HTTPError, ValueError) as error:
            raise IngestionError(
                f"the JSON-LD context {url} can't be fetched ({error or type(error).__name__})."
                f" Give a copy with --context {url}=FILE"
            ) from None
        finally:
            self._left -= time.monotonic() - started

    def _follow(self, url: str, named_by: str) -> bytes:
        """The body at the end of the redirects."""
        with bound_to_deadlines(httpx.Client(timeout=self._seconds, follow_redirects=False)) as client:
            for _ in range(MAX_REDIRECTS + 1):
                _check_address(url, named_by)
                with client.stream("GET", url, headers=_ACCEPT) as answer:
                    if not answer.has_redirect_location:
                        answer.raise_for_status()
                        return _body(answer, url)
                    named_by, url = url, urljoin(url, answer.headers["location"])
        raise IngestionError(f"the JSON-LD context {url} is redirected more than {MAX_REDIRECTS} times")


def _body(answer: httpx.Response, url: str) -> bytes:
    body = bytearray()
    for part in answer.iter_bytes(1 << 16):
        body += part
        if len(body) > MAX_CONTEXT_BYTES:
            raise IngestionError(f"the JSON-LD context {url} has more than {MAX_CONTEXT_BYTES >> 20} MB")
    return bytes(body)


def _check_address(url: str, named_by: str) -> None:
    """Raise IngestionError for an address without http, and for one in a private network that a server leads to.

    A server may lead to itself.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise IngestionError(f"the JSON-LD context {url} has no http address. Give a copy with --context {url}=FILE")
    if not named_by or parts.netloc == urlsplit(named_by).netloc:
        return
    try:
        found = socket.getaddrinfo(parts.hostname, parts.port or 80, type=socket.SOCK_STREAM)
    except OSError as error:
        raise IngestionError(f"the JSON-LD context {url} can't be fetched ({error.strerror or error})") from None
    if not all(ipaddress.ip_address(str(address[0]).partition("%")[0]).is_global for *_, address in found):
        raise IngestionError(
            f"the JSON-LD context {named_by} leads to {url}, a private address, which is not followed."
            f" Give a copy with --context {url}=FILE"
        )
