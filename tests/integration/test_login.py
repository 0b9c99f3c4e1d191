"""Logins: accounts of an issuer and of a proxy, their rights, their sessions, and what is refused."""

import asyncio
import base64
import hashlib
import json
import re
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from joserfc.jwk import OctKey
from starlette.requests import Request
from starlette.testclient import TestClient

from ingestion.pipeline import ingest
from nacre.config.settings import Settings
from nacre.errors import ConfigError
from nacre.extensions.login import issuer as issuer_module
from nacre.extensions.login import routes
from nacre.extensions.login.rights import FILE, MAX_SESSIONS, check_settings, examine_login, read_rights
from nacre.extensions.login.routes import safe_next
from nacre.serving.app import create_app
from nacre.serving.cli.graphs import check_installation
from nacre.serving.errors import Unauthenticated
from nacre.serving.keys import RIGHTS as RIGHTS_OF_CALLERS
from nacre.serving.keys import KeyStore
from nacre.stores.state.database import open_file
from tests.support.issuer import AUDIENCE, CLIENT, LocalIssuer, local_issuer

HOME = "http://127.0.0.1:8200"
TURTLE = """@prefix : <http://example.org/k/> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> .
:a a :Kiln ; r:label "Old Kiln" ; :height 12 .
"""
RIGHTS = "{staff: {graphs: [kilns]}, editors: {graphs: all, may: [write, share]}, /approvers: {may: [approve]}}"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("login")
    (folder / "kilns.ttl").write_text(TURTLE)
    for name in ("kilns", "other"):
        ingest([str(folder / "kilns.ttl")], name, data=folder / "data", no_vectors=True)
    return folder / "data"


@pytest.fixture(autouse=True)
def nothing_stored(data: Path) -> Iterator[None]:
    yield
    for file in [*data.glob("login.sqlite*"), *data.glob("threads.sqlite*"), *data.glob("keys.*")]:
        file.unlink()


@pytest.fixture
def issuer() -> Iterator[LocalIssuer]:
    with local_issuer() as running:
        yield running


def settings(data: Path, address: str, **more: Any) -> Settings:
    given = {"login_issuer": address, "login_client": CLIENT, "login_groups": RIGHTS, "login_audience": AUDIENCE}
    return Settings(data=data, embedder="none", _env_file=None, **{**given, **more})


def started(with_settings: Settings, base: str = HOME) -> TestClient:
    client = ("127.0.0.1", 5000)
    return TestClient(create_app(with_settings), base_url=base, client=client, follow_redirects=False)


def logged_in(client: TestClient, issuer: LocalIssuer, next: str = "", **claims: Any) -> httpx2.Response:
    sent = client.get("/login", params={"next": next})
    assert sent.status_code == 303, sent.text
    code, state = issuer.code(sent.headers["location"], **claims)
    return client.get("/callback", params={"code": code, "state": state})


def graphs(client: TestClient, **headers: str) -> list[str]:
    return [each["name"] for each in client.get("/api/graphs", headers=headers).json()]


def with_session(token: str) -> dict[str, str]:
    return {"Cookie": f"nacre-session={token}"}


def test_an_account_logs_in_reads_the_graphs_of_its_groups_and_logs_out(data: Path, issuer: LocalIssuer) -> None:
    with started(settings(data, issuer.address)) as client:
        refused = client.get("/api/graphs")
        assert (refused.status_code, refused.headers["x-login"]) == (401, "login")
        reply = logged_in(client, issuer, "?graph=kilns", sub="7", name="Ann Reed", groups=["staff", "unknown"])
        assert (reply.status_code, reply.headers["location"]) == (303, f"{HOME}/?graph=kilns")
        session = next(each for each in reply.headers.get_list("set-cookie") if "nacre-session" in each)
        assert "HttpOnly" in session
        assert "SameSite=lax" in session
        assert graphs(client) == ["kilns"]
        reply = client.get("/api/choices")
        assert reply.headers["cache-control"] == "no-store"
        choices = reply.json()
        assert (choices["person"], choices["may_log_out"], choices["may_write"]) == ("Ann Reed", True, False)
        token = client.cookies["nacre-session"]
        assert not [each for each in data.glob("login.sqlite*") if token.encode() in each.read_bytes()]
        assert client.post("/logout").status_code == 204
        # a copy of the cookie is worth nothing either
        assert client.get("/api/graphs", headers=with_session(token)).status_code == 401
        assert "You are logged out" in client.get("/logout").text


