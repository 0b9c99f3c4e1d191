"""The OpenID Connect issuer: its addresses and keys; a code of a login, or an access token -> checked claims.

Its keys are read again if a token is signed with an unknown one, at most once in REFRESH_SECONDS, and after
KEPT_SECONDS in any case.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import httpx2
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet, import_key
from joserfc.jws import JWSRegistry

from nacre.config.bounded_replies import ENCODINGS, ReplyTooLarge, bound_body
from nacre.config.settings import Settings
from nacre.errors import ConfigError, NacreError

log = logging.getLogger(__name__)

DISCOVERY = "/.well-known/openid-configuration"

# signatures by a key that only the issuer has; a shared secret (HS256) or none would prove nothing
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512")

# seconds that clocks may differ, that a request to the issuer takes at most, until its keys may be read again, the same
# after a failure, and that they are used; bytes of its replies and tokens, groups of an account, which are the ids of
# 36 characters that fit into a token, and keys (set by hand)
LEEWAY, TIMEOUT, REFRESH_SECONDS, RETRY_SECONDS, KEPT_SECONDS = 60, 10.0, 30.0, 3.0, 3600.0

MAX_REPLY, MAX_TOKEN, MAX_GROUPS, MAX_KEYS = 4_000_000, 1_200_000, 20_000, 100

_FAILURES = (httpx2.HTTPError, httpx2.InvalidURL, ReplyTooLarge, TimeoutError, ValueError, TypeError, RecursionError)

LOOPBACK = ("localhost", "127.0.0.1", "::1")


class _TokenForm(JWSRegistry):
    """Tokens of any issuer: with many groups, certificates in the header, and parameters that others need."""

    max_header_length, max_payload_length = 65_536, MAX_TOKEN


_FORM = _TokenForm(algorithms=ALGORITHMS, strict_check_header=False)


async def _bound_reply(reply: httpx2.Response) -> None:
    bound_body(reply, MAX_REPLY)


def _client_options() -> dict[str, Any]:
    """Options of the clients that read what the issuer sends."""
    return {
        "timeout": TIMEOUT,
        "follow_redirects": False,
        "event_hooks": {"response": [_bound_reply]},
        "headers": {"Accept-Encoding": ", ".join(ENCODINGS)},
        # reading the certificates of the system takes 20 ms, for which no request may stop the event loop
        "verify": httpx2.create_ssl_context(),
    }


class LoginError(NacreError):
    """A login or a token is refused; the message is for the person."""


class IssuerUnavailable(LoginError):
    """The issuer does not answer, or not as an issuer does; why, for the operator."""

    why = ""


class Issuer:
    """The issuer of the settings. Methods raise LoginError."""

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        assert settings.login_issuer is not None
        self.name = settings.login_issuer
        self.client = settings.login_client or ""
        self._secret = settings.login_secret.get_secret_value() if settings.login_secret is not None else None
        self._scopes = settings.login_scopes
        self._options = _client_options()
        self._clock = clock
        self._lock = asyncio.Lock()
        self._metadata: dict[str, Any] = {}
        self._keys: KeySet | None = None
        # when the keys were read, when that was tried last, and when the issuer did not describe itself
        self._read_at = self._tried_at = self._failed_at = clock() - KEPT_SECONDS

    async def examine(self) -> tuple[int, float | None]:
        """The number of its keys that can be used, and how many seconds its clock is ahead of ours (None: unknown)."""
        dates: list[str] = []

        async def note_date(reply: httpx2.Response) -> None:
            dates.append(reply.headers.get("date", ""))

        self._options["event_hooks"] = {"response": [_bound_reply, note_date]}
        keys = len((await self._current_keys(refreshed=False)).keys)
        try:
            return keys, parsedate_to_datetime(dates[-1]).timestamp() - time.time()
        except (ValueError, IndexError):
            return keys, None

    async def login_address(self, redirect: str, state: str, nonce: str, verifier: str) -> str:
        """Where a browser begins a login that ends at `redirect`."""
        address = (await self._described())["authorization_endpoint"]
        async with self._connect(redirect) as client:
            url, _ = client.create_authorization_url(address, state=state, nonce=nonce, code_verifier=verifier)
            return str(url)

    async def logout_address(self) -> str:
        """Where people end their session at the issuer; "" if it names no such address."""
        return str((await self._described()).get("end_session_endpoint") or "")

    async def redeem(self, code: str, redirect: str, nonce: str, verifier: str) -> dict[str, Any]:
        """The claims of the ID token for the code of a login."""
        address = (await self._described())["token_endpoint"]
        try:
            async with asyncio.timeout(TIMEOUT), self._connect(redirect) as client:
                token = await client.fetch_token(address, code=code, code_verifier=verifier)
        except (AuthlibBaseError, *_FAILURES) as error:
            raise _unavailable("it accepts no code", error) from error
        return await self.claims(token.get("id_token"), self.client, nonce)

    async def claims(self, token: Any, audience: str, nonce: str | None = None) -> dict[str, Any]:
        """The claims of a token that the issuer signed for an audience and that has not expired; of an ID token with
        the `nonce` of its login, else of an access token."""
        if not isinstance(token, str) or not token:
            raise LoginError("The issuer sent no ID token.")
        if len(token) > MAX_TOKEN:
            raise LoginError("The token is too long. Ask the operator to send fewer groups.")
        try:
            found = await self._decode(token)
            # an unknown signature may be one of a new key
            claims = found if found is not None else await self._decode(token, refreshed=True)
            if claims is None:
                raise LoginError("The token is not signed by a key of the issuer.")
            given: dict[str, Any] = {"aud": audience, "iss": self.name, **({"nonce": nonce} if nonce else {})}
            wanted: dict[str, Any] = {name: {"essential": True, "value": value} for name, value in given.items()}
            jwt.JWTClaimsRegistry(leeway=LEEWAY, exp={"essential": True}, sub={"essential": True}, **wanted).validate(
                claims
            )
        except (JoseError, ValueError, TypeError, RecursionError) as error:
            raise LoginError(f"The token is not valid: {type(error).__name__}.") from error
        # whom an ID token was issued to, if it has several audiences (OpenID Connect Core, section 3.1.3.7)
        if nonce and claims.get("azp", self.client) != self.client:
            raise LoginError("The token is for another client.")
        if not nonce and ({"nonce", "at_hash", "c_hash"} & claims.keys() or claims.get("typ") == "ID"):
            raise LoginError("This is an ID token. Send an access token.")
        return claims

    async def _decode(self, token: str, *, refreshed: bool = False) -> dict[str, Any] | None:
        """The claims of a token; None if no known key has signed it."""
        keys = await self._current_keys(refreshed=refreshed)
        try:
            return jwt.decode(token, keys, registry=_FORM).claims
        except JoseError as error:
            if type(error).__name__ in ("InvalidKeyIdError", "BadSignatureError", "MissingKeyError"):
                return None
            raise

    async def _current_keys(self, *, refreshed: bool) -> KeySet:
        if self._keys is not None and self._clock() - self._read_at <= (REFRESH_SECONDS if refreshed else KEPT_SECONDS):
            return self._keys
        async with self._lock:
            if self._clock() - self._tried_at > (REFRESH_SECONDS if self._keys is not None else RETRY_SECONDS):
                try:
                    metadata = await self._describe()
                    self._keys = _key_set(await _read_json(metadata["jwks_uri"], self._options))
                except (JoseError, ValueError, TypeError, KeyError) as error:
                    raise _unavailable("its keys can't be read", error) from error
                finally:
                    # at the end: those that wait for the lock must not wait for a silent issuer one after another
                    self._tried_at = self._clock()
                self._read_at = self._clock()
            if self._keys is None or self._clock() - self._read_at > KEPT_SECONDS:
                raise _unavailable("its keys could not be read a moment ago")
            return self._keys

    async def _described(self) -> dict[str, Any]:
        async with self._lock:
            if not self._metadata and self._clock() - self._failed_at <= RETRY_SECONDS:
                raise _unavailable("it did not answer a moment ago")
            try:
                return self._metadata or await self._describe()
            except IssuerUnavailable:
                self._failed_at = self._clock()
                raise

    async def _describe(self) -> dict[str, Any]:
        """Read the addresses of the issuer (OpenID Connect Discovery, section 4). The caller holds the lock."""
        found = await _read_json(self.name.rstrip("/") + DISCOVERY, self._options)
        if found.get("issuer") != self.name:
            raise _unavailable(f"it calls itself {str(found.get('issuer'))[:200]!r}, not {self.name!r}")
        for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
            check_address(found.get(name), name)
        if found.get("end_session_endpoint"):
            check_address(found["end_session_endpoint"], "end_session_endpoint")
        self._metadata = found
        return found

    def _connect(self, redirect: str) -> AsyncOAuth2Client:
        return AsyncOAuth2Client(
            self.client,
            self._secret,
            scope=self._scopes,
            redirect_uri=redirect,
            code_challenge_method="S256",
            token_endpoint_auth_method="client_secret_basic" if self._secret else "none",
            **self._options,
        )


def check_address(address: Any, name: str) -> None:
    """Raise IssuerUnavailable unless an address is one of https, or of this machine."""
    try:
        parts = urlsplit(address if isinstance(address, str) else "")
        is_safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)
    except ValueError:
        is_safe = False
    if not is_safe:
        raise _unavailable(f"{name} is no address with https")


def groups_of(claims: Mapping[str, Any], names: str) -> set[str]:
    """The groups of an account: the values of claims, of which `a.b` may be nested. An address counts only if the
    issuer has verified it.

    >>> sorted(groups_of({"groups": ["/staff"], "realm_access": {"roles": ["kg"]}}, "groups, realm_access.roles"))
    ['/staff', 'kg']
    >>> groups_of({"email": "ann@example.org"}, "email")
    set()
    """
    found: set[str] = set()
    for name in filter(None, map(str.strip, names.split(","))):
        value = _claim(claims, name.split("."))
        if name == "email" and claims.get("email_verified") not in (True, "true"):
            continue
        values: Iterable[Any] = value if isinstance(value, list) else [value]
        found |= {each for each, _ in zip(values, range(MAX_GROUPS), strict=False) if isinstance(each, str)}
    return found


def _claim(value: Any, parts: Sequence[str]) -> Any:
    """What claims have at a path. The name of a part may have full stops itself, as the id of a client may.

    >>> _claim({"resource_access": {"kg.example": {"roles": ["staff"]}}}, "resource_access.kg.example.roles".split("."))
    ['staff']
    """
    if not parts or not isinstance(value, Mapping):
        return None if parts else value
    ends = (end for end in range(len(parts), 0, -1) if ".".join(parts[:end]) in value)
    return next((_claim(value[".".join(parts[:end])], parts[end:]) for end in ends), None)


async def _read_json(address: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON object at an address. Raises IssuerUnavailable."""
    try:
        async with asyncio.timeout(TIMEOUT), httpx2.AsyncClient(**options) as client:
            found = (await client.get(address)).raise_for_status().json()
        if not isinstance(found, dict):
            raise TypeError("no object")
    except _FAILURES as error:
        raise _unavailable(f"{urlsplit(address).path} can't be read", error) from error
    return found


