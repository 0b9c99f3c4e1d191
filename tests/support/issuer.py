"""An OpenID Connect issuer for tests: it signs what a test wants, and changes its keys when it is told to."""

import base64
import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey
from joserfc.jws import JWSRegistry
from joserfc.registry import HeaderParameter

CLIENT, AUDIENCE = "nacre-test", "https://kg.example/mcp"


class LocalIssuer:
    """`codes` has the claims and the PKCE challenge of each code; `requests` are the paths that were asked for. A
    browser is logged in as `person`, whose claims these are."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.codes: dict[str, tuple[dict[str, Any], str]] = {}
        self.requests: list[str] = []
        self.person: dict[str, Any] = {}
        self.documents: dict[str, Any] = {}
        self._used = 0
        self.change_keys()

    def change_keys(self, kid: str = "") -> None:
        """Sign with a new key from now on; the old one is gone."""
        self.key = RSAKey.import_key(_key(self._used), {"kid": kid or f"key-{time.monotonic_ns()}", "alg": "RS256"})
        self._used += 1

    def token(self, *, header: dict[str, Any] | None = None, key: Any = None, **claims: Any) -> str:
        """A signed token, by default an access token for AUDIENCE of the person `7`. A claim that is None is left
        out."""
        now = int(time.time())
        given = {"iss": self.address, "aud": AUDIENCE, "sub": "7", "iat": now, "exp": now + 300, **claims}
        present = {name: value for name, value in given.items() if value is not None}
        protected = {"alg": "RS256", "kid": self.key.kid, **(header or {})}
        known = {name: HeaderParameter(name, "str") for name in protected.get("crit", ())}
        form = JWSRegistry(known, [protected["alg"]], strict_check_header=False)
        return jwt.encode(protected, present, key or self.key, registry=form)

    def code(self, login: str, **claims: Any) -> tuple[str, str]:
        """Log in somebody whom a server sent to the address `login`: the code and the state for its callback."""
        query = {name: values[0] for name, values in parse_qs(urlsplit(login).query).items()}
        assert query["code_challenge_method"] == "S256"
        code = f"code-{len(self.codes)}"
        self.codes[code] = ({"aud": CLIENT, "nonce": query["nonce"], **claims}, query["code_challenge"])
        return code, query["state"]

    def reply(self, path: str, form: dict[str, str]) -> tuple[int, Any]:
        """Status and JSON of a request."""
        self.requests.append(path)
        if path in self.documents:
            return 200, self.documents[path]
        if path == "/.well-known/openid-configuration":
            places = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys"}
            return 200, {"issuer": self.address} | {name: f"{self.address}/{end}" for name, end in places.items()}
        if path == "/keys":
            return 200, KeySet([self.key]).as_dict(private=False)
        claims, challenge = self.codes.pop(form.get("code", ""), ({}, ""))
        hashed = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        if path != "/token" or base64.urlsafe_b64encode(hashed).rstrip(b"=").decode() != challenge:
            return 400, {"error": "invalid_grant"}
        return 200, {"access_token": "opaque", "token_type": "Bearer", "id_token": self.token(**claims)}


@cache
def _key(number: int) -> str:
    """The keys of issuers, each generated once."""
    return RSAKey.generate_key(2048).as_pem(private=True).decode()


@contextmanager
def local_issuer() -> Iterator[LocalIssuer]:
    """A running issuer."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("content-length", 0))
            form = {name: values[0] for name, values in parse_qs(self.rfile.read(length).decode()).items()}
            if self.path.startswith("/authorize?"):
                # the person is logged in at the issuer already
                code, state = issuer.code(self.path, **issuer.person)
                redirect = parse_qs(urlsplit(self.path).query)["redirect_uri"][0]
                self.send_response(303)
                self.send_header("Location", f"{redirect}?code={code}&state={state}")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            status, body = issuer.reply(urlsplit(self.path).path, form)
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        issuer = LocalIssuer(f"http://127.0.0.1:{server.server_address[1]}")
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield issuer
        finally:
            server.shutdown()
            thread.join()