def test_conversations_belong_to_the_issuer_and_subject_whatever_the_name(data: Path, issuer: LocalIssuer) -> None:
    with started(settings(data, issuer.address)) as client:

        def threads(**claims: Any) -> list[str]:
            client.cookies.clear()
            assert logged_in(client, issuer, groups=["staff"], **claims).status_code == 303
            return [each["thread"] for each in client.get("/api/threads").json()]

        assert threads(sub="7", name="Ann") == []
        body: dict[str, Any] = {"question": "How high is Old Kiln?", "graph": "kilns", "thread": "mine"}
        assert client.post("/api/ask", json=body, headers={"Accept": "application/json"}).json()["values"] == [12]
        body = {"thread": "mine", "turn": 1}
        entry = client.post("/api/graphs/kilns/verified", json=body).json()
        assert threads(sub="8", name="Ann") == []
        assert threads(sub="7", name="Ann Reed-Lind") == ["mine"]
        # others see her name, not the hash that her entries belong to
        client.cookies.clear()
        logged_in(client, issuer, sub="9", groups=["staff", "/approvers"])
        page = client.get("/api/graphs/kilns/verified").json()
        assert page["names"] == {entry["by"]: "Ann Reed-Lind"}
        client.delete(f"/api/graphs/kilns/verified/{entry['id']}")


def test_rights_come_from_all_groups_and_nobody_else_gets_in(data: Path, issuer: LocalIssuer) -> None:
    with started(settings(data, issuer.address)) as client:
        for groups in ([], ["unknown"], None, "x", {"staff": 1}, [["staff"]]):
            reply = logged_in(client, issuer, groups=groups)
            assert reply.status_code == 403
            assert "nacre-session" not in str(reply.headers.get_list("set-cookie"))
        # as long as the ids that some issuers send
        many = [f"{n:036}" for n in range(issuer_module.MAX_GROUPS - 2)]
        assert logged_in(client, issuer, groups=[*many, "editors", "/approvers"]).status_code == 303
        choices = client.get("/api/choices").json()
        assert (choices["may_write"], graphs(client)) == (True, ["kilns", "other"])
        assert client.get("/api/graphs/kilns/verified").json()["may_approve"] is True
        # only groups with rights are stored
        assert not [each for each in data.glob("login.sqlite*") if many[-1].encode() in each.read_bytes()]
        # a reply that says why
        reply = logged_in(client, issuer, groups=["x" * 1_000_000])
        assert (reply.status_code, "token is too long" in reply.text) == (403, True)


def test_a_session_ends_after_its_hours_and_the_oldest_of_too_many(data: Path, issuer: LocalIssuer) -> None:
    with started(settings(data, issuer.address, login_hours=2)) as client:
        logged_in(client, issuer, groups=["staff"])
        assert graphs(client) == ["kilns"]
        database = open_file(data / FILE)
        assert database.read("SELECT round(expires - began) FROM login_session") == [(7200.0,)]
        with database.writing() as run:
            run("UPDATE login_session SET expires = expires - 7200")
        database.close()
        assert client.get("/api/graphs").status_code == 401
    with started(settings(data, issuer.address)) as client:
        tokens = []
        for _ in range(MAX_SESSIONS + 1):
            client.cookies.clear()
            logged_in(client, issuer, groups=["staff"])
            tokens.append(client.cookies["nacre-session"])
        client.cookies.clear()
        codes = [client.get("/api/graphs", headers=with_session(each)).status_code for each in tokens]
        assert codes == [401, *[200] * MAX_SESSIONS]


def test_a_second_login_ends_the_first_session_of_the_browser(data: Path, issuer: LocalIssuer) -> None:
    with started(settings(data, issuer.address)) as client:
        logged_in(client, issuer, groups=["staff"])
        first = client.cookies["nacre-session"]
        client.cookies.clear()
        # another browser of the same person
        logged_in(client, issuer, groups=["staff"])
        second = client.cookies["nacre-session"]
        # a refused login changes nothing
        assert logged_in(client, issuer, groups=["unknown"]).status_code == 403
        assert graphs(client) == ["kilns"]
        # the next person at this browser
        logged_in(client, issuer, sub="8", groups=["staff"])
        third = client.cookies["nacre-session"]
        client.cookies.clear()
        codes = [client.get("/api/graphs", headers=with_session(each)).status_code for each in (first, second, third)]
        assert codes == [200, 401, 200]
        # a session that somebody else chose is not taken over
        client.cookies.set("nacre-session", "chosen")
        logged_in(client, issuer, groups=["staff"])
        assert client.get("/api/graphs", headers=with_session("chosen")).status_code == 401


def test_a_callback_with_a_foreign_state_code_or_nonce_begins_no_session(data: Path, issuer: LocalIssuer) -> None:
    with started(settings(data, issuer.address)) as client:
        code, state = issuer.code(client.get("/login").headers["location"], groups=["staff"])
        foreign: list[dict[str, str]] = [{"state": "x", "code": code}, {"code": code}, {"state": "ä", "code": code}]
        for query in [*foreign, {"state": state}]:
            assert client.get("/callback", params=query).status_code in (400, 403)
        assert client.get("/callback", params={"state": state, "code": code, "iss": "https://o.example"}).is_error
        denied = client.get("/callback", params={"state": state, "error": "<b>\x1b[2J"})
        assert "&lt;b&gt;" in denied.text
        assert "\x1b" not in denied.text
        # the code of somebody else's login, for which this browser has no verifier
        other, _ = issuer.code(started(settings(data, issuer.address)).get("/login").headers["location"])
        assert client.get("/callback", params={"state": state, "code": other}).status_code == 403
        # a browser that began no login
        client.cookies.clear()
        assert client.get("/callback", params={"state": state, "code": code}).status_code == 400
        assert logged_in(client, issuer, groups=["staff"], nonce="another").status_code == 403
        wrong: list[dict[str, Any]] = [
            *({"aud": "other"}, {"aud": [CLIENT, "x"], "azp": "x"}, {"iss": "https://o.example"}, {"exp": 1}),
            *({"exp": None}, {"sub": ""}, {"sub": "x" * 256}, {"sub": ["7"]}, {"sub": "a\nb"}),
        ]
        for claims in wrong:
            assert logged_in(client, issuer, groups=["staff"], **claims).status_code == 403
        assert "nacre-session" not in client.cookies


