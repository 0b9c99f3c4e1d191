"""The authenticator: request -> who asks. Keys where there are keys; else this machine alone; not too often in either case."""

import logging
import time
from collections.abc import Callable
from typing import Annotated
from urllib.parse import SplitResult, urlsplit

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from nacre.errors import ConfigError
from nacre.serving.http.errors import ForbiddenOrigin, StorageUnavailable, TooManyRequests, Unauthenticated
from nacre.serving.keys import LOCAL_CALLER, Caller, KeyStore

log = logging.getLogger(__name__)

LOOPBACK_HOSTS = {"127.0.0.1", "::1", "localhost"}
PROXY_HEADERS = ("x-forwarded-for", "x-forwarded-host", "forwarded")
MAX_TRACKED_CLIENTS = 10_000
bearer_token = HTTPBearer(
    auto_error=False, description="A key made by `nacre keys add`; none is needed where none was made."
)


class Authenticator:
    """Lets callers in; one for an app."""

    def __init__(self, keys: KeyStore, max_rate: int, origins: frozenset[str]) -> None:
        self._keys = keys
        self._origins = origins
        self._rate = RateLimiter(max_rate)

    def authenticate(self, request: Request, token: str | None) -> Caller:
        """Who asks; raises Unknown, Foreign or Busy. It reads a file: not on the event loop."""
        address = request.client.host if request.client else "127.0.0.1"
        try:
            locked = bool(self._keys.all())
        except ConfigError as error:
            # where the keys lie is nothing for those who have none
            log.error("%s", error)
            raise StorageUnavailable(
                "The keys can't be read, so nobody is let in. Run on the server: nacre keys list"
            ) from error
        if locked:
            caller = self._keys.find_caller(token) if token else None
            # who guesses keys is slowed down by address, who has one by its owner
            self._rate.take(f"owner {caller.owner}" if caller else f"address {address}")
            if caller is None:
                raise Unauthenticated(
                    "A key is needed. Send it as 'Authorization: Bearer KEY'; nacre keys add NAME makes one."
                )
            return caller
        self._rate.take(f"address {address}")
        if address not in LOOPBACK_HOSTS:
            raise Unauthenticated("Without keys only this machine is answered. Run: nacre keys add NAME")
        self._check_local(request)
        return LOCAL_CALLER

    def _check_local(self, request: Request) -> None:
        """Without keys a page that the person happens to look at must not ask: it says its origin, or another host."""
        host = request.headers.get("host", "")
        if any(request.headers.get(name) for name in PROXY_HEADERS):
            raise Unauthenticated(
                "A proxy sent this; without keys only this machine is answered. Run: nacre keys add NAME"
            )
        if _split_url(f"//{host}").hostname not in LOOPBACK_HOSTS:
            raise ForbiddenOrigin(f"The host {host[:100]!r} is not this machine. Without keys use http://127.0.0.1.")
        self.check_origin(request)

    def check_origin(self, request: Request) -> None:
        """Raises Foreign where a web page of another origin asks, which nobody allowed to."""
        origin = request.headers.get("origin", "")
        if origin and _split_url(origin).netloc != request.headers.get("host", "") and origin not in self._origins:
            raise ForbiddenOrigin(f"Pages of {origin[:100]!r} may not ask. Set NACRE_CORS_ORIGINS to allow them.")


def _split_url(url: str) -> SplitResult:
    """As `urlsplit`; nothing of what is no address.

    >>> _split_url("//[::1").netloc, _split_url("//[::1]:82").hostname
    ('', '::1')
    """
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", "", "", "")


class RateLimiter:
    """A bucket for each caller: `per_minute` requests a minute, a tenth of them at once; 0 is no limit."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_minute / 60
        self._size = max(1.0, per_minute / 10)
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, client: str) -> None:
        """Take one request out of a caller's bucket; raises Busy where it is empty."""
        if not self._per_second:
            return
        now = self._clock()
        left, at = self._buckets.pop(client, (self._size, now))
        left = min(self._size, left + (now - at) * self._per_second)
        # the last one in the dictionary is the latest, so that the first can be forgotten
        self._buckets[client] = max(left - 1, 0) if left >= 1 else left, now
        while len(self._buckets) > MAX_TRACKED_CLIENTS:
            del self._buckets[next(iter(self._buckets))]
        if left < 1:
            raise TooManyRequests("Too many requests. Slow down.", (1 - left) / self._per_second)


def authenticate(
    request: Request, given: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer_token)]
) -> Caller:
    """Who asks, for routes: `caller: CallerDep`."""
    authenticator: Authenticator = request.app.state.authenticator
    found = authenticator.authenticate(request, given.credentials if given else None)
    request.state.caller = found
    return found


CallerDep = Annotated[Caller, Depends(authenticate)]
