"""Behind a proxy, under a path: nginx with our example, and the page in a real browser."""

import re
import shutil
import subprocess
import textwrap
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
import yaml
from mcp.client.auth.utils import build_protected_resource_metadata_discovery_urls
from playwright.sync_api import expect

from nacre.extensions.client.facade import Nacre
from nacre.extensions.login.routes import PROXY_GROUPS, PROXY_NAMES, PROXY_USER
from tests.e2e import test_page
from tests.e2e.conftest import GRAPHS, ROOT, answering, ask_in_playground, command, free_port, serving
from tests.e2e.test_page import LAST, QUESTION, ask
from tests.support.issuer import AUDIENCE, CLIENT, local_issuer

# fixtures and marks of the other tests of the page
browser, context, page, pytestmark = test_page.browser, test_page.context, test_page.page, test_page.pytestmark

EXAMPLES = ROOT / "examples/proxy"
NGINX = """
daemon off; pid nginx.pid; error_log stderr;
events {{}}
http {{
  access_log off;
  {temporary}
  server {{ listen 127.0.0.1:{port}; {inside} }}
}}
"""
TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


@contextmanager
def under_a_path(folder, address):
    """The address of a server under /kg of a site, by nginx with our example."""
    if shutil.which("nginx") is None:
        pytest.skip("nginx is not installed; on Debian, run: apt-get install nginx")
    port = free_port()
    inside = (EXAMPLES / "nginx.conf").read_text().replace("127.0.0.1:8200", urlsplit(address).netloc)
    temporary = " ".join(f"{each}_temp_path {each};" for each in TEMPORARY)
    (folder / "nginx.conf").write_text(NGINX.format(port=port, inside=inside, temporary=temporary))
    with (log := folder / "nginx.log").open("w") as output:
        arguments = ["nginx", "-p", str(folder), "-e", "stderr", "-c", str(folder / "nginx.conf")]
        process = subprocess.Popen(arguments, stdout=output, stderr=output)
        with answering(process, f"http://127.0.0.1:{port}/kg/healthz", log):
            yield f"http://127.0.0.1:{port}/kg"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The address of Nacre under /kg of a site, that of its server, and a key."""
    folder = tmp_path_factory.mktemp("site")
    nacre = command(folder / "data", folder)
    made = nacre("ingest", GRAPHS / "reading_room.ttl", "--graph", "reading-room", "--no-vectors")
    assert made.returncode == 0, made.stderr
    key = nacre("keys", "add", "ann", "--may", "share").stdout.strip()
    settings = {"NACRE_SHARING": "true", "NACRE_TRUSTED_PROXIES": "127.0.0.1"}
    with serving(folder / "data", folder, **settings) as (address, _), under_a_path(folder, address) as url:
        yield url, address, key


def test_the_page_works_under_a_path(page, site, browser):
    url, _, key = site
    visited = []
    page.on("request", lambda request: visited.append(urlsplit(request.url).path))
    page.goto(url)
    page.fill("#token", key)
    page.click("#key-dialog >> text=Open")
    page.wait_for_selector("#examples button")
    assert page.evaluate("() => [...document.styleSheets].map(each => each.cssRules.length > 9)") == [True] * 4
    assert "540" in ask(page, QUESTION)
    assert page.url.startswith(f"{url}/?thread=")
    page.reload()
    page.wait_for_selector(f"{LAST} .tools")
    # the code of a view, a link within the page, and the way back
    page.click("#turns .answer a >> nth=0")
    page.wait_for_selector("#look .pairs")
    assert page.url.startswith(f"{url}/?graph=reading-room&thing=")
    page.go_back()
    page.click(f"{LAST} [data-share]")
    expect(page.locator(f"{LAST} .shared input")).to_be_visible()
    shared = page.input_value(f"{LAST} .shared input")
    assert shared.startswith(f"{url}/share/")
    assert "540" in httpx.get(shared).text
    page.click("#home")
    page.wait_for_selector("#examples button")
    assert page.url == f"{url}/"
    assert [each for each in visited if each != "/kg" and not each.startswith("/kg/")] == []
    page.complaints[:] = [text for text in page.complaints if "401" not in text]


def test_the_proxy_hides_counters_and_logs_no_secrets(site):
    url, address, _ = site
    assert httpx.get(f"{address}/metrics").status_code == 200
    for path in ("metrics", "metrics/", "%6detrics", "x/../metrics"):
        assert httpx.get(f"{url}/{path}", follow_redirects=True).status_code == 404
    assert httpx.get(f"{url}/share/nothing").status_code == 404
    for file, silent in {"nginx.conf": "access_log off", "Caddyfile": "log_skip", "traefik.yaml": "accessLogs"}.items():
        assert silent in (EXAMPLES / file).read_text()


def test_the_documentation_and_the_playground_work_under_a_path(context, page, site):
    url, _, key = site
    # people can't give the playground a key, but other proxies add one
    context.set_extra_http_headers({"Authorization": f"Bearer {key}"})
    page.goto(f"{url}/api/docs")
    assert page.url == f"{url}/api/docs/"
    described = page.evaluate("() => document.querySelector('a[href$=\"openapi.json\"]').href")
    spec = httpx.get(described).json()
    assert spec["servers"] == [{"url": "/kg"}]
    ask_in_playground(page, url, QUESTION, "540")


def test_programs_find_the_path(site):
    url, address, key = site
    with httpx.Client(headers={"Authorization": f"Bearer {key}"}) as client:
        card = client.get(f"{url}/.well-known/agent-card.json").json()
        assert {each["url"] for each in card["supportedInterfaces"]} == {f"{url}/a2a"}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        accept = {"Accept": "application/json, text/event-stream", "Origin": f"http://{urlsplit(url).netloc}"}
        assert "tools" in client.post(f"{url}/mcp", json=body, headers=accept).text
        assert client.get(f"{url}/v1/nothing").json()["error"]["type"] == "invalid_request_error"
        # each event arrives on its own
        with client.stream("POST", f"{url}/api/ask", json={"question": QUESTION, "graph": "reading-room"}) as reply:
            assert len(list(reply.iter_raw())) > 2
        # without a proxy the same server is at the root
        assert client.get(f"{address}/.well-known/agent-card.json").json()["url"] == f"{address}/a2a"
    with Nacre(url, key=key) as nacre:
        assert nacre.graphs() == ["reading-room"]
        assert nacre.graph().ask(QUESTION).values == [540]


def test_a_path_is_set_where_a_proxy_does_not_state_it(data, tmp_path, nacre):
    forged = {"X-Forwarded-Prefix": "/evil", "X-Forwarded-Proto": "https"}
    with serving(data, tmp_path, "--root-path", "/kg/") as (address, _):
        # proxies that leave the path whole, and those that remove it
        for path in ("/kg/api/openapi.json", "/api/openapi.json"):
            spec = httpx.get(address + path, headers=forged).json()
            assert spec["servers"] == [{"url": "/kg"}]
        assert httpx.get(f"{address}/kg", follow_redirects=True).url == f"{address}/kg/"
        assert httpx.get(f"{address}/kg/static/shell/main.js").status_code == 200
        assert httpx.get(f"{address}/kg/kg/api/graphs").status_code == 404
    for path in ("/api", "kg", "/../kg", "/k g"):
        refused = nacre("serve", "--root-path", path)
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
        assert "The root path can't be" in refused.stderr


def test_no_client_names_itself_and_programs_find_the_issuer(data, tmp_path):
    with local_issuer() as issuer:
        settings = {
            "NACRE_LOGIN_ISSUER": issuer.address,
            "NACRE_LOGIN_CLIENT": CLIENT,
            "NACRE_LOGIN_AUDIENCE": AUDIENCE,
        }
        settings |= {"NACRE_LOGIN_GROUPS": "{staff: {graphs: all}}", "NACRE_TRUSTED_PROXIES": "127.0.0.1"}
        with (
            serving(data, tmp_path, NACRE_LOGIN_HEADERS="true", **settings) as (address, _),
            under_a_path(tmp_path, address) as url,
        ):
            person = {"X-Forwarded-User": "ann", "X-Forwarded-Groups": "staff"}
            assert httpx.get(f"{address}/api/graphs", headers=person).status_code == 200
            assert httpx.get(f"{url}/api/graphs", headers=person).status_code == 401
            challenge = httpx.post(f"{url}/mcp").headers["www-authenticate"]
            named = re.findall('resource_metadata="(.*?)"', challenge)[0]
            # the header of a refusal, and the place of RFC 9728
            for place in build_protected_resource_metadata_discovery_urls(named, f"{url}/mcp")[:2]:
                assert httpx.get(place).json()["resource"] == f"{url}/mcp"
            assert httpx.get(place.removesuffix("/mcp")).json()["resource"] == url
            assert httpx.get(f"{named}/mcp").status_code == 404


def test_an_organisation_begins_with_nothing_but_accounts(tmp_path):
    """The steps of docs/login.md, with its table of groups and its settings."""
    text = (ROOT / "docs/login.md").read_text()
    (tmp_path / "groups.yaml").write_text(textwrap.dedent(re.findall("```yaml\n(.*?)```", text, re.S)[0]))
    nacre, data = command(tmp_path / "data", tmp_path), tmp_path / "data"
    with local_issuer() as issuer:
        written = textwrap.dedent(re.findall("```text\n(.*?)```", text, re.S)[0])
        settings = dict(line.strip().split("=", 1) for line in written.splitlines() if line.strip())
        settings |= {"NACRE_LOGIN_ISSUER": issuer.address, "NACRE_LOGIN_CLIENT": CLIENT}
        settings |= {"NACRE_SHARING": "true", "NACRE_AUDIT": "true", "NACRE_LOGIN_AUDIENCE": AUDIENCE}
        with serving(data, tmp_path, **settings) as (address, _), under_a_path(tmp_path, address) as url:
            headers = {"Origin": url.removesuffix("/kg"), "Accept": "application/json"}

            @contextmanager
            def person(**claims):
                issuer.person = claims
                with httpx.Client(follow_redirects=True, headers=headers, timeout=60) as browser:
                    assert browser.get(f"{url}/login").url == f"{url}/"
                    yield browser

            with person(sub="7", name="Ann Reed", groups=["kg-editors"]) as ann:
                upload = ann.post(f"{url}/api/uploads").json()["upload"]
                place = f"{url}/api/uploads/{upload}"
                content = (GRAPHS / "reading_room.ttl").read_bytes()
                assert ann.put(f"{place}/files?name=maps.ttl&offset=0", content=content).status_code == 200
                assert ann.post(place, json={"graph": "maps"}).status_code == 202
                while (phase := ann.get(place).json()["phase"]) == "running":
                    time.sleep(0.2)
                assert phase == "done"
                asked = {"question": QUESTION, "graph": "maps", "thread": "one"}
                assert ann.post(f"{url}/api/ask", json=asked).json()["values"] == [540]
                shared = ann.post(f"{url}/api/threads/one/turns/1/share", json={}).json()["path"]
                assert "540" in httpx.get(url + shared).text
                with person(sub="8", name="Bo Lind", groups=["kg-readers", "other"]) as bo:
                    assert [each["name"] for each in bo.get(f"{url}/api/graphs").json()] == ["maps"]
                    assert bo.post(f"{url}/api/uploads").status_code == 403
                # a program with a key, and an agent with a token of the issuer
                key = nacre("keys", "add", "crawler", "--graphs", "maps").stdout.strip()
                for token in (key, issuer.token(sub="8", groups=["kg-readers"])):
                    with Nacre(url, key=token) as program:
                        assert program.graph("maps").ask(QUESTION).values == [540]
                audit = nacre("audit").stdout
                deeds = ("logged in", "uploaded", "asked", "shared")
                assert [deed for deed in deeds if f"(Ann Reed)  {deed}" not in audit] == []
                assert '"what": "conversation"' in nacre("person", "show", "Ann Reed").stdout
                assert "shared answer: 1" in nacre("person", "delete", "Ann Reed", "--yes").stdout
                assert ann.get(f"{url}/api/graphs").status_code == 401
                assert httpx.get(url + shared).status_code == 404


def test_the_other_examples_name_the_same_path_and_server():
    traefik = yaml.safe_load((EXAMPLES / "traefik.yaml").read_text())["http"]
    router = traefik["routers"]["nacre"]
    assert {*router["middlewares"], *traefik["routers"]["nacre-issuer"]["middlewares"]} == set(traefik["middlewares"])
    assert traefik["middlewares"]["nacre-path"]["stripPrefix"]["prefixes"] == ["/kg"]
    slash = traefik["middlewares"]["nacre-slash"]["redirectRegex"]
    assert re.sub(slash["regex"], r"\1/", "https://example.org/kg") == "https://example.org/kg/"
    assert "`/kg/`" in router["rule"]
    # no client may say who it is
    named = {"X-Forwarded-User", "X-Forwarded-Groups", "X-Forwarded-Preferred-Username", "X-Forwarded-Email"}
    assert named == {each.title() for each in (PROXY_USER, PROXY_GROUPS, *PROXY_NAMES)}
    removed = {"headers": {"customRequestHeaders": dict.fromkeys(named, "")}}
    assert traefik["middlewares"]["nacre-person"] == removed
    issuer = traefik["routers"]["nacre-issuer"]
    assert "`/.well-known/oauth-protected-resource/kg`" in issuer["rule"]
    assert "nacre-person" in router["middlewares"]
    assert "nacre-person" in issuer["middlewares"]
    assert traefik["routers"]["nacre-secret"]["middlewares"] == ["nacre-path", "nacre-person"]
    assert traefik["services"][router["service"]]["loadBalancer"]["servers"] == [{"url": "http://127.0.0.1:8200"}]
    blocks = caddy_blocks(EXAMPLES / "Caddyfile")
    assert ["redir", "/kg", "/kg/", "308"] in blocks["example.org"]
    assert blocks["example.org handle_path /kg/*"] == blocks["example.org handle @issuer"] == [["import", "nacre"]]
    assert blocks["(nacre) reverse_proxy 127.0.0.1:8200"] == [
        ["header_up", "X-Forwarded-Prefix", "/kg"],
        *(["header_up", f"-{each.title()}"] for each in (PROXY_USER, PROXY_GROUPS, *PROXY_NAMES[:2])),
    ]


def test_each_place_that_nginx_forwards_names_no_person():
    text = re.sub(r"#.*", "", (EXAMPLES / "nginx.conf").read_text())
    places = [each for each in re.split(r"^location", text, flags=re.M) if "proxy_pass" in each]
    assert len(places) == 2
    for place in places:
        # a path with /../ is matched as its end and forwarded whole
        removed = {name.lower() for name in re.findall(r'proxy_set_header (\S+) "";', place)}
        assert removed == {PROXY_USER, PROXY_GROUPS, *PROXY_NAMES}


def caddy_blocks(file: Path) -> dict[str, list[list[str]]]:
    """The directives of each block of a Caddyfile, by the words that lead to it."""
    blocks: dict[str, list[list[str]]] = {}
    stack: list[str] = []
    for line in file.read_text().splitlines():
        words = line.partition("#")[0].split()
        if words[-1:] == ["{"]:
            stack.append(" ".join(words[:-1]))
        elif words == ["}"]:
            stack.pop()
        elif words:
            blocks.setdefault(" ".join(stack), []).append(words)
    assert not stack
    return blocks