@pytest.mark.parametrize("cookie", ["s..v.", "s.n..", "s..."])
def test_a_login_without_nonce_or_verifier_is_none(data: Path, issuer: LocalIssuer, cookie: str) -> None:
    nonce, verifier = cookie.split(".")[1:3]
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    issuer.codes["code"] = ({"aud": CLIENT, "groups": ["staff"], **({"nonce": nonce} if nonce else {})}, challenge)
    with started(settings(data, issuer.address)) as client:
        headers = {"Cookie": f"nacre-login={cookie}"}
        assert client.get("/callback", params={"state": "s", "code": "code"}, headers=headers).status_code == 400


def test_a_forged_callback_asks_the_issuer_for_nothing(data: Path, issuer: LocalIssuer) -> None:
    with started(settings(data, issuer.address)) as client:
        begun = client.get("/login")
        code, state = issuer.code(begun.headers["location"], groups=["staff"])
        signature, _, value = client.cookies["nacre-login"].partition(".")
        client.cookies.clear()
        before = len(issuer.requests)
        until, rest = value.split(".", 1)
        forged = ["s.n.v.x", value, f".{value}", f"{'0' * 64}.{value}", f"{signature}.{int(until) + 1}.{rest}"]
        for cookie in forged:
            for given in ("s", state):
                reply = client.get(
                    "/callback", params={"state": given, "code": code}, headers={"Cookie": f"nacre-login={cookie}"}
                )
                assert reply.status_code == 400
        assert len(issuer.requests) == before
        # a server that starts again, or another one, ends what this one began
    with started(settings(data, issuer.address)) as client:
        headers = {"Cookie": f"nacre-login={signature}.{value}"}
        assert client.get("/callback", params={"state": state, "code": code}, headers=headers).status_code == 303


def test_a_login_that_took_too_long_is_none(data: Path, issuer: LocalIssuer, monkeypatch: pytest.MonkeyPatch) -> None:
    with started(settings(data, issuer.address)) as client:
        code, state = issuer.code(client.get("/login").headers["location"], groups=["staff"])
        monkeypatch.setattr("nacre.extensions.login.routes.time.time", lambda: 2e9)
        monkeypatch.setattr("nacre.extensions.login.routes.LOGIN_SECONDS", 0)
        assert client.get("/callback", params={"state": state, "code": code}).status_code == 400


def test_the_doctor_says_if_others_can_read_the_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / ".env"
    for text, mode, is_found in (
        ("NACRE_LOGIN_SECRET=s\n", 0o644, True),
        ("OPENAI_API_KEY=s\n", 0o640, True),
        ("NACRE_LOGIN_SECRET=s\n", 0o600, False),
        ("NACRE_PORT=8200\n#NACRE_LOGIN_SECRET=\n", 0o644, False),
    ):
        file.write_text(text)
        file.chmod(mode)
        assert bool(list(examine_login(Settings(data=tmp_path, _env_file=None)))) is is_found


@pytest.mark.parametrize(
    "next",
    [
        *("https://evil.example/", "//evil.example", "/\\evil.example", "\\\\evil.example", "javascript:alert(1)"),
        *(
            "http://127.0.0.1:8200@evil.example/",
            "http:evil",
            "\t//evil.example",
            "http://[::1",
            "x" * 2001,
            "%0d%0aX:y",
        ),
    ],
)
def test_next_leads_to_this_server_alone(data: Path, issuer: LocalIssuer, next: str) -> None:
    with started(settings(data, issuer.address)) as client:
        location = logged_in(client, issuer, next, groups=["staff"]).headers["location"]
        assert location.startswith(f"{HOME}/")
        assert "x" not in logged_in(client, issuer, next, groups=["staff"]).headers


@pytest.mark.parametrize(
    "next",
    [
        *("/kg/../other", "/kg/%2e%2e/other", "/kg/.%2E/other", "%2e%2e/other", "/kg/x/%2E./y"),
        *("//a.example/kg/../other", "https://a.example/kg/x/../../other", "https://a.example/kg/.."),
        *("/kg/..%2fother", "/kg/..%5Cother"),
    ],
)
def test_next_leads_to_no_other_application_of_the_host(next: str) -> None:
    assert safe_next("https://a.example/kg/", next) == "https://a.example/kg/"
    assert safe_next("https://a.example/kg/", "?q=%2e%2e") == "https://a.example/kg/?q=%2e%2e"