def _key_set(found: Mapping[str, Any]) -> KeySet:
    """The keys of a document. Those of kinds that nothing here can use are ignored (RFC 7517, section 5)."""
    listed, keys = found["keys"], []
    if not isinstance(listed, list):
        raise TypeError("no list")
    for each in listed[:MAX_KEYS]:
        with suppress(JoseError, ValueError, TypeError, KeyError):
            keys.append(import_key(each))
    return KeySet(keys)


def _unavailable(why: str, error: BaseException | None = None) -> IssuerUnavailable:
    # what the issuer or the network say is for the operator
    why += f" ({type(error).__name__}: {error})" if error else ""
    log.warning("the issuer of logins: %s", why)
    found = IssuerUnavailable("The login server does not answer as it should. Try again, or tell the operator.")
    found.why = why
    return found


def check_issuer(settings: Settings) -> None:
    """Raise ConfigError unless the settings name an issuer that can be used."""
    try:
        check_address(settings.login_issuer, "NACRE_LOGIN_ISSUER")
    except IssuerUnavailable:
        raise ConfigError("NACRE_LOGIN_ISSUER is no address with https.") from None
    if not settings.login_client:
        raise ConfigError("NACRE_LOGIN_ISSUER needs NACRE_LOGIN_CLIENT, the id of this server at the issuer.")
    if "openid" not in settings.login_scopes.split():
        raise ConfigError("NACRE_LOGIN_SCOPES lacks openid.")


