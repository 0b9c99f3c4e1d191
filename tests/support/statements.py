"""The statements of a tree of Python, without its expressions, which are most of it."""

import ast
from collections.abc import Iterator

_KINDS = (ast.stmt, ast.excepthandler, ast.match_case)


def statements(tree: ast.Module) -> Iterator[ast.AST]:
    """On any level, in no order."""
    rest: list[ast.AST] = [tree]
    while rest:
        node = rest.pop()
        yield node
        rest += [each for each in ast.iter_child_nodes(node) if isinstance(each, _KINDS)]