def test_a_page_without_tls_can_use_no_session_of_https(data: Path, issuer: LocalIssuer) -> None:
    home = "https://kg.example"
    with started(settings(data, issuer.address), home) as client:
        logged_in(client, issuer, groups=["editors"])
        assert client.post("/api/uploads", headers={"Origin": "http://kg.example"}).status_code == 403
        assert client.post("/api/uploads", headers={"Origin": home}).status_code == 201
    # a proxy that does not tell that browsers use https
    with started(settings(data, issuer.address), "http://kg.example") as client:
        logged_in(client, issuer, groups=["editors"])
        assert client.post("/api/uploads", headers={"Origin": home}).status_code == 201


def test_no_cache_stores_what_a_caller_got(data: Path, issuer: LocalIssuer) -> None:
    key = KeyStore(data).add("bo", None)
    with started(settings(data, issuer.address, embed="bo=https://site.example")) as client:
        for path, headers in (("/api/graphs", {"X-Api-Key": key}), ("/embed/bo/api/graphs", {})):
            reply = client.get(path, headers=headers)
            assert (reply.status_code, reply.headers["cache-control"]) == (200, "no-store")


def test_cookies_behind_https_are_of_this_host_alone(data: Path, issuer: LocalIssuer) -> None:
    with started(settings(data, issuer.address), "https://kg.example") as client:
        sent = client.get("/login")
        redirect = parse_qs(urlsplit(sent.headers["location"]).query)["redirect_uri"]
        assert redirect == ["https://kg.example/callback"]
        cookie = sent.headers["set-cookie"]
        assert cookie.startswith("__Host-nacre-login=")
        assert {"Secure", "HttpOnly", "SameSite=lax", "Path=/"} <= set(cookie.split("; "))


def test_addresses_and_cookies_follow_the_root_path(data: Path, issuer: LocalIssuer) -> None:
    app = create_app(settings(data, issuer.address))
    with TestClient(app, base_url=HOME, root_path="/kg", follow_redirects=False) as client:
        reply = logged_in(client, issuer, "?graph=kilns", groups=["staff"])
        assert reply.headers["location"] == f"{HOME}/kg/?graph=kilns"
        assert "nacre-session-kg" in client.cookies


def test_other_pages_can_use_no_session(data: Path, issuer: LocalIssuer) -> None:
    with started(settings(data, issuer.address)) as client:
        logged_in(client, issuer, groups=["editors"])
        for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}):
            assert client.post("/api/uploads", headers=headers).status_code == 403
            assert client.get("/api/graphs", headers=headers).status_code == 403
            assert client.post("/logout", headers=headers).status_code == 403
        assert client.post("/api/uploads", headers={"Origin": HOME}).status_code == 201


def test_keys_go_on_beside_logins(data: Path, issuer: LocalIssuer) -> None:
    key = KeyStore(data).add("bo", ["other"])
    with started(settings(data, issuer.address)) as client:
        assert graphs(client, Authorization=f"Bearer {key}") == ["other"]
        logged_in(client, issuer, groups=["staff"])
        assert graphs(client) == ["kilns"]
        assert graphs(client, Authorization=f"Bearer {key}") == ["other"]


