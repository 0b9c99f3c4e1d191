"""What README and docs say about the repository is true: names, numbers of decisions, anchors, sizes."""

import importlib.util
import re
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*.md")])
DECISIONS = sorted((ROOT / "docs/decisions").glob("*.md"))
TOP_LEVEL = ("nacre", "agents", "graph", "tools", "ingestion", "tests", "benchmarks", "docs", "examples")
# a path in backticks, from the root of the repository
PATH = re.compile(rf"`((?:{'|'.join(TOP_LEVEL)})/[\w./-]+)`")
# a module in backticks, or after python -m; `graph`, `agents` and `tools` are also names of variables and files
MODULE = re.compile(r"(?:`|python -m )((?:nacre|ingestion|benchmarks)(?:\.\w+)+)")
# a file of tests in backticks, with or without its folder, and one of its tests
TEST = re.compile(r"`(?:[\w/]+/)?(test_\w+\.py)(?:::(\w+))?`")
FILES_OF_USERS = {"ingestion.py"}
MAX_BYTES = 500_000
DATA = ("examples/", "tests/fixtures/")


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


def module_exists(name: str) -> bool:
    """Whether a dotted name is a module, or a name in one."""
    package, _, attribute = name.rpartition(".")
    try:
        if importlib.util.find_spec(name) is not None:
            return True
    except ModuleNotFoundError:
        pass
    try:
        return hasattr(importlib.import_module(package), attribute)
    except ModuleNotFoundError:
        return False


def anchors(document: Path) -> set[str]:
    """The anchors of the headings of a document, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=relative)
def test_every_path_in_a_document_exists(document: Path) -> None:
    paths = [path for path in PATH.findall(document.read_text(encoding="utf-8")) if "NAME" not in path]
    assert [path for path in paths if not ((ROOT / path).exists() or (ROOT / f"{path}.py").is_file())] == []


def test_every_entry_of_the_language_data_in_extending_exists() -> None:
    text = (ROOT / "docs/extending.md").read_text(encoding="utf-8")
    missing = []
    for names, file in re.findall(r"((?:`\w+`(?:, | and )?)+) (?:in|of) `(nacre/language/en/\w+\.yaml)`", text):
        keys = yaml.load((ROOT / file).read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
        missing += [f"{file}: {name}" for name in re.findall(r"`(\w+)`", names) if name not in keys]
    assert missing == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=relative)
def test_every_module_in_a_document_exists(document: Path) -> None:
    modules = set(MODULE.findall(document.read_text(encoding="utf-8")))
    assert sorted(name for name in modules - FILES_OF_USERS if not module_exists(name)) == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=relative)
def test_every_test_in_a_document_exists(document: Path) -> None:
    missing = []
    for name, function in TEST.findall(document.read_text(encoding="utf-8")):
        files = list((ROOT / "tests").rglob(name))
        if not files or not all(f"def {function}(" in file.read_text(encoding="utf-8") for file in files if function):
            missing.append(f"{name}::{function}" if function else name)
    assert missing == []


def test_every_document_named_in_code_exists() -> None:
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    missing = []
    for name in listed.stdout.splitlines():
        if name.startswith(("tests/", *DATA)) or not (ROOT / name).is_file():
            continue
        documents = re.findall(r"\bdocs/[\w/-]+\.md", (ROOT / name).read_text(encoding="utf-8"))
        missing += [f"{name}: {document}" for document in documents if not (ROOT / document).is_file()]
    assert missing == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=relative)
def test_every_anchor_of_a_link_exists(document: Path) -> None:
    broken = []
    for target, anchor in re.findall(r"\]\((?!https?://)([^)#]*)#([^)]+)\)", document.read_text(encoding="utf-8")):
        if anchor not in anchors(document.parent / target if target else document):
            broken.append(f"{target}#{anchor}")
    assert broken == []


def test_decisions_are_numbered_without_gaps() -> None:
    assert [path.name[:4] for path in DECISIONS] == [f"{number:04}" for number in range(1, len(DECISIONS) + 1)]


@pytest.mark.parametrize("decision", DECISIONS, ids=relative)
def test_a_decision_has_its_number_a_date_and_a_status(decision: Path) -> None:
    title, date, status, *_ = [line for line in decision.read_text(encoding="utf-8").splitlines() if line]
    assert title.startswith(f"# {int(decision.name[:4])}. ")
    assert re.fullmatch(r"Date: \d{4}-\d\d-\d\d(?: \(revised \d{4}-\d\d-\d\d\))?", date)
    superseded = re.fullmatch(r"Status: (?:accepted|superseded by (\d{4}))", status)
    assert superseded
    assert superseded[1] is None or any(path.name.startswith(superseded[1]) for path in DECISIONS)


def test_decisions_are_in_the_order_of_their_dates() -> None:
    dates = [re.findall(r"^Date: (\S+)", path.read_text(encoding="utf-8"), re.MULTILINE)[0] for path in DECISIONS]
    assert dates == sorted(dates)


def test_every_package_is_in_the_architecture() -> None:
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| \d+ \| `([\w/]+)` \|", text, re.MULTILINE))
    tree = text.partition("```text\n")[2].partition("```")[0]
    named |= {line.split()[0] for line in tree.splitlines()}
    packages = {
        relative(path.parent)
        for top in ("nacre", "agents", "graph", "tools", "ingestion", "evaluation")
        for path in (ROOT / top).rglob("__init__.py")
    }
    assert packages - {"nacre"} == named - {"nacre/errors", "nacre/extension"}


def test_the_first_page_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 110


def test_changes_of_a_release_are_short() -> None:
    releases = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")[1:]
    assert all(re.match(r"\d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d\)\n", release) for release in releases)
    assert [release.splitlines()[0] for release in releases if len(release.splitlines()) > 40] == []
    assert [line for release in releases for line in release.splitlines() if len(line) > 120] == []


def test_no_large_file_is_tracked_outside_of_data() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    files = [ROOT / name for name in listed.stdout.split("\0") if name and not name.startswith(DATA)]
    assert [relative(path) for path in files if path.is_file() and path.stat().st_size > MAX_BYTES] == []
