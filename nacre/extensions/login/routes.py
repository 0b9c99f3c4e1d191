"""/login, /callback and /logout: an account of the issuer -> a session in a cookie; request -> the person who sent it.

A person is known by the cookie of their session, by an access token of the issuer, or by the headers of a proxy in
NACRE_TRUSTED_PROXIES. Browsers add cookies, and proxies headers, also to requests that other pages send, so these are
refused as they are without keys. /.well-known/oauth-protected-resource tells MCP clients where to get a token.
"""

import hmac
import logging
import re
import secrets
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from html import escape
from typing import Any
from urllib.parse import quote, unquote, urljoin, urlsplit

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from starlette.responses import Response

from nacre.config.settings import Settings
from nacre.errors import NacreError
from nacre.extensions.login.issuer import Issuer, IssuerUnavailable, LoginError, groups_of
from nacre.extensions.login.rights import (
    FILE,
    MAX_NAME,
    Accounts,
    Person,
    is_within,
    make_person,
    read_rights,
    trusted_networks,
)
from nacre.language.sanitize import strip_control_characters
from nacre.records.threads import run_in_thread
from nacre.serving.errors import NotFound, StorageUnavailable, Unauthenticated
from nacre.serving.http.auth import Authenticator, run_while_unknown
from nacre.serving.http.middleware import MCP
from nacre.serving.keys import Caller, report_deed
from nacre.serving.page.pages import content_security_policy
from nacre.stores.state.database import StorageError, open_state

log = logging.getLogger(__name__)

METADATA = "/.well-known/oauth-protected-resource"

# seconds that a login may take at the issuer; characters of what a callback brings (set by hand)
LOGIN_SECONDS, MAX_CODE, MAX_NEXT = 600, 4096, 2000

# what a proxy states of a person; oauth2-proxy sends these
PROXY_USER, PROXY_GROUPS = "x-forwarded-user", "x-forwarded-groups"

PROXY_NAMES = ("x-forwarded-preferred-username", "x-forwarded-email", PROXY_USER)

# persons known by a token or a proxy that are not stored again with each request; seconds after which they are, since
# `nacre person delete` may have deleted them (set by hand)
MAX_NOTED, NOTED_SECONDS = 10_000, 60

# groups of an account without rights that the log names (set by hand)
MAX_SHOWN = 10

JWT = re.compile(r"[\w-]+\.[\w-]+\.[\w-]+")

# in a path; an address with a host is not joined, and keeps them. Some proxies read encoded slashes as slashes
UPWARDS = re.compile(r"%2[ef]|%5c|/\.{1,2}(?:/|$)", re.IGNORECASE)