def sent_by(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_access_tokens_are_accepted_for_this_audience_alone(data: Path, issuer: LocalIssuer) -> None:
    with started(settings(data, issuer.address)) as client:
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_graphs", "arguments": {}}}
        accept = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
        good = sent_by(issuer.token(groups=["staff"]))
        assert graphs(client, **good) == ["kilns"]
        reply = client.post("/mcp", json=call, headers={**accept, **good})
        assert reply.status_code == 200
        assert "kilns" in reply.text
        assert "other" not in reply.text
        refused = client.post("/mcp", json=call, headers=accept)
        assert refused.status_code == 401
        place = re.findall('resource_metadata="(.*?)"', refused.headers["www-authenticate"])[0]
        described = client.get(place).json()
        assert (described["resource"], described["authorization_servers"]) == (f"{HOME}/mcp", [issuer.address])
        now = int(time.time())
        for claims in (
            {"aud": "https://other.example"}, {"aud": None}, {"aud": CLIENT}, {"exp": now - 61 - 3600}, {"exp": None},
            {"iss": "https://o.example"}, {"nbf": now + 3600}, {"nonce": "n"}, {"typ": "ID"}, {"sub": None},
        ):  # fmt: skip
            token = issuer.token(groups=["staff"], **claims)
            assert client.get("/api/graphs", headers=sent_by(token)).status_code == 401, claims
        # issuers add parameters and certificates to the header, and only those that are critical must be known
        token = issuer.token(groups=["staff"], header={"vendor.id": "1", "x5c": ["A" * 9000], "x5t": "A"})
        assert graphs(client, **sent_by(token)) == ["kilns"]
        token = issuer.token(groups=["staff"], header={"vendor.id": "1", "crit": ["vendor.id"]})
        assert client.get("/api/graphs", headers=sent_by(token)).status_code == 401
        # signed by nobody, by a shared secret, by a key that the token brings
        own = OctKey.import_key("a secret of thirty-two characters")
        forged = issuer.token(groups=["staff"], header={"alg": "HS256"}, key=own)
        head, body, mark = issuer.token(groups=["staff"]).split(".")
        unsigned = f"eyJhbGciOiJub25lIn0.{body}."
        for token in (forged, unsigned, f"{unsigned}x", f"{head}.{body}.{mark[::-1]}", "a.b.c", "." * 100):
            assert client.get("/api/graphs", headers=sent_by(token)).status_code == 401
        # a token without groups takes nothing from the session of the same person
        logged_in(client, issuer, groups=["staff"])
        assert client.get("/api/graphs", headers=sent_by(issuer.token(groups=["unknown"]))).status_code == 401
        assert graphs(client) == ["kilns"]
    with started(settings(data, issuer.address, login_audience=None)) as client:
        assert client.get("/api/graphs", headers=good).status_code == 401
        assert client.get("/.well-known/oauth-protected-resource").status_code == 404


def test_tokens_that_are_refused_count_for_their_address(data: Path, issuer: LocalIssuer) -> None:
    with started(settings(data, issuer.address, max_rate=1)) as client:
        codes = [client.get("/api/graphs", headers=sent_by("a.b.c")).status_code for _ in range(3)]
        assert codes == [401, 429, 429]
        assert client.get("/login").status_code == 429


def test_an_issuer_may_change_its_keys_and_is_not_asked_for_each_token(
    data: Path, issuer: LocalIssuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with started(settings(data, issuer.address)) as client:
        assert graphs(client, **sent_by(issuer.token(groups=["staff"]))) == ["kilns"]
        old = issuer.token(groups=["staff"])
        issuer.change_keys()
        for _ in range(5):
            # just read: not again yet
            assert client.get("/api/graphs", headers=sent_by(issuer.token(groups=["staff"]))).status_code == 401
        assert issuer.requests.count("/keys") == 1
        monkeypatch.setattr(issuer_module, "REFRESH_SECONDS", -1.0)
        assert graphs(client, **sent_by(issuer.token(groups=["staff"]))) == ["kilns"]
        assert client.get("/api/graphs", headers=sent_by(old)).status_code == 401
        # another key with the same name
        issuer.change_keys(issuer.key.kid or "")
        assert graphs(client, **sent_by(issuer.token(groups=["staff"]))) == ["kilns"]


def test_keys_of_unknown_kinds_are_ignored_and_no_others(data: Path, issuer: LocalIssuer) -> None:
    known = issuer.key.as_dict(private=False)
    unknown: list[Any] = [{"kty": "EC", "crv": "P-999", "x": "a", "y": "b", "kid": "new"}, {"kid": "none"}, 7]
    issuer.documents["/keys"] = {"keys": [*unknown, known]}
    with started(settings(data, issuer.address)) as client:
        assert graphs(client, **sent_by(issuer.token(groups=["staff"]))) == ["kilns"]
        issuer.documents["/keys"] = {"keys": unknown}
    with started(settings(data, issuer.address)) as client:
        assert client.get("/api/graphs", headers=sent_by(issuer.token(groups=["staff"]))).status_code == 401


def test_no_request_reads_the_certificates_of_the_system(
    data: Path, issuer: LocalIssuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with started(settings(data, issuer.address)) as client:
        monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", None)
        assert logged_in(client, issuer, groups=["staff"]).status_code == 303
        assert graphs(client, **sent_by(issuer.token(groups=["staff"]))) == ["kilns"]


@pytest.mark.parametrize(
    "document",
    [[], {}, {"issuer": "https://other.example"}, {"token_endpoint": "http://evil.example"}, {"jwks_uri": 7}],
)
def test_an_issuer_that_answers_otherwise_logs_nobody_in(data: Path, issuer: LocalIssuer, document: Any) -> None:
    usual = issuer.reply("/.well-known/openid-configuration", {})[1]
    changed = {**usual, **document} if document else document
    issuer.documents["/.well-known/openid-configuration"] = changed
    with started(settings(data, issuer.address)) as client:
        assert client.get("/login").status_code == 503
        assert client.get("/api/graphs", headers=sent_by(issuer.token())).status_code == 503


def test_an_issuer_that_is_away_leaves_sessions_and_keys_alone(data: Path) -> None:
    key = KeyStore(data).add("bo", None)
    with local_issuer() as issuer, started(settings(data, issuer.address)) as client:
        logged_in(client, issuer, groups=["staff"])
        client.get("/login")
        known = issuer.token(groups=["staff"])
        issuer.documents["/keys"] = {"keys": "x" * 2_000_000}
        issuer.documents["/.well-known/openid-configuration"] = []
        issuer.change_keys()
        for _ in range(3):
            assert client.get("/api/graphs", headers=sent_by(issuer.token())).status_code in (401, 503)
        assert graphs(client, **sent_by(known)) == ["kilns"]
        assert graphs(client) == ["kilns"]
        assert graphs(client, **sent_by(key)) == ["kilns", "other"]


def proxied(app: Any, peer: str, **headers: str) -> Any:
    scope = {
        "type": "http", "method": "GET", "path": "/api/graphs", "headers": [
            (name.replace("_", "-").encode(), value.encode(errors="surrogateescape")) for name, value in headers.items()
        ], "query_string": b"", "scheme": "https", "server": ("kg.example", 443), "app": app, "state": {"peer": peer},
    }  # fmt: skip
    return app.state.authenticator.identify(Request(scope), None)


async def test_a_proxy_names_persons_and_nobody_else_does(data: Path) -> None:
    given: dict[str, Any] = {"login_headers": True, "trusted_proxies": "10.0.0.0/8, ::1", "login_groups": RIGHTS}
    app = create_app(Settings(data=data, embedder="none", _env_file=None, **given))
    user = {"x_forwarded_user": "ann", "x_forwarded_groups": "staff,unknown", "x_forwarded_email": "ann@example.org"}
    caller = await proxied(app, "10.1.2.3", **user)
    assert (caller.graphs, caller.name) == (("kilns",), "ann@example.org")
    assert await proxied(app, "::1", **user) == caller
    other = await proxied(app, "::1", x_forwarded_user="Ünal", x_forwarded_groups="staff")
    assert (other.name, other.owner == caller.owner) == ("Ünal", False)
    # the address that a header states does not count
    for peer in ("127.0.0.1", "", "testclient", "11.0.0.1"):
        assert await proxied(app, peer, **user, x_forwarded_for="10.1.2.3") is None
    assert await proxied(app, "10.1.2.3", x_forwarded_groups="staff") is None
    assert await proxied(app, "10.1.2.3", x_forwarded_user="ann") is None
    # a proxy that adds its groups to those of a client
    with pytest.raises(Unauthenticated, match="came twice"):
        await proxied(app, "10.1.2.3", **user, **{"X-Forwarded-Groups".lower(): "editors"})
    # two persons whose names are in another encoding would be one
    for name in ("m\udce4ller", "m\udcfcller"):
        with pytest.raises(Unauthenticated, match="not in UTF-8"):
            await proxied(app, "10.1.2.3", x_forwarded_user=name, x_forwarded_groups="staff")
    app.state.login.accounts.close()
    # a session that has ended does not hide what the proxy says
    app = create_app(settings(data, "https://id.example.org", **given))
    assert await proxied(app, "10.1.2.3", **user, cookie="__Host-nacre-session=old") == caller
    app.state.login.accounts.close()


async def test_a_person_who_was_deleted_and_goes_on_is_stored_again(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Any] = {"login_headers": True, "trusted_proxies": "10.0.0.1", "login_groups": RIGHTS}
    app = create_app(Settings(data=data, embedder="none", _env_file=None, **given))
    user = {"x_forwarded_user": "ann", "x_forwarded_groups": "staff"}
    caller = await proxied(app, "10.0.0.1", **user)
    accounts = app.state.login.accounts
    accounts.forget(caller.owner)
    assert accounts.find(caller.owner) is None
    # a command that deletes a person can't tell the server
    monkeypatch.setattr(routes, "NOTED_SECONDS", 1e-9)
    await proxied(app, "10.0.0.1", **user)
    assert accounts.find(caller.owner) == caller
    accounts.close()


def test_a_server_whose_people_log_in_is_closed_without_keys_too(data: Path) -> None:
    given = Settings(
        data=data, embedder="none", _env_file=None, login_headers=True, trusted_proxies="10.0.0.1", login_groups=RIGHTS
    )
    with started(given) as client:
        headers = {"X-Forwarded-User": "ann", "X-Forwarded-Groups": "editors"}
        assert client.get("/api/graphs", headers=headers).status_code == 401
        assert client.get("/api/graphs").status_code == 401
        assert client.get("/healthz").status_code == 200
        assert "graphs" not in client.get("/readyz").json()


def test_a_server_without_logins_has_no_routes_for_them(data: Path) -> None:
    with started(Settings(data=data, embedder="none", _env_file=None)) as client:
        for path in ("/login", "/callback", "/logout", "/.well-known/oauth-protected-resource"):
            assert client.get(path).status_code == 404
        assert client.get("/api/choices").json()["person"] == ""


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"login_groups": None}, "Nobody who logs in has any rights"),
        ({"login_groups": "{staff: {graphs: [a], may: [fly]}}"}, "staff.may.0"),
        ({"login_groups": "{staff: {graph: all}}"}, "staff.graph"),
        ({"login_groups": "{staff: "}, "not valid YAML"),
        ({"login_groups": "nowhere.yaml"}, "can't be read"),
        ({"login_issuer": "http://id.example.org"}, "no address with https"),
        ({"login_client": None}, "NACRE_LOGIN_CLIENT"),
        ({"login_scopes": "email"}, "lacks openid"),
        ({"login_headers": True}, "needs the addresses of your proxies"),
        ({"login_headers": True, "trusted_proxies": "*"}, "NACRE_TRUSTED_PROXIES"),
        ({"login_headers": True, "trusted_proxies": "0.0.0.0/0"}, "NACRE_TRUSTED_PROXIES"),
    ],
)
def test_settings_that_let_in_nobody_or_anybody_are_refused(data: Path, given: dict[str, Any], why: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(why)):
        check_settings(settings(data, "https://id.example.org", **given))


