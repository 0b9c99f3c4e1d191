"""No regular expression of the project takes more than in proportion to the length of a text."""

import ast
import importlib
import inspect
import json
import pkgutil
import re
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.read_yaml import read_yaml

ROOT = Path(__file__).parents[2]
MAX_SECONDS = 2.0
PACKAGES = ("nacre", "agents", "graph", "tools", "ingestion")
# methods that try a pattern at every position of a text, and those that try it at its beginning
SCANNING = ("search", "finditer", "findall", "sub", "subn", "split")
ANCHORED = ("match", "fullmatch")
# of the tests' own patterns: quadratic, nested, quadratic from a beginning, linear
KNOWN_SECONDS = 0.5
KNOWN = {r"\s+$": True, r"(a+)+b": True, r"^x: *(.*) *$": True, r"(?<!\s)\s++$": False, r"\w+": False}
# patterns whose texts are short, and what bounds them
BOUNDED = {
    "nacre.serving.page.pages.INLINE_ELEMENTS": "the page's own file",
    "ingestion.induce.declarations._NAME_SHAPE": "MAX_NAME_LENGTH",
    "ingestion.induce.declarations._DESCRIPTION_SHAPE": "MAX_NAME_LENGTH",
    "ingestion.induce.partial_dates._forms": "MAX_WORDS",
    "nacre.extensions.documents.passages._LINK": "800 characters for each bracket",
    "nacre.extensions.foreign_queries.model_sparql._TOKEN": "the length of a model's query, which was parsed",
    "dialogue.yaml contrast": "MAX_CORRECTION_LENGTH",
    "dialogue.yaml correction_after": "MAX_CORRECTION_LENGTH",
    "wording.yaml one_of_those": "a plan in words, with values of a question of 4,000 characters",
    "wording.yaml single_value_clause": "a plan in words, with values of a question of 4,000 characters",
}


class Case(NamedTuple):
    """A pattern, where it is written, and how it is used."""

    place: str
    pattern: str
    flags: int
    method: str
    is_bytes: bool = False


def test_time_of_each_pattern_is_in_proportion_to_the_length_of_a_text() -> None:
    cases = list(dict.fromkeys([*compiled_patterns(), *literal_patterns(), *language_patterns()]))
    assert len(cases) > 250
    assert set(BOUNDED) <= {case.place for case in cases}
    cases = [case for case in cases if case.place not in BOUNDED]
    slow = {f"{case.place} {case.method} {case.pattern[:120]!r}": text for case, text in slow_cases(cases, MAX_SECONDS)}
    assert not slow, "\n".join(f"{case}: {text!r}" for case, text in slow.items())


def test_timing_finds_patterns_that_backtrack() -> None:
    cases = [Case("known", pattern, 0, "finditer") for pattern in KNOWN]
    found = {case.pattern for case, _ in slow_cases(cases, KNOWN_SECONDS)}
    assert found == {pattern for pattern, is_slow in KNOWN.items() if is_slow}


def compiled_patterns() -> Iterator[Case]:
    """The patterns that modules hold, and those that their functions without arguments return."""
    for module in modules():
        source = Path(str(module.__file__)).read_text()
        for name, value in vars(module).items():
            place = f"{module.__name__}.{name}"
            if isinstance(value, re.Pattern | tuple | list | dict):
                yield from (case_of(place, each, usage(name, source)) for each in patterns_in(value))
            elif returns_pattern(value) and value.__module__ == module.__name__:
                yield from (case_of(place, each, usage(rf"{name}\(\)", source)) for each in patterns_in(value()))


def patterns_in(value: Any) -> Iterator[re.Pattern[Any]]:
    """The patterns in a value and in the collections that it holds."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, tuple | list | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from patterns_in(each)


def modules() -> Iterator[Any]:
    for package in PACKAGES:
        for found in pkgutil.walk_packages([str(ROOT / package)], f"{package}."):
            if not found.name.endswith("__main__"):
                yield importlib.import_module(found.name)


def returns_pattern(value: Any) -> bool:
    function = inspect.unwrap(value) if callable(value) and hasattr(value, "__module__") else None
    if not inspect.isfunction(function) or "re.Pattern" not in str(function.__annotations__.get("return", "")):
        return False
    return not inspect.signature(function).parameters


def case_of(place: str, value: re.Pattern[Any], method: str) -> Case:
    is_bytes = isinstance(value.pattern, bytes)
    return Case(place, value.pattern.decode("latin-1") if is_bytes else value.pattern, value.flags, method, is_bytes)


def usage(name: str, source: str) -> str:
    """How a module uses one of its patterns; as a search if it does not say."""
    return method_of(set(re.findall(rf"(?<!\w){name}\.(\w+)", source)))


def method_of(used: set[str]) -> str:
    return "fullmatch" if used == {"fullmatch"} else "match" if used and used <= set(ANCHORED) else "finditer"


def literal_patterns() -> Iterator[Case]:
    """The patterns in calls of functions of `re`."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            text = path.read_text()
            for node in ast.walk(ast.parse(text)) if re.search(r"\bre\s*\.", text) else ():
                if pattern := literal_pattern(node):
                    method = node.func.attr  # type: ignore[attr-defined]
                    flags = re.IGNORECASE if "IGNORECASE" in ast.unparse(node) else 0
                    place = f"{path.relative_to(ROOT)}:{node.lineno}"  # type: ignore[attr-defined]
                    yield Case(place, pattern, flags, method if method in ANCHORED else "finditer")


def literal_pattern(node: ast.AST) -> str:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
        return ""
    if ast.unparse(node.func.value) != "re" or node.func.attr not in (*SCANNING, *ANCHORED):
        return ""
    first = node.args[0]
    if isinstance(first, ast.JoinedStr):
        values = [str(each.value) if isinstance(each, ast.Constant) else "w" for each in first.values]
        return "".join(values)
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""


def language_patterns() -> Iterator[Case]:
    """The entries of the language data that functions read as patterns, with a word for each placeholder."""
    source = "\n".join(path.read_text() for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    uses: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for *name, use in re.findall(r'\bpattern\(\s*"(\w+)",\s*"(\w+)"(?:[^()]*\)\.(\w+))?', source):
        uses[tuple(name)] |= {use} - {""}
    data = {path.stem: read_yaml(path) for path in (ROOT / "nacre/language/en").glob("*.yaml")}
    for file, name in sorted({*uses, *(("patterns", name) for name in data["patterns"])}):
        entry = data[file][name]
        for text in [entry] if isinstance(entry, str) else entry:
            yield Case(f"{file}.yaml {name}", re.sub(r"(?<!\?P)<\w+>", "w", text), 0, method_of(uses[file, name]))


def slow_cases(cases: list[Case], seconds: float) -> Iterator[tuple[Case, str]]:
    """The patterns that take too long, each with the beginning of a text; a process that hangs is replaced."""
    remaining = list(enumerate(cases))
    while remaining:
        lines = [json.dumps({"number": number} | case._asdict()) for number, case in remaining]
        ended = subprocess.run(
            [sys.executable, "-m", "tests.support.pattern_timing", str(seconds)],
            input="\n".join(lines),
            capture_output=True,
            text=True,
            cwd=ROOT,
            timeout=300,
        )
        reports = [json.loads(line) for line in ended.stdout.splitlines()]
        yield from ((cases[each["done"]], each["slow"]) for each in reports if each.get("slow") is not None)
        begun = reports[-1].get("begun") if reports else None
        assert ended.returncode in (0, -signal.SIGPROF), ended.stderr
        if begun is None:
            return
        yield cases[begun], "does not end"
        remaining = [(number, case) for number, case in remaining if number > begun]