class Login:
    """How people log in to one server."""

    def __init__(self, settings: Settings, authenticator: Authenticator) -> None:
        self.settings, self.authenticator = settings, authenticator
        self.issuer = Issuer(settings) if settings.login_issuer is not None else None
        self._rights = read_rights(settings.login_groups)
        self._proxies = trusted_networks(settings) if settings.login_headers else ()
        self.accounts = Accounts(open_state(settings, FILE), self._rights)
        self._key = self.accounts.login_key()
        self._noted: dict[str, tuple[Person, int]] = {}

    async def identify(self, request: Request, token: str | None) -> Caller | None:
        """The person who sent a request; None if it has no session, token or header that is valid."""
        try:
            session = request.cookies.get(cookie_name(request, "session"), "") if token is None and self.issuer else ""
            caller = await run_while_unknown(self.accounts.find_session, session) if session else None
            if caller is not None:
                self.authenticator.check_page(request)
                request.state.has_session = True
                return caller
            person = await self._token_person(request, token) if token is not None else self._proxy_person(request)
            if person is None:
                return None
            caller = self._rights.caller(person)
            if token is None:
                self.authenticator.check_page(request)
            # a token may state fewer groups than a login, so that one without rights changes nothing
            noted = person, int(time.monotonic() // NOTED_SECONDS)
            if self._noted.get(person.owner) != noted and (caller is not None or token is None):
                await run_while_unknown(self.accounts.note, person)
                self._noted[person.owner] = noted
                while len(self._noted) > MAX_NOTED:
                    del self._noted[next(iter(self._noted))]
            return caller
        except StorageError as error:
            raise StorageUnavailable("The sessions can't be read or written now. Try again.") from error

    async def _token_person(self, request: Request, token: str) -> Person | None:
        if self.issuer is None or self.settings.login_audience is None or not JWT.fullmatch(token):
            return None
        try:
            claims = await self.issuer.claims(token, self.settings.login_audience)
        except IssuerUnavailable as error:
            raise StorageUnavailable(str(error)) from error
        except LoginError as error:
            raise Unauthenticated(str(error)) from error
        person = self._person(claims)
        if person is not None and not person.groups:
            request.state.refusal = self._refusal(groups_of(claims, self.settings.login_claims), claims)
        return person

    def _refusal(self, groups: Iterable[str], claims: Mapping[str, Any] | None = None) -> str:
        """Why an account without rights is refused; the log has the names that the table lacks."""
        sources = (claims or {}).get("_claim_names")
        # Entra sends no groups of an account that has too many
        if (claims or {}).get("hasgroups") or (isinstance(sources, Mapping) and "groups" in sources):
            log.warning("the issuer left out the groups of an account, since it has too many (docs/login.md)")
            return "The issuer left out the groups of this account, since it has too many. Ask the operator."
        shown = [group[:MAX_NAME] for group in sorted(groups)[:MAX_SHOWN]]
        log.warning("an account has no group of NACRE_LOGIN_GROUPS; it is in %s", shown or "none")
        return "None of the groups of this account has rights on this server. Ask its operator."

    def _person(self, claims: Mapping[str, Any]) -> Person | None:
        name = next((claims[key] for key in ("name", "preferred_username", "email") if claims.get(key)), None)
        groups = groups_of(claims, self.settings.login_claims)
        return make_person(str(claims["iss"]), claims.get("sub"), name, groups, self._rights)

    def _proxy_person(self, request: Request) -> Person | None:
        """The person that a proxy states. The address of a connection counts, not the one that headers state."""
        users = _headers(request, PROXY_USER)
        if not self._proxies or not users or not is_within(getattr(request.state, "peer", ""), self._proxies):
            return None
        listed = _headers(request, PROXY_GROUPS)
        if len(users) > 1 or len(listed) > 1:
            raise Unauthenticated("A header that names a person came twice. The proxy must replace those of clients.")
        if "\ufffd" in users[0]:  # in place of each byte that is not UTF-8: several names would be one
            raise Unauthenticated("The header that names a person is not in UTF-8. The proxy must encode it so.")
        groups = {each.strip() for value in listed for each in value.split(",")}
        name = next((value for each in PROXY_NAMES for value in _headers(request, each) if value), None)
        person = make_person("proxy", users[0], name, groups, self._rights)
        if person is not None and not person.groups:
            request.state.refusal = self._refusal(groups)
        return person

    def challenge(self, request: Request) -> Mapping[str, str]:
        """Headers of a refusal: where MCP clients read about tokens, and that the page leads to /login."""
        found = {"WWW-Authenticate": "Bearer"}
        if self.issuer is not None:
            found["X-Login"] = "login"
            if self.settings.login_audience is not None:
                path = METADATA + (MCP if request.url.path.endswith(MCP) else "")
                found["WWW-Authenticate"] = f'Bearer resource_metadata="{_base(request)}{path[1:]}"'
        return found

    async def describe_resource(self, request: Request, place: str) -> Response:
        """Which issuer gives access tokens for this server (RFC 9728). Below a path of a host, clients that know only
        the address of the server insert METADATA before the path."""
        self.authenticator.limit_address(request)
        if place.removesuffix(MCP) not in ("", request.scope.get("root_path", "")):
            raise NotFound("Not Found")
        if self.issuer is None or self.settings.login_audience is None:
            raise NotFound(
                "This server accepts no access tokens of an issuer. Its operator can set NACRE_LOGIN_AUDIENCE."
            )
        return JSONResponse(
            {
                "resource": _base(request) + MCP[1:] if place.endswith(MCP) else _base(request).rstrip("/"),
                "resource_name": "Nacre",
                "authorization_servers": [self.issuer.name],
                "scopes_supported": self.settings.login_scopes.split(),
                "bearer_methods_supported": ["header"],
            }
        )

    async def begin(self, request: Request, next: str = "") -> Response:
        """Send the browser to the issuer; `next` is the page of this server to show afterwards. The login is remembered
        in a cookie of the browser, so that a callback elsewhere can't end it."""
        self.authenticator.limit_address(request)
        assert self.issuer is not None
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        try:
            address = await self.issuer.login_address(_base(request) + "callback", state, nonce, verifier)
        except NacreError as error:
            return _page(request, 503, "Log in", str(error))
        reply = _redirect(address)
        until = str(round(time.time()) + LOGIN_SECONDS)
        value = ".".join((until, state, nonce, verifier, quote(safe_next(_base(request), next), safe="")))
        _set_cookie(request, reply, "login", f"{self._signature(value)}.{value}", LOGIN_SECONDS)
        return reply

    async def end(self, request: Request) -> Response:
        """Check what the issuer says, which sends the browser back, and begin a session."""
        self.authenticator.limit_address(request)
        assert self.issuer is not None
        given = {key: value[:MAX_CODE] for key, value in request.query_params.items()}
        # only a login that began here causes a request to the issuer
        signature, _, value = request.cookies.get(cookie_name(request, "login"), "").partition(".")
        is_own = secrets.compare_digest(self._signature(value).encode(), signature.encode())
        until, state, nonce, verifier, next = value.split(".", 4) if is_own else ["0"] * 5
        is_same = secrets.compare_digest(state.encode(), given.get("state", "").encode())
        if not (is_own and is_same and time.time() < int(until)):
            return _page(request, 400, "Log in", "This login was not begun in this browser, or it took too long.")
        if given.get("iss", self.issuer.name) != self.issuer.name or "code" not in given:
            why = strip_control_characters(given.get("error", "no code"))[:100]
            return _page(request, 403, "Log in", f"The login server refuses: {why}.")
        try:
            claims = await self.issuer.redeem(given["code"], _base(request) + "callback", nonce, verifier)
            person = self._person(claims)
            caller = self._rights.caller(person) if person is not None else None
            if person is None or caller is None:
                if person is not None:
                    report_deed(Caller(person.owner, (), name=person.name), "was refused")
                why = self._refusal(groups_of(claims, self.settings.login_claims), claims)
                return _page(request, 403, "Log in", why)
            seconds = self.settings.login_hours * 3600
            # the browser's session before this one ends, whoever knows its cookie
            earlier = request.cookies.get(cookie_name(request, "session"), "")
            token = await run_in_thread(self.accounts.begin_session, person, seconds, earlier)
        except StorageError:
            return _page(request, 503, "Log in", "The session can't be stored now. Try again.")
        except NacreError as error:
            return _page(request, 403, "Log in", str(error))
        report_deed(caller, "logged in")
        reply = _redirect(safe_next(_base(request), unquote(next)))
        _set_cookie(request, reply, "session", token, round(seconds))
        _set_cookie(request, reply, "login", "", 0)
        return reply

    def _signature(self, value: str) -> str:
        return hmac.new(self._key, value.encode(errors="replace"), "sha256").hexdigest()

    async def log_out(self, request: Request) -> Response:
        """End the session in the store, whatever other copies of the cookie there are."""
        self.authenticator.limit_address(request)
        self.authenticator.check_page(request)
        if token := request.cookies.get(cookie_name(request, "session")):
            try:
                if (caller := await run_in_thread(self.accounts.find_session, token)) is not None:
                    report_deed(caller, "logged out")
                await run_in_thread(self.accounts.end_session, token)
            except StorageError as error:
                raise StorageUnavailable("The session can't be ended now. Try again.") from error
        reply = Response(status_code=204)
        _set_cookie(request, reply, "session", "", 0)
        return reply

    async def logged_out(self, request: Request) -> Response:
        """The page after a log-out; the issuer may still know the browser."""
        self.authenticator.limit_address(request)
        assert self.issuer is not None
        address = ""
        with suppress(NacreError):
            address = await self.issuer.logout_address()
        return _page(request, 200, "Logged out", "You are logged out of Nacre.", address)


def add_routes(app: FastAPI, settings: Settings) -> None:
    """Let people log in."""
    authenticator: Authenticator = app.state.authenticator
    login = app.state.login = Login(settings, authenticator)
    authenticator.identify, authenticator.challenge = login.identify, login.challenge
    authenticator.advice = "Log in, or send a key as 'Authorization: Bearer KEY'; nacre keys add NAME creates one."
    app.state.keys.find_person = login.accounts.find
    if login.issuer is not None:
        router = APIRouter(include_in_schema=False)
        router.get("/login")(login.begin)
        router.get("/callback")(login.end)
        router.post("/logout")(login.log_out)
        router.get("/logout")(login.logged_out)
        router.get(METADATA + "{place:path}")(login.describe_resource)
        app.include_router(router)


def safe_next(base: str, next: str) -> str:
    """The page to show after a login: an address of this server below `base`, else its first page.

    >>> safe_next("https://a.example/kg/", "?graph=maps"), safe_next("https://a.example/kg/", "//evil.example/kg/")
    ('https://a.example/kg/?graph=maps', 'https://a.example/kg/')
    """
    if len(next) > MAX_NEXT or not next.isprintable() or "\\" in next:
        return base
    try:
        found = urljoin(base, next)
    except ValueError:
        return base
    # browsers and proxies go upwards, also if full stops or slashes are encoded
    is_upwards = UPWARDS.search(urlsplit(found).path)
    return found if found.startswith(base) and not is_upwards else base


def cookie_name(request: Request, kind: str) -> str:
    """The name of a cookie. With https it is one that no other host can set; servers below different paths of a host
    have their own."""
    path = re.sub(r"\W+", "-", request.scope.get("root_path", "")).rstrip("-")
    return f"{'__Host-' if request.url.scheme == 'https' else ''}nacre-{kind}{path}"


def _set_cookie(request: Request, reply: Response, kind: str, value: str, seconds: int) -> None:
    is_secure = request.url.scheme == "https"
    name = cookie_name(request, kind)
    reply.set_cookie(name, value, max_age=seconds, path="/", secure=is_secure, httponly=True, samesite="lax")


def _redirect(address: str) -> RedirectResponse:
    return RedirectResponse(address, 303, {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"})


def _base(request: Request) -> str:
    """The address of the first page, as the browser or client sees it."""
    return str(request.base_url)


def _page(request: Request, status: int, title: str, text: str, elsewhere: str = "") -> HTMLResponse:
    """A page of one sentence, with a link to log in."""
    links = f'<p><a href="{escape(_base(request))}login">Log in</a></p>'
    if elsewhere:
        links += f'<p><a href="{escape(elsewhere)}">Log out of your account too</a></p>'
    body = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)} · Nacre</title></head><body><h1>{escape(title)}</h1><p>{escape(text)}</p>{links}"
        "</body></html>"
    )
    headers = {"Content-Security-Policy": content_security_policy(body), "Cache-Control": "no-store"}
    return HTMLResponse(body, status, headers)


def _headers(request: Request, name: str) -> list[str]:
    """The values of a header, which proxies write in UTF-8."""
    return [value.encode("latin-1").decode(errors="replace") for value in request.headers.getlist(name)]
