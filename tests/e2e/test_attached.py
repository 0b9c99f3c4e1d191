"""`nacre attach` on the command line, over a real Oxigraph server."""

import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.e2e.conftest import GRAPHS, Nacre

OXIGRAPH = shutil.which("oxigraph", path=str(Path(sys.executable).parent)) or shutil.which("oxigraph")


@pytest.fixture(scope="module")
def oxigraph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if OXIGRAPH is None:
        pytest.skip("no oxigraph server is installed")
    folder = tmp_path_factory.mktemp("oxigraph") / "store"
    load = [OXIGRAPH, "load", "--location", str(folder), "--file", str(GRAPHS / "archipelago.ttl")]
    subprocess.run(load, check=True, capture_output=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    server = subprocess.Popen(
        [OXIGRAPH, "serve-read-only", "--location", str(folder), "--bind", address],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://{address}/query"
    for _ in range(100):
        try:
            httpx.get(url, params={"query": "ASK {}"})
            break
        except httpx.HTTPError:
            time.sleep(0.1)
    yield url
    server.terminate()
    server.wait(10)


def test_attach_ask_and_list(oxigraph: str, fresh: Nacre) -> None:
    attached = fresh("attach", oxigraph, "--graph", "far")
    assert attached.returncode == 0, attached.stderr
    assert "queries" in attached.stdout
    assert "far" in fresh("graphs").stdout
    asked = fresh("ask", "How many islands are there?", "--graph", "far", "--json")
    record = json.loads(asked.stdout)
    assert record["enabled"] == ["sparql"]
    assert record["values"]
    again = fresh("attach", "--refresh", "--graph", "far")
    assert again.returncode == 0, again.stderr
    report = fresh("report", "--graph", "far")
    assert report.returncode == 2
    assert "has no tables here" in report.stderr
