"""The container files say only what the project has: settings, commands, packages, ports."""

import re
from pathlib import Path

import typer.main
import yaml

from nacre.config.settings import Settings
from nacre.serving.cli.main import app

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text())
KNOWN = set(re.findall(r"^#([A-Z_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))
HOUSE = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"benchmarks"}


def test_every_setting_is_documented() -> None:
    named = set(re.findall(r"\b(?:NACRE|OPENAI|OLLAMA)_[A-Z_]+", DOCKERFILE + (ROOT / "compose.yaml").read_text()))
    assert named - KNOWN == set()
    assert "NACRE_QDRANT_URL" in COMPOSE["services"]["nacre"]["environment"]


def test_the_whole_house_is_copied_and_nothing_else_sent() -> None:
    copied = {line.split()[1] for line in DOCKERFILE.splitlines() if re.match(r"COPY (\w+) \1$", line)}
    assert copied == HOUSE
    sent = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert sent == HOUSE | {"pyproject.toml", "requirements.lock", "README.md", "LICENSE"}
    assert all((ROOT / name).exists() for name in sent)


def test_ports_volumes_and_commands_agree() -> None:
    port = str(Settings.model_fields["port"].default)
    assert f"EXPOSE {port}" in DOCKERFILE
    assert f"127.0.0.1:{port}/healthz" in DOCKERFILE
    nacre = COMPOSE["services"]["nacre"]
    assert nacre["ports"] == [f"{port}:{port}"]
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
    assert DOCKERFILE.rindex("USER nacre") > DOCKERFILE.rindex("FROM ")
