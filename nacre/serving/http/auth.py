"""Authentication and rate limits: request -> Caller. Without keys only requests from this machine are accepted."""

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from ipaddress import IPv6Address, IPv6Network
from typing import Annotated, ParamSpec, TypeVar

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from nacre.errors import ConfigError, NacreError
from nacre.serving.errors import ForbiddenOrigin, StorageUnavailable, TooManyRequests, Unauthenticated
from nacre.serving.keys import LOCAL_CALLER, Caller, KeyStore, KeysUnavailable

log = logging.getLogger(__name__)

LOOPBACK_HOSTS = {"127.0.0.1", "::1", "localhost"}

# such a host in a header, with its port
LOOPBACK_HOST = re.compile(r"(?:127\.0\.0\.1|\[::1\]|localhost)(?::\d*)?", re.IGNORECASE)

OWN_SITES = {"same-origin", "none"}  # what browsers say of requests by the user and by pages of the server itself

PROXY_HEADERS = ("x-forwarded-for", "x-forwarded-host", "forwarded")

MAX_TRACKED_CLIENTS = 10_000

# what the names of clients begin with: valid keys are counted by owner, requests without one by address
OWNER, ADDRESS = "owner ", "address "

# a thread of its own, so that no request waits for the work of others before it is known who sent it
_POOL = ThreadPoolExecutor(1, thread_name_prefix="nacre-keys")

bearer_token = HTTPBearer(
    auto_error=False, description="A key created by `nacre keys add`. Not needed if no key exists."
)


Identify = Callable[[Request, str | None], Awaitable[Caller | None]]


class Authenticator:
    """Authenticates requests against the keys of a data folder, and by `identify`, which an extension may set: request
    and token -> who sent it, or None. `is_locked`: without a caller, requests are refused even if there are no keys."""

    identify: Identify | None = None

    def __init__(
        self, keys: KeyStore, rate: "RateLimiter", origins: frozenset[str], *, is_locked: bool = False
    ) -> None:
        self._keys = keys
        self._is_locked = is_locked
        # what a request without a valid key is told, unless its state has a `refusal`, and headers of the reply
        self.advice = "A key is required. Send it as 'Authorization: Bearer KEY'; nacre keys add NAME creates one."
        self.challenge: Callable[[Request], Mapping[str, str]] = lambda request: {"WWW-Authenticate": "Bearer"}
        self._origins = origins
        self._rate = rate
        # keys that exist at the start must not be forgotten before the first request
        with suppress(ConfigError):
            keys.all()

    def authenticate(self, request: Request, token: str | None, person: Caller | None = None) -> Caller:
        """The caller of a request: the owner of its key, else the identified `person`. It reads a file: not on the
        event loop. Raises Unauthenticated, ForbiddenOrigin or TooManyRequests."""
        address = request.client.host if request.client else "127.0.0.1"
        try:
            locked = bool(self._keys.all()) or self._is_locked
        except ConfigError as error:
            # clients without a key must not learn the path of the file
            log.error("%s", error)
            raise StorageUnavailable(
                "The database of this server does not answer, so no request is accepted. Ask again in a moment."
                if isinstance(error, KeysUnavailable)
                else "The keys can't be read, so all requests are refused. Run on the server: nacre keys list"
            ) from error
        if locked:
            caller = (self._keys.find_caller(token) if token else None) or person
            if caller is None:
                self.limit_address(request)
                raise Unauthenticated(getattr(request.state, "refusal", self.advice))
            self._rate.take(f"{OWNER}{caller.owner}")
            return caller
        self.limit_address(request)
        if address not in LOOPBACK_HOSTS:
            raise Unauthenticated("Without keys only requests from this machine are accepted. Run: nacre keys add NAME")
        # requests that other web pages send from this machine have another origin or host
        if any(request.headers.get(name) for name in PROXY_HEADERS):
            raise Unauthenticated(
                "This request came through a proxy. Without keys only requests from this machine are accepted. "
                "Run: nacre keys add NAME"
            )
        host = request.headers.get("host", "")
        if not LOOPBACK_HOST.fullmatch(host):
            raise ForbiddenOrigin(f"The host {host[:100]!r} is not this machine. Without keys use http://127.0.0.1.")
        self.check_page(request)
        return LOCAL_CALLER

    def limit_address(self, request: Request) -> None:
        """Count a request that needs no key; raises TooManyRequests."""
        self._rate.take(f"{ADDRESS}{client_network(request.client.host if request.client else '127.0.0.1')}")

    def check_page(self, request: Request) -> None:
        """Refuse requests that other web pages send with what a browser adds to each request, such as a cookie."""
        # images and links of other pages send no Origin, and a page on another port is of the same site
        if not request.headers.get("origin") and request.headers.get("sec-fetch-site", "none") not in OWN_SITES:
            raise ForbiddenOrigin("Other pages may not send requests. Open the page of this server itself.")
        self.check_origin(request)

    def check_origin(self, request: Request) -> None:
        """Raises ForbiddenOrigin if a web page of another origin sent the request and the settings do not allow it."""
        origin, host = request.headers.get("origin", ""), request.headers.get("host", "")
        if origin and origin not in (*self._origins, f"https://{host}", f"{request.url.scheme}://{host}"):
            raise ForbiddenOrigin(
                f"Pages of {origin[:100]!r} may not send requests. Set NACRE_CORS_ORIGINS to allow it."
            )


