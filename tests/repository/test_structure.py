"""How the code is laid out: size of functions, modules and packages, one meaning a name, unit tests without files."""

import ast
import json
from collections import defaultdict
from functools import cache
from pathlib import Path

from benchmarks import size
from benchmarks.ratchet import compare, settle
from benchmarks.size import PRODUCT, ROOT, count_lines, tracked
from tests.support.statements import statements

MAX_FUNCTION_LINES, MAX_MODULE_LINES, MAX_SHARED_CLASS_NAMES = 60, 600, 10
# what a unit test must not use: files it writes, processes, sockets
IO_NAMES = {"tmp_path", "tmp_path_factory", "subprocess", "socket", "tempfile"}


@cache
def product_code() -> dict[Path, ast.Module]:
    files = tracked(*(f"{package}/*.py" for package in PRODUCT))
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in files}


def test_no_function_is_longer_than_a_screen() -> None:
    long = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path, tree in product_code().items()
        for node in statements(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - node.lineno + 1 > MAX_FUNCTION_LINES
    ]
    assert long == []


def test_no_module_is_longer_than_a_reader_follows() -> None:
    long = [str(path.relative_to(ROOT)) for path in product_code() if count_lines(path.read_text()) > MAX_MODULE_LINES]
    assert long == []


def test_no_package_grows_without_a_reason() -> None:
    """Run `python -m benchmarks.size --write`, with `--because` if a package must grow."""
    assert compare(size.measure(), size.FILE).risen == {}


def test_a_figure_rises_only_with_a_reason(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    file.write_text('{"files": {"most": 5, "reason": "kept"}, "lines": {"most": 100, "reason": ""}}')
    before, more = file.read_text(), {"files": 4.0, "lines": 101.0}
    assert settle(compare(more, file), more, file, "command", None) == 1
    assert settle(compare(more, file), more, file, "command", "") == 1
    assert file.read_text() == before
    assert settle(compare({"files": 4.0, "lines": 100.0}, file), more, file, "command", None) == 0
    assert settle(compare(more, file), more, file, "command", "two tables") == 0
    assert json.loads(file.read_text()) == {
        "files": {"most": 4.0, "reason": "kept"},
        "lines": {"most": 101.0, "reason": "two tables"},
    }
    assert compare({"files": 4.5, "lines": 101.0}, file, {"files": 0.15}) == ({}, {})


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
        text = path.read_text()
        if any(name in text for name in IO_NAMES):
            nodes = list(ast.walk(ast.parse(text)))
            names = {node.id for node in nodes if isinstance(node, ast.Name)}
            arguments = {node.arg for node in nodes if isinstance(node, ast.arg)}
            assert (names | arguments) & IO_NAMES == set(), path.name


def test_every_package_says_what_it_holds() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path, tree in product_code().items()
        if path.name == "__init__.py" and not ast.get_docstring(tree)
    ]
    assert silent == []
