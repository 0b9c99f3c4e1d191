"""`nacre.Nacre` in scripts of one's own: their modules, their ends, and processes for queries."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ingestion.pipeline import ingest

ROOT = Path(__file__).parents[2]
QUESTION = "How many pages does Granite have?"


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("python")
    ingest([str(ROOT / "tests/fixtures/graphs/reading_room.ttl")], "room", data=folder, no_vectors=True)
    return folder


def script(folder, data, text, *command):
    (folder / "script.py").write_text(text)
    kept = {key: value for key, value in os.environ.items() if not key.startswith("NACRE_")}
    surroundings = {**kept, "PYTHONPATH": str(ROOT), "NACRE_EMBEDDER": "none", "DATA": str(data)}
    given = [sys.executable, *(command or ["script.py"])]
    return subprocess.run(given, cwd=folder, env=surroundings, capture_output=True, text=True, timeout=120)


ASKING = f"""
import config, records, os
from nacre import Nacre
graph = Nacre(os.environ["DATA"]).graph()
print(graph.ask({QUESTION!r}).values, config.mine, records.mine)
"""


def test_a_scripts_own_modules_stay_its_own_and_it_ends_without_being_closed(data, tmp_path):
    for name in ("config", "records", "stores", "serving"):
        (tmp_path / f"{name}.py").write_text("mine = 1\n")
    ran = script(tmp_path, data, ASKING)
    assert (ran.stdout, ran.stderr, ran.returncode) == ("[540] 1 1\n", "", 0)


@pytest.mark.parametrize("name", ["tools.py", "graph/__init__.py"])
def test_a_module_that_stands_in_for_one_of_ours_is_named(data, tmp_path, name):
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("mine = 1\n")
    ran = script(tmp_path, data, "import os\nfrom nacre import Nacre\nNacre(os.environ['DATA']).graphs()")
    assert ran.returncode == 1
    assert f"{file} is imported instead of Nacre's package" in ran.stderr.splitlines()[-1]
    # a server is asked without these packages
    ran = script(tmp_path, data, "from nacre import Nacre, NacreError\nprint(Nacre('http://127.0.0.1:9').graph())")
    assert (ran.returncode, ran.stderr) == (0, "")
    ran = script(tmp_path, data, "", "-m", "nacre.serving.cli.main", "graphs")
    assert ran.returncode == 2
    assert ran.stderr.startswith(f"{file} is imported instead")
    assert len(ran.stderr.splitlines()) == 1


RUNNING = """
import asyncio, os
from pathlib import Path
print("once")
from tools.sandbox import Sandbox
[file] = Path(os.environ["DATA"]).glob("room/versions/*/graph.sqlite")
sandbox = Sandbox()
found = asyncio.run(sandbox.run(file, "SELECT count(*) FROM book", round=1, limit=5, seconds=60))
print(found.rows[0].table.rows)
sandbox.close()
"""


def test_a_script_without_a_guard_is_not_run_again_by_the_processes_for_queries(data, tmp_path):
    ran = script(tmp_path, data, RUNNING)
    assert (ran.stdout, ran.returncode) == ("once\n((6,),)\n", 0), ran.stderr