def test_a_faulty_login_closes_the_server(data: Path, issuer: LocalIssuer) -> None:
    with started(settings(data, issuer.address, login_groups="{staff: ")) as client:
        assert client.get("/api/graphs").status_code == 401


def test_the_table_may_be_a_file(tmp_path: Path) -> None:
    file = tmp_path / "groups.yaml"
    file.write_text("staff: {graphs: [kilns]}\n'*': {graphs: all}\n")
    assert read_rights(str(file)).known(["staff", "x"]) == ("*", "staff")


DOCS = (Path(__file__).parents[2] / "docs/login.md").read_text(encoding="utf-8")
# what the table of rights in docs/login.md says: the requests, and the right that they need
TABLE = [
    (re.findall("`([A-Z]+) (.*?)`", row), right)
    for row, right in re.findall(r"^\|(.*`/?[A-Z]+ /api.*)\| (.*) \|$", DOCS, re.M)
]
BODIES: dict[str, dict[str, Any]] = {
    "/api/ask": {"question": "How high is Old Kiln?", "graph": "kilns", "thread": "one"},
    "/api/graphs/kilns/query": {"language": "sql", "text": "SELECT height FROM kiln"},
    "/api/graphs/kilns/verified": {"thread": "one", "turn": 1},
    "/api/graphs/kilns/verified/ID/approve": {},
    "/api/attachments": {"address": "https://store.example/sparql", "graph": "kilns"},
    "/api/graphs/kilns/layer": {"iri": "http://example.org/k/none", "also": ["oven"]},
    "/api/graphs/kilns/layer/words": {"word": "oven", "meaning": "nothing"},
    "/api/threads/one/turns/1/share": {},
}


