"""Lines of code of a pass: a function, or the name of a rule -> lines of what only it needs, about."""

import ast
import inspect
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import nacre.understanding as understanding


def function_lines(function: Callable[..., Any]) -> int:
    """The lines of a function and of the functions of its module that nothing else there uses.

    A lambda counts as the functions that it calls.
    """
    own = inspect.unwrap(function)
    if own.__name__ == "<lambda>" or own.__closure__:
        called = [own.__globals__.get(name) for name in own.__code__.co_names]
        called += [cell.cell_contents for cell in own.__closure__ or ()]
        return sum(function_lines(each) for each in called if inspect.isfunction(each))
    file = Path(inspect.getfile(sys.modules[own.__module__]))
    functions = _functions(file)
    needed, waiting = {own.__name__}, [own.__name__]
    while waiting:
        for name in _names(functions[waiting.pop()]) & functions.keys() - needed:
            if not any(name in _names(node) for other, node in functions.items() if other not in {*needed, name}):
                needed.add(name)
                waiting.append(name)
    return sum(_length(functions[name]) for name in needed)


def rule_lines() -> dict[str, int]:
    """The rules of the parser with the lines of the functions that apply them, shared among the rules of a function."""
    lines: Counter[str] = Counter()
    root = Path(understanding.__path__[0])
    for file in sorted((root / "parsing").rglob("*.py")):
        module = ".".join(("nacre.understanding", *file.relative_to(root).with_suffix("").parts))
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for node in (each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)):
            calls = [_rule(each, module) for each in ast.walk(node) if isinstance(each, ast.Call)]
            rules = [each for each in calls if each]
            lines.update({rule: round(_length(node) / len(rules)) for rule in rules})
    return dict(sorted(lines.items()))


@cache
def _functions(file: Path) -> Mapping[str, ast.FunctionDef]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def _rule(call: ast.Call, module: str) -> str:
    """The name of the rule that a call applies; "" for other calls, and for names that are put together."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "apply_rule" or not call.args:
        return ""
    name = call.args[0]
    if isinstance(name, ast.Name):
        return str(getattr(import_module(module), name.id, ""))
    return str(name.value) if isinstance(name, ast.Constant) else ""


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _length(node: ast.FunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1
