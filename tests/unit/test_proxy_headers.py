"""What a request says of proxies: scope and headers -> root path, path, host, scheme and client of the app."""

import asyncio
from typing import Any

import pytest

from nacre.serving.http.middleware import ProxyMiddleware, route_path

STATED = {"x-forwarded-prefix": "/kg", "x-forwarded-host": "example.org", "x-forwarded-proto": "https"}


def passed(
    path: str, headers: Any = (), *, root: str = "", client: str = "10.0.0.1", trusted: str = "10.0.0.1"
) -> dict[str, Any]:
    """The scope that reaches the app behind a trusted proxy."""
    pairs = headers.items() if isinstance(headers, dict) else headers
    scopes = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        scopes.append(scope)

    scope = {
        "type": "http",
        "path": root + path,  # as uvicorn gives it
        "root_path": root,
        "scheme": "http",
        "client": (client, 1),
        "headers": [(b"host", b"127.0.0.1:8200"), *((name.encode(), value.encode()) for name, value in pairs)],
    }
    asyncio.run(ProxyMiddleware(app, trusted)(scope, None, None))
    (seen,) = scopes
    return dict(seen)


def host(scope: dict[str, Any]) -> list[bytes]:
    return [value for name, value in scope["headers"] if name == b"host"]


def test_a_trusted_proxy_states_the_address() -> None:
    scope = passed("/api/ask", STATED | {"x-forwarded-for": "192.0.2.7"})
    assert (scope["root_path"], scope["path"], route_path(scope)) == ("/kg", "/kg/api/ask", "/api/ask")
    assert (scope["scheme"], host(scope), scope["client"][0]) == ("https", [b"example.org"], "192.0.2.7")


def test_others_state_nothing() -> None:
    scope = passed("/api/ask", STATED, client="10.0.0.2")
    assert (scope["root_path"], scope["path"], scope["scheme"]) == ("", "/api/ask", "http")
    assert host(scope) == [b"127.0.0.1:8200"]
    assert passed("/", STATED, root="/own", client="10.0.0.2")["root_path"] == "/own"


@pytest.mark.parametrize("client", ["10.0.0.1", "10.0.0.2"])
def test_quoted_cookies_are_left_out_and_others_stay(client: str) -> None:
    # with some versions of Python, 64 KB of them stop all other requests for seconds
    sent = [("cookie", 'a="\\a\\a"; nacre-session=c.d; e="f;g"'), ("cookie", "h=i"), ("x-other", '"kept"')]
    headers = passed("/healthz", sent, client=client)["headers"]
    assert headers[1:] == [(b"cookie", b" nacre-session=c.d"), (b"cookie", b"h=i"), (b"x-other", b'"kept"')]


def test_the_value_of_the_nearest_proxy_counts() -> None:
    headers = [
        ("x-forwarded-prefix", "/forged"),
        ("x-forwarded-prefix", "/kg"),
        ("x-forwarded-host", "evil, ours:8443"),
    ]
    scope = passed("/", headers)
    assert (scope["root_path"], host(scope)) == ("/kg", [b"ours:8443"])


@pytest.mark.parametrize("trusted", ["10.0.0.1", "10.0.0.0/8", "*"])
def test_a_client_can_choose_no_address(trusted: str) -> None:
    for headers in (
        [("x-forwarded-for", "6.6.6.6"), ("x-forwarded-for", "192.0.2.7")],
        STATED | {"x-forwarded-for": "6.6.6.6, 192.0.2.7"},
    ):
        assert passed("/", headers, trusted=trusted)["client"][0] == "192.0.2.7"
    assert passed("/", STATED, trusted=trusted)["client"][0] == "10.0.0.1"


@pytest.mark.parametrize(
    "prefix",
    ["//evil.example", "/a/../b", "/..", "kg", "/k g", "/kg?x", "/é", "/" + "a" * 200, "/a" * 6, "/kg\\x", "/"],
)
def test_a_prefix_that_is_no_path_is_none(prefix: str) -> None:
    assert passed("/", {"x-forwarded-prefix": prefix})["root_path"] == ""


@pytest.mark.parametrize("name", ["a b", "evil/path", "a@b", "a" * 300, "h:port", ""])
def test_a_host_that_is_none_is_ignored(name: str) -> None:
    assert host(passed("/", {"x-forwarded-host": name})) == [b"127.0.0.1:8200"]


@pytest.mark.parametrize(
    ("path", "root", "own"),
    [
        ("/api/ask", "/kg", "/api/ask"),
        ("/kg/api/ask", "/kg", "/api/ask"),
        ("/kg", "/kg", ""),
        ("/kgb", "/kg", "/kgb"),
        ("/kg/kg/x", "/kg", "/kg/x"),
    ],
)
def test_a_proxy_removes_the_root_path_or_leaves_it(path: str, root: str, own: str) -> None:
    scope = passed(path, root=root)
    assert (scope["path"], route_path(scope)) == (root + own, own)


def test_a_path_is_not_removed_again_if_a_proxy_says_that_it_was() -> None:
    # the proxy may refuse /kg/metrics, and has seen another path
    scope = passed("/kg/metrics", STATED, root="/kg")
    assert (scope["path"], route_path(scope)) == ("/kg/kg/metrics", "/kg/metrics")
    assert route_path(passed("/kg/metrics", STATED, root="/kg", client="10.0.0.2")) == "/metrics"


def test_a_prefix_may_be_called_like_a_route() -> None:
    scope = passed("/ask/invoke", {"x-forwarded-prefix": "/ask/"})
    assert (scope["path"], route_path(scope)) == ("/ask/ask/invoke", "/ask/invoke")
