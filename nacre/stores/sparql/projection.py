"""The columns that a SELECT asks for: its text -> the names of its variables in their order, or None."""

import re

_SELECT = re.compile(r"(?<![?$\w:])SELECT\b(?P<columns>[^{]*)", re.IGNORECASE)
_END = re.compile(r"(?<![?$\w:])(?:WHERE|FROM)\b.*", re.IGNORECASE | re.DOTALL)
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*+"?|\'(?:[^\'\\]|\\.)*+\'?|<[^<>\s]*+>', re.DOTALL)
# names of variables: VARNAME in SPARQL 1.1, section 19.8
_PART = re.compile(
    r"(?P<mark>[()*])|(?P<as>\bAS\s+)?[?$](?P<name>[\w\u00b7\u0300-\u036f\u203f\u2040]++)", re.IGNORECASE
)


def projected_names(query: str) -> tuple[str, ...] | None:
    """The names of the columns of a SELECT; None for SELECT *, and for an expression that contains a group.

    >>> projected_names('SELECT DISTINCT ?s (COUNT(DISTINCT ?o) AS ?n) WHERE { ?s ?p ?o }')
    ('s', 'n')
    >>> projected_names("SELECT * { ?s ?p ?o }"), projected_names("SELECT (EXISTS { ?s ?p ?o } AS ?x) {}")
    (None, None)
    """
    found = _SELECT.search(query)
    columns = _END.sub("", _QUOTED.sub("", found["columns"])) if found else ""
    names, depth = list[str](), 0
    for part in _PART.finditer(columns):
        if part["mark"] == "*" and depth == 0:
            return None
        depth += {"(": 1, ")": -1}.get(part["mark"] or "", 0)
        if part["name"] and (depth == 0 or (depth == 1 and part["as"])):
            names.append(part["name"])
    return tuple(names) if names and depth == 0 else None