def examine_issuer(settings: Settings) -> Iterator[tuple[str, str, str, bool]]:
    """What `nacre doctor` finds of the issuer, within TIMEOUT: about, text, next step, whether it is broken."""
    # the reason is in the finding
    log.addHandler(logging.NullHandler())
    started, name = time.monotonic(), settings.login_issuer

    async def examine() -> tuple[int, float | None]:
        async with asyncio.timeout(TIMEOUT):
            return await Issuer(settings).examine()

    try:
        keys, ahead = asyncio.run(examine())
    except (IssuerUnavailable, TimeoutError) as error:
        why = " ".join(getattr(error, "why", "").split())[:300] or f"nothing within {TIMEOUT:.0f} s"
        yield "login", f"{name} does not answer as it should: {why}", "start it, or check NACRE_LOGIN_ISSUER", True
        return
    yield "login", f"{name} answers, in {time.monotonic() - started:.1f} s", "", False
    step = "" if keys else "let the issuer sign with RSA or elliptic curves"
    yield "login", f"it has {keys} keys that can be used", step, not keys
    if ahead is None:
        yield "login", "it does not tell the time", "", False
    elif abs(ahead) > LEEWAY:
        text = f"its clock is {abs(ahead):.0f} s {'ahead' if ahead > 0 else 'behind'}, and {LEEWAY} s are allowed"
        yield "login", text, "set the clock of this machine, or of the issuer, by NTP", True
    else:
        yield "login", f"its clock and ours differ by less than {abs(ahead) + 1:.0f} s", "", False
