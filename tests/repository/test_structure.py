"""How the code is laid out: size of functions and folders, one meaning for a public name, unit tests without files."""

import ast
import subprocess
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
PRODUCT = ("nacre", "ingestion", "tools", "agents", "graph")
MAX_FUNCTION_LINES, MAX_FILES_IN_FOLDER, MAX_SHARED_CLASS_NAMES = 60, 15, 10
# what a unit test must not use: files it writes, processes, sockets
IO_NAMES = {"tmp_path", "tmp_path_factory", "subprocess", "socket", "tempfile"}


def tracked(*patterns: str) -> list[Path]:
    listed = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / line for line in listed.stdout.splitlines() if (ROOT / line).is_file()]


def product_code() -> dict[Path, ast.Module]:
    files = tracked(*(f"{package}/*.py" for package in PRODUCT))
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in files}


def test_no_function_is_longer_than_a_screen() -> None:
    long = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path, tree in product_code().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - node.lineno + 1 > MAX_FUNCTION_LINES
    ]
    assert long == []


def test_no_folder_has_more_files_than_a_reader_keeps_in_mind() -> None:
    code = tracked(*(f"{package}/*.{kind}" for package in PRODUCT for kind in ("py", "js", "css")))
    folders: dict[Path, int] = defaultdict(int)
    for path in code:
        folders[path.parent] += 1
    assert {str(each.relative_to(ROOT)): n for each, n in folders.items() if n > MAX_FILES_IN_FOLDER} == {}


def test_a_public_class_name_means_one_thing() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path, tree in product_code().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(ROOT)))
    shared = {name: files for name, files in places.items() if len(files) > 1}
    assert len(shared) <= MAX_SHARED_CLASS_NAMES, shared


def test_unit_tests_use_no_files_and_no_processes() -> None:
    for path in tracked("tests/unit/*.py"):
        names = {node.id for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Name)}
        arguments = {node.arg for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.arg)}
        assert (names | arguments) & IO_NAMES == set(), path.name


def test_every_package_says_what_it_holds() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path, tree in product_code().items()
        if path.name == "__init__.py" and not ast.get_docstring(tree)
    ]
    assert silent == []