def client_network(address: str) -> str:
    """What counts as one client: an address of IPv4, or the network that one of IPv6 is in, which one client may fill.

    >>> client_network("192.0.2.7"), client_network("::ffff:192.0.2.7"), client_network("2001:db8::7")
    ('192.0.2.7', '192.0.2.7', '2001:db8::/64')
    """
    try:
        parsed = IPv6Address(address)
    except ValueError:
        return address
    return str(parsed.ipv4_mapped or IPv6Network((int(parsed), 64), strict=False))


class RateLimiter:
    """A token bucket per client: `per_minute` requests a minute, a tenth of them at once; 0 means no limit."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_minute / 60
        self._size = max(1.0, per_minute / 10)
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, client: str) -> None:
        """Take one token out of a client's bucket; raises TooManyRequests if it is empty."""
        if not self._per_second:
            return
        now = self._clock()
        left, at = self._buckets.pop(client, (self._size, now))
        left = min(self._size, left + (now - at) * self._per_second)
        # the dictionary is in order of use, so that its first entries can be dropped
        self._buckets[client] = max(left - 1, 0) if left >= 1 else left, now
        while len(self._buckets) > MAX_TRACKED_CLIENTS:
            del self._buckets[next(iter(self._buckets))]
        if left < 1:
            raise TooManyRequests("Too many requests. Slow down.", (1 - left) / self._per_second)


P = ParamSpec("P")
T = TypeVar("T")


async def run_while_unknown(work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """Run short work of authentication in the thread that nothing else uses."""
    return await asyncio.get_running_loop().run_in_executor(_POOL, partial(work, *given, **named))


async def authenticate(
    request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer_token)]
) -> Caller:
    """The caller of a request, as a dependency of routes: `caller: CallerDep`. A request is authenticated once."""
    caller: Caller | None = getattr(request.state, "caller", None)
    if caller is None:
        authenticator: Authenticator = request.app.state.authenticator
        # LangGraph's clients send the key in a header of its own
        token = credentials.credentials if credentials else request.headers.get("x-api-key")
        try:
            person = await authenticator.identify(request, token) if authenticator.identify is not None else None
        except NacreError:
            authenticator.limit_address(request)
            raise
        caller = await run_while_unknown(authenticator.authenticate, request, token, person)
        request.state.caller = caller
    return caller


CallerDep = Annotated[Caller, Depends(authenticate)]
