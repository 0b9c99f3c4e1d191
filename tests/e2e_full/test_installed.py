"""Packages built and installed alone: every supported Python answers a question, and the size is what docs say."""

import re
import resource
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.e2e_full.conftest import (
    ANSWER,
    QUESTION,
    ROOT,
    ask_new_graph,
    base_python,
    clean_environment,
    new_venv,
    run,
)

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
# MB of a new environment with `pip install .`, without pip and setuptools in it, byte code included
MAX_SIZE = 400
# processor time of a cold question relative to the import of LangGraph alone, which a busy machine slows as much
MAX_COLD_ASK = 4.0
HOUSE = {"nacre", "ingestion", "tools", "agents", "graph"}
CLIENTS = ROOT / "examples/clients"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a source archive and a wheel."""
    folder = tmp_path_factory.mktemp("dist")
    run([sys.executable, "-m", "build", "--outdir", folder, ROOT], folder)
    return folder


def interpreter(version: str) -> str | None:
    found = shutil.which(f"python{version}")
    if found and subprocess.run([found, "-c", "pass"], capture_output=True).returncode == 0:
        return found
    own = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    return str(own[-1]) if own else None


def install(python: str, place: Path, *wanted: str) -> Path:
    programs = new_venv(python, place)
    run([programs / "pip", "install", "--quiet", "--constraint", ROOT / "requirements.lock", *wanted], place)
    return programs


def test_the_archives_are_as_registries_want_them_and_have_the_house_alone(built: Path) -> None:
    wheel, source = next(built.glob("*.whl")), next(built.glob("*.tar.gz"))
    assert "PASSED" in run([sys.executable, "-m", "twine", "check", "--strict", wheel, source], built)
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == HOUSE
    tracked = subprocess.run(["git", "ls-files", *HOUSE], cwd=ROOT, capture_output=True, text=True, check=True)
    assert set(tracked.stdout.splitlines()) - set(names) == set()


@pytest.mark.parametrize("version", PYTHONS)
def test_the_wheel_alone_answers_a_question(version: str, built: Path, tmp_path: Path) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip(f"there is no Python {version} on this machine")
    programs = install(python, tmp_path / "env", str(next(built.glob("*.whl"))))
    assert ANSWER in ask_new_graph(programs / "nacre", tmp_path)
    assert "No broken requirements" in run([programs / "pip", "check"], tmp_path)


def test_it_is_small_and_a_cold_question_is_quick(tmp_path: Path) -> None:
    programs = install(base_python(), tmp_path / "env", str(ROOT))
    assert ANSWER in ask_new_graph(programs / "nacre", tmp_path)
    packages = next((tmp_path / "env/lib").iterdir()) / "site-packages"
    tools = [path for name in ("pip*", "setuptools*", "pkg_resources") for path in packages.glob(name)]
    size = sum(int(run(["du", "-sm", "--apparent-size", path], tmp_path).split()[0]) for path in (tmp_path / "env",))
    size -= sum(int(run(["du", "-sm", "--apparent-size", path], tmp_path).split()[0]) for path in tools)
    print(f"installed: {size} MB without pip")
    assert size < MAX_SIZE
    cold = min(processor_seconds([programs / "nacre", "ask", QUESTION], tmp_path) for _ in range(3))
    alone = min(processor_seconds([programs / "python", "-c", "import langgraph.graph"], tmp_path) for _ in range(3))
    print(f"a cold question: {cold:.2f} s, the import of LangGraph {alone:.2f} s")
    assert cold < MAX_COLD_ASK * alone


def processor_seconds(words: list[object], folder: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    run(words, folder)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def test_the_shell_completes_commands_and_options(tmp_path: Path) -> None:
    nacre = Path(sys.executable).parent / "nacre"
    for typed, at, expected in (("nacre in", 1, {"ingest", "index"}), ("nacre ask --gr", 2, {"--graph"})):
        asked = clean_environment(_NACRE_COMPLETE="complete_bash", COMP_WORDS=typed, COMP_CWORD=str(at))
        assert expected <= set(run([nacre], tmp_path, asked).split())
    known = clean_environment(_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    script = run([nacre, "--show-completion", "bash"], tmp_path, known)
    assert "_NACRE_COMPLETE" in script


def needed() -> dict[str, list[str]]:
    """What docs/clients.md says that each script needs, by script."""
    page = (ROOT / "docs/clients.md").read_text()
    packages = dict(re.findall(r"^\| [^|]+ \| \[[^|]*\]\(#([\w-]+)\) \|[^|]*`pip install ([^`]+)`", page, re.MULTILINE))
    scripts = {}
    for section in page.split("\n## ")[1:]:
        title = re.sub(r"[^\w\- ]", "", section.splitlines()[0].lower()).replace(" ", "-")
        for script in re.findall(r"\]\(\.\./examples/clients/(\w+\.py)\)", section):
            if title in packages:
                scripts[script] = packages[title].replace("'", "").split()
    return scripts


@pytest.mark.parametrize("script", sorted(needed()))
def test_a_client_needs_what_its_page_says(script: str, tmp_path: Path) -> None:
    programs = install(base_python(), tmp_path / "env", *needed()[script])
    imports = re.findall(r"^(?:from \w[\w.]* )?import .+$", (CLIENTS / script).read_text(), re.MULTILINE)
    assert imports
    run([programs / "python", "-c", "\n".join(imports)], tmp_path)


def test_every_script_of_a_server_is_covered() -> None:
    alone = {"python_client.py", "langchain_tool.py"}
    assert {path.name for path in CLIENTS.glob("*.py")} - alone == set(needed())
