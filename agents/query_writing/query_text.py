"""A query as a model reads it: Query -> text with its parameters in place."""

import re

from nacre.records.evidence import Cell, Query

_PARAMETER = re.compile(r"'(?:[^']|'')*+'|\"[^\"]*+\"|\?")


def query_text(query: Query) -> str:
    """The query on one line, with its parameters as literals.

    >>> query_text(Query("sql", 1, "SELECT a FROM b\\nWHERE c = ? AND d < ?", params=("it's", 3.0)))
    "SELECT a FROM b WHERE c = 'it''s' AND d < 3.0"
    """
    params = iter(query.params)

    def filled(found: re.Match[str]) -> str:
        return _literal(next(params, None)) if found[0] == "?" else found[0]

    text = _PARAMETER.sub(filled, query.text) if query.params else query.text
    return " ".join(text.split())


def _literal(value: Cell) -> str:
    if value is None:
        return "NULL"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)