@pytest.mark.parametrize("right", ["", *RIGHTS_OF_CALLERS])
def test_each_right_allows_what_the_table_says_and_nothing_else(data: Path, issuer: LocalIssuer, right: str) -> None:
    may = f"{{graphs: [kilns], may: [{right}]}}"
    groups = f"{{some: {may}, others: {{graphs: [kilns]}}}}"
    with started(settings(data, issuer.address, login_groups=groups, sharing=True)) as client:
        logged_in(client, issuer, groups=["others"], sub="8")
        body = {"question": "How high is Old Kiln?", "query": {"tool": "sql", "text": "SELECT height FROM kiln"}}
        theirs = client.post("/api/graphs/kilns/verified", json=body).json()
        client.cookies.clear()
        logged_in(client, issuer, groups=["some"], sub="7")
        refused = set()
        for requests, _ in TABLE:
            for method, written in requests:
                path = written.replace("maps", "kilns")
                more = f"?by={theirs['by']}" if "ID" in path else "?confirm=another"
                url = path.replace("ID", theirs["id"]) + more
                reply = client.request(method, url, json=BODIES.get(path, {}), headers={"Accept": "application/json"})
                lacks = reply.status_code == 403 and "This account may not" in reply.text
                # entries of others can't be told from none
                if lacks or (method == "DELETE" and "ID" in path and reply.is_error):
                    refused.add((method, written))
                else:
                    assert reply.status_code not in (401, 405, 500), reply.text
        wanted = {each for requests, needs in TABLE for each in requests if needs not in ("nothing", f"`{right}`")}
        assert refused == wanted
        # another graph is none, whatever the right
        for path in ("query", "verified", "layer"):
            assert client.post(f"/api/graphs/other/{path}", json=BODIES[f"/api/graphs/kilns/{path}"]).status_code == 404
    assert len({needs for _, needs in TABLE}) == 4


def test_a_refused_account_learns_why_and_the_log_names_its_groups(
    data: Path, issuer: LocalIssuer, caplog: pytest.LogCaptureFixture
) -> None:
    with started(settings(data, issuer.address)) as client:
        assert "None of the groups" in logged_in(client, issuer, groups=["/staff", "x\n"]).text
        assert "['/staff', 'x\\n']" in caplog.text
        left_out = {"_claim_names": {"groups": "src1"}, "_claim_sources": {"src1": {"endpoint": "https://g.example"}}}
        for claims in (left_out, {"hasgroups": True}):
            assert "it has too many" in logged_in(client, issuer, **claims).text
        token = issuer.token(groups=["unknown"])
        assert "None of the groups" in client.get("/api/graphs", headers=sent_by(token)).json()["detail"]
        assert "Log in, or send a key" in client.get("/api/graphs").json()["detail"]


