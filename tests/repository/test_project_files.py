import ast
import re
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import yaml

from tests.support.statements import statements

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCK = (ROOT / "requirements.lock").read_text()
HOUSE = set(PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"])


def name(requirement: str) -> str:
    return re.findall(r"^[A-Za-z0-9._-]+", requirement)[0].lower().replace("_", "-").replace(".", "-")  # type: ignore[no-any-return]


def test_every_dependency_is_pinned():
    wanted = [*PROJECT["project"]["dependencies"]]
    for extra in PROJECT["project"]["optional-dependencies"].values():
        wanted.extend(extra)
    pinned = {name(line) for line in LOCK.splitlines() if "==" in line}
    assert {name(requirement) for requirement in wanted} - pinned == set()


@cache
def imported_modules() -> dict[Path, set[str]]:
    """The files that are installed, each with the modules that it imports, on any level."""
    found: dict[Path, set[str]] = {}
    for file in (path for package in HOUSE for path in (ROOT / package).rglob("*.py")):
        found[file] = set()
        for node in statements(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                found[file] |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found[file].add(node.module.split(".")[0])
    return found


def test_every_import_is_a_declared_dependency():
    provided = packages_distributions()
    extras = PROJECT["project"]["optional-dependencies"]
    used = "bundled vectors qdrant local otel learn agents databases postgres s3 login spreadsheets xlsx pandas"
    optional = {name(requirement) for extra in used.split() for requirement in extras[extra]}
    declared = {name(requirement) for requirement in PROJECT["project"]["dependencies"]} | optional
    missing = {
        f"{file.relative_to(ROOT)}: {module}"
        for file, modules in imported_modules().items()
        for module in modules - HOUSE - sys.stdlib_module_names
        if not {name(distribution) for distribution in provided.get(module, [module])} & declared
    }
    assert missing == set()


def test_every_declared_dependency_is_imported():
    """What is declared and never imported costs space for nothing, but for what is taken by its name."""
    by_name = {
        "langchain-ollama",  # by init_chat_model, for the provider that NACRE_MODEL names
    }
    provided = packages_distributions()
    imported = set().union(*imported_modules().values())
    used = {name(distribution) for module in imported for distribution in provided.get(module, [])}
    declared = {name(requirement) for requirement in PROJECT["project"]["dependencies"]}
    assert declared - used - by_name == set()


def test_no_file_names_the_host_of_a_registry():
    files = [
        ROOT / file
        for file in ("requirements.lock", "Makefile", "pyproject.toml", ".ci/run", ".pre-commit-config.yaml")
    ]
    assert [
        file.name for file in files if re.search(r"(?<!emit-)index-url|find-links|https?://|file://", file.read_text())
    ] == []


def test_ci_runs_what_a_person_runs():
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    steps = re.findall(r"^step ([\w-]+)$", (ROOT / ".ci/run").read_text(), re.MULTILINE)
    assert steps == ["check", "test", "bench-guard", "demo", "e2e"]
    assert targets >= {*steps, "all", "dev", "eval", "bench", "fmt"}


def test_the_workflow_runs_what_a_change_must_pass_on_every_python():
    (job,) = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"].values()
    assert ".ci/run" in [step.get("run") for step in job["steps"]]
    assert f">={job['strategy']['matrix']['python'][0]}" == PROJECT["project"]["requires-python"]


def test_the_change_log_tells_of_this_version():
    assert f"## {PROJECT['project']['version']}" in (ROOT / "CHANGELOG.md").read_text()


def test_packages_are_the_same_wherever_they_are_listed():
    wheel = set(PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"])
    makefile = re.findall(r"^HOUSE := (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[0].split()
    house = wheel | {"evaluation"}
    assert set(makefile) == house
    assert set(PROJECT["tool"]["mypy"]["files"]) - {"benchmarks", "tests"} == house
    assert set(PROJECT["tool"]["importlinter"]["root_packages"]) == house
    assert {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"benchmarks"} == house


def test_links_between_documents_lead_somewhere():
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*.md")]
    broken = []
    for document in documents:
        for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", document.read_text()):
            if not (document.parent / target).exists():
                broken.append(f"{document.relative_to(ROOT)}: {target}")
    assert broken == []


def test_the_architecture_lists_the_layers_and_files_that_exist():
    text = (ROOT / "docs/architecture.md").read_text()
    rows = re.findall(r"^\| (\d+) \| `([\w/]+)` \|.*\| (.*) \|$", text, re.MULTILINE)
    layers = PROJECT["tool"]["importlinter"]["contracts"][0]["layers"]
    expected = [
        (str(i), package.replace(".", "/")) for i, layer in enumerate(layers, 1) for package in layer.split(" | ")
    ]
    assert [(layer, package) for layer, package, _ in rows] == expected
    named = [ROOT / package / file for _, package, files in rows for file in re.findall(r"`([\w./]+)`", files)]
    assert [file for file in named if not file.is_file()] == []
