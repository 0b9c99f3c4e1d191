"""The container files say only what the project has: settings, commands, packages, ports."""

import ipaddress
import re
import subprocess
import threading
import tomllib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import typer.main
import yaml

from nacre.config.settings import Settings
from nacre.serving.cli.main import app
from tests.support.dockerfile import read_stages, sent_files, stage_chain

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
STAGES = read_stages(DOCKERFILE)
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text())
KNOWN = set(re.findall(r"^#([A-Z_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))
HOUSE = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"benchmarks", "evaluation"}


def test_every_setting_is_documented() -> None:
    named = set(re.findall(r"\b(?:NACRE|OPENAI|OLLAMA)_[A-Z_]+", DOCKERFILE + (ROOT / "compose.yaml").read_text()))
    assert named - KNOWN == set()
    fleet = set(re.findall(r"\b(?:NACRE|OPENAI|OLLAMA)_[A-Z_]+", (ROOT / "compose.scale.yaml").read_text()))
    assert fleet - KNOWN == set()
    assert "NACRE_QDRANT_URL" in COMPOSE["services"]["nacre"]["environment"]


def test_two_servers_share_all_that_is_stored() -> None:
    services = yaml.safe_load((ROOT / "compose.scale.yaml").read_text())["services"]
    one, two = services["one"], services["two"]
    assert one["environment"] == two["environment"]
    assert {"NACRE_DATABASE_URL", "NACRE_GRAPHS", "NACRE_QDRANT_URL"} <= set(one["environment"])
    assert one["volumes"] != two["volumes"]
    # only the balancer is reached from outside
    assert [name for name, service in services.items() if "ports" in service] == ["balancer"]
    assert all(port.startswith("127.0.0.1:") for port in services["balancer"]["ports"])


def test_people_can_log_in_to_containers() -> None:
    # the packages, the settings of .env, and the address of a proxy on the machine
    assert re.search(r"'login'.*\['optional-dependencies'\]|\['optional-dependencies'\].*'login'", DOCKERFILE)
    fleet = yaml.safe_load((ROOT / "compose.scale.yaml").read_text())
    for file, name in ((COMPOSE, "nacre"), (fleet, "one"), (fleet, "two")):
        service = file["services"][name]
        assert service["env_file"] == [{"path": ".env", "required": False}]
        # what .env sets for this machine must not count in the container
        assert {"NACRE_DATA", "NACRE_HOST", "NACRE_PORT"} <= set(service["environment"])
    (network,) = COMPOSE["networks"]["default"]["ipam"]["config"]
    proxy = next(ipaddress.ip_network(network["subnet"]).hosts())
    assert f"NACRE_TRUSTED_PROXIES={proxy}\n" in (ROOT / "docs/login.md").read_text()
    (network,) = fleet["networks"]["default"]["ipam"]["config"]
    # clients that are no proxies can't choose the address that counts
    assert fleet["x-nacre"]["environment"]["NACRE_TRUSTED_PROXIES"] == network["subnet"]


def test_the_image_reads_all_files_of_tables_and_the_documentation_names_its_extras() -> None:
    listed = re.findall(r"\['optional-dependencies'\]\[e\] for e in \((.*?)\)", DOCKERFILE)
    extras = re.findall(r"'(\w+)'", listed[0])
    # what those that read tables, and write them, ask for
    code = "".join(
        file.read_text()
        for name in ("spreadsheets", "downloads")
        for file in (ROOT / "nacre/extensions" / name).glob("*.py")
    )
    needed = set(re.findall(r"nacre\[(\w+)\]", code))
    assert "spreadsheets" in needed
    assert needed <= set(extras)
    page = (ROOT / "docs/operating.md").read_text()
    (said,) = re.findall(r"The image has the extras (.*?)\.\n", page, re.S)
    assert re.findall(r"`(\w+)`", said) == extras
    extra = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(extras) <= set(extra)


def copied(stage: str) -> set[str]:
    """The folders that a stage copies from the context."""
    copies = (each.words for each in STAGES[stage].instructions if each.name == "COPY")
    return {words[0] for words in copies if len(words) == 2 and words[0] == words[1]}


@pytest.mark.parametrize("target", ["build", "build-local"])
def test_the_whole_house_is_copied(target: str) -> None:
    assert copied(target) == HOUSE


def test_what_is_sent_is_the_house_and_what_installs_it(tmp_path: Path) -> None:
    for name in (
        *(f"{package}/__init__.py" for package in HOUSE),
        *("nacre/language/en/cues.yaml", "nacre/__pycache__/a.pyc", "tools/guards/__pycache__/b.pyc"),
        *("pyproject.toml", "requirements.lock", "README.md", "LICENSE", "Dockerfile", "compose.yaml"),
        *(".env", ".git/config", "data/keys.json", "data/nacre/x", "tests/conftest.py", ".venv/bin/nacre", "id_rsa"),
        *("docs/clients.md", "benchmarks/load.py", "examples/bmw/kg.ttl", "sub/nacre/secret", "sub/pyproject.toml"),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    sent = set(sent_files(tmp_path, (ROOT / ".dockerignore").read_text()))
    needed = {"pyproject.toml", "requirements.lock", "README.md", "LICENSE", "nacre/language/en/cues.yaml"}
    assert sent == needed | {f"{package}/__init__.py" for package in HOUSE}


@pytest.mark.parametrize("target", ["default", "local"])
def test_packages_are_installed_before_any_source_is_copied(target: str) -> None:
    (source,) = [each.words[0] for each in STAGES[target].instructions if each.name == "COPY"]
    build = source.removeprefix("--from=")
    instructions = [each for stage in stage_chain(STAGES, build) for each in STAGES[stage].instructions]
    first_source = next(i for i, each in enumerate(instructions) if each.name == "COPY" and each.words[0] in HOUSE)
    installs = [i for i, each in enumerate(instructions) if "pip install" in each.arguments]
    assert [i for i in installs if i < first_source]
    assert all("--no-deps" in instructions[i].arguments for i in installs if i > first_source)
    assert "local" in instructions[installs[-2]].arguments or target == "default"


def test_a_default_build_is_the_default_target() -> None:
    assert list(STAGES)[-1] == "default"
    assert COMPOSE["services"]["nacre"]["build"]["target"] == "${CONTAINER_TARGET:-default}"


def test_the_container_may_write_to_its_data_alone() -> None:
    nacre = COMPOSE["services"]["nacre"]
    assert nacre["read_only"] is True
    assert nacre["tmpfs"] == ["/tmp:size=2g"]
    for service in COMPOSE["services"].values():
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]


def test_nothing_is_published_to_other_machines() -> None:
    published = [port for service in COMPOSE["services"].values() for port in service.get("ports", [])]
    assert published
    assert all(port.startswith("127.0.0.1:") for port in published)


def test_qdrant_has_a_key_and_is_waited_for() -> None:
    nacre, qdrant = COMPOSE["services"]["nacre"], COMPOSE["services"]["qdrant"]
    assert nacre["depends_on"] == {"qdrant": {"condition": "service_healthy"}}
    assert nacre["environment"]["NACRE_QDRANT_KEY"] == qdrant["environment"]["QDRANT__SERVICE__API_KEY"]
    # it refuses to start without one
    assert nacre["environment"]["NACRE_QDRANT_KEY"].startswith("${NACRE_QDRANT_KEY:?")


@pytest.mark.parametrize(("status", "healthy"), [(200, True), (503, False)])
def test_the_health_check_of_qdrant_asks_whether_it_is_ready(status: int, healthy: bool) -> None:
    class Ready(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == "/readyz" else 404)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    words = [word.replace("$$", "$") for word in COMPOSE["services"]["qdrant"]["healthcheck"]["test"][1:]]
    with ThreadingHTTPServer(("127.0.0.1", 0), Ready) as server:
        serving = threading.Thread(target=server.serve_forever, args=(0.01,))
        serving.start()
        command = [word.replace("/6333", f"/{server.server_port}") for word in words]
        ran = subprocess.run(command, timeout=20)
        server.shutdown()
        serving.join()
    assert (ran.returncode == 0) is healthy


def test_ollama_on_the_host_is_reached() -> None:
    nacre = COMPOSE["services"]["nacre"]
    assert nacre["extra_hosts"] == ["host.docker.internal:host-gateway"]
    assert nacre["environment"]["OLLAMA_HOST"] == "${OLLAMA_HOST:-http://host.docker.internal:11434}"


def test_ports_volumes_and_commands_agree() -> None:
    port = str(Settings.model_fields["port"].default)
    assert f"EXPOSE {port}" in DOCKERFILE
    assert f"127.0.0.1:{port}/healthz" in DOCKERFILE
    nacre = COMPOSE["services"]["nacre"]
    assert nacre["ports"] == [f"127.0.0.1:{port}:{port}"]
    data = re.search(r"NACRE_DATA=(\S+)", DOCKERFILE)
    assert data is not None
    assert nacre["volumes"] == [f"nacre:{data[1]}"]
    assert f"VOLUME {data[1]}" in DOCKERFILE
    assert set(COMPOSE["volumes"]) == {
        volume.split(":")[0] for s in COMPOSE["services"].values() for volume in s["volumes"]
    }
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    used = re.findall(r"run --rm .*?nacre (\w+)", (ROOT / "compose.yaml").read_text())
    assert set(used) | {"serve"} <= set(commands)
    grace = int(nacre["stop_grace_period"].removesuffix("s"))
    assert grace > Settings.model_fields["stop_seconds"].default + 10


def test_it_does_not_run_as_root() -> None:
    assert re.search(r"^USER nacre$", DOCKERFILE, re.MULTILINE)
    assert "runtime" in stage_chain(STAGES, "default")
    assert "runtime" in stage_chain(STAGES, "local")
    assert [each.arguments for each in STAGES["runtime"].instructions if each.name == "USER"] == ["nacre"]
    assert not [each for name in ("default", "local") for each in STAGES[name].instructions if each.name == "USER"]