SHAPES: dict[str, tuple[dict[str, Any], str]] = {
    "keycloak": (
        {"preferred_username": "ann", "email_verified": True, "realm_access": {"roles": ["offline_access", "staff"]}},
        "realm_access.roles",
    ),
    "keycloak-client": (
        {"preferred_username": "ann", "resource_access": {"kg.example": {"roles": ["staff"]}, "account": {}}},
        "realm_access.roles, resource_access.kg.example.roles",
    ),
    "entra-roles": ({"preferred_username": "ann@example.org", "oid": "1", "roles": ["staff"]}, "roles"),
    "entra": (
        {"preferred_username": "ann@example.org", "oid": "1", "tid": "2", "ver": "2.0", "groups": ["staff"]},
        "groups",
    ),
    "google": ({"email": "ann@example.org", "email_verified": True, "hd": "example.org", "name": "Ann"}, "hd,email"),
}


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A running `oidc-provider-mock`, in a process of its own."""
    log = tmp_path_factory.mktemp("provider") / "log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "oidc_provider_mock", "--port", "0"], stdout=output, stderr=output
        )
    try:
        for _ in range(300):
            if found := re.findall(r"http://[\w.]+:(\d+)", log.read_text()):
                break
            time.sleep(0.1)
        yield f"http://localhost:{found[0]}"
    finally:
        process.terminate()
        process.wait(20)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_claims_of_common_issuers_give_rights(data: Path, provider: str, shape: str) -> None:
    claims, names = SHAPES[shape]
    rights = "{staff: {graphs: [kilns]}, example.org: {graphs: [kilns]}}"
    httpx2.put(f"{provider}/users/{shape}", json=claims).raise_for_status()
    with started(settings(data, provider, login_claims=names, login_groups=rights, login_secret="s")) as client:
        sent = client.get("/login")
        back = httpx2.post(sent.headers["location"], data={"sub": shape}).headers["location"]
        reply = client.get(back)
        assert reply.status_code == 303, reply.text
        assert graphs(client) == ["kilns"]
        person = client.get("/api/choices").json()["person"]
        assert person == json.loads(json.dumps(claims)).get("name", claims.get("preferred_username"))
        # a code works once
        assert client.get(back).is_error


def test_a_login_reads_no_long_reply_of_the_issuer(data: Path, issuer: LocalIssuer) -> None:
    with started(settings(data, issuer.address)) as client:
        code, state = issuer.code(client.get("/login").headers["location"], groups=["staff"])
        long = {"access_token": "opaque", "token_type": "Bearer", "more": "x" * issuer_module.MAX_REPLY}
        issuer.documents["/token"] = {**long, "id_token": issuer.token(**issuer.codes[code][0])}
        reply = client.get("/callback", params={"code": code, "state": state})
        assert (reply.status_code, "does not answer as it should" in reply.text) == (403, True)


def examined(data: Path, address: str, **more: Any) -> list[str]:
    return [each.line() for each in check_installation(settings(data, address, **more)) if each.about == "login"]


def test_the_doctor_asks_the_issuer(data: Path, issuer: LocalIssuer, monkeypatch: pytest.MonkeyPatch) -> None:
    answers, keys, clock = examined(data, issuer.address)
    assert answers.startswith(f"ok         login      {issuer.address} answers, in ")
    assert "it has 1 keys" in keys
    assert "its clock and ours differ by less than" in clock
    monkeypatch.setattr(issuer_module, "LEEWAY", -1)
    (wrong,) = examined(data, issuer.address)[2:]
    assert wrong.startswith("attention  login      its clock is ")
    issuer.documents["/keys"] = {"keys": [{"kid": "none"}]}
    assert "attention  login      it has 0 keys" in examined(data, issuer.address)[1]
    issuer.documents["/keys"] = []
    (broken,) = examined(data, issuer.address)
    assert "/keys can't be read" in broken
    issuer.documents["/.well-known/openid-configuration"] = {"issuer": "https://other.example"}
    (broken,) = examined(data, issuer.address)
    assert "it calls itself 'https://other.example'" in broken
    (broken,) = examined(data, issuer.address, login_groups="{staff: ")
    assert "not valid YAML" in broken


def test_the_doctor_waits_for_no_issuer_and_asks_none_without_a_login(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(issuer_module, "TIMEOUT", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        started_at = time.monotonic()
        (broken,) = examined(data, f"http://127.0.0.1:{silent.getsockname()[1]}")
        assert time.monotonic() - started_at < 20
    assert broken.startswith("attention  login ")
    proxies: dict[str, Any] = {"login_headers": True, "trusted_proxies": "10.0.0.5", "login_issuer": None}
    assert examined(data, "", **proxies) == ["ok         login      the proxies 10.0.0.5 name persons"]
    assert examined(data, "", login_issuer=None) == []


async def test_many_who_log_in_do_not_wait_for_a_silent_issuer_one_after_another(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(issuer_module, "TIMEOUT", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        asked = issuer_module.Issuer(settings(data, f"http://127.0.0.1:{silent.getsockname()[1]}"))
        started_at = time.monotonic()
        logins = [asked.login_address(HOME, "s", "n", "v") for _ in range(15)]
        tokens = [asked.claims("a.b.c", AUDIENCE) for _ in range(15)]
        found = await asyncio.gather(*logins, *tokens, return_exceptions=True)
        assert {type(each) for each in found} == {issuer_module.IssuerUnavailable}
        # one after another they took 15 s
        assert time.monotonic() - started_at < 6
