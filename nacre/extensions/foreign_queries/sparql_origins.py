"""Where the values of SPARQL come from: the algebra of a query -> an Origin of each value that it shows."""

from collections.abc import Iterator, Mapping
from typing import Any

from nacre.extensions.foreign_queries.origins import NOTHING, WHOLE, Origin

# builtins by how they make a value of their arguments
_BUILTINS = {
    "same": "STR LCASE UCASE ABS ROUND CEIL FLOOR IRI URI",
    "piece": "SUBSTR STRBEFORE STRAFTER ENCODE_FOR_URI",
    "replaced": "REPLACE",
    "joined": "CONCAT",
    "choice": "COALESCE",
    "length": "STRLEN",
    "function": "LANG DATATYPE YEAR MONTH DAY HOURS MINUTES SECONDS TIMEZONE TZ",
    "truth": "BOUND ISIRI ISURI ISBLANK ISLITERAL ISNUMERIC SAMETERM LANGMATCHES CONTAINS STRSTARTS STRENDS REGEX",
}

_OP_OF = {f"BUILTIN_{name}": op for op, names in _BUILTINS.items() for name in names.split()}
_ROUNDED = frozenset(f"BUILTIN_{name}" for name in ("ROUND", "CEIL", "FLOOR"))
_ARGUMENTS = ("arg", "arg1", "arg2", "arg3", "text", "pattern", "replacement")
_XSD = "http://www.w3.org/2001/XMLSchema#"

# the origin of each variable, and whether it has a value in every solution
Bindings = Mapping[Any, tuple[Origin, bool]]


def sparql_origins(query: Any) -> tuple[Origin, ...]:
    """An Origin of each variable that a SELECT shows, or of the truth of an ASK; none for other forms."""
    if query.name == "AskQuery":
        body = query.p.p if query.p.name == "Project" else query.p
        if body.name == "Filter" and _rows(body.p) is NOTHING:
            return (_value(body.expr, {}),)
        return (_exists(_rows(body), "ASK"),)
    if query.name != "SelectQuery":
        return ()
    bound = _bindings(query.p)
    return tuple(bound.get(variable, (NOTHING, False))[0] for variable in query.PV)


def _exists(rows: Origin, text: str) -> Origin:
    return Origin("truth", (Origin("count", (rows,), text),), text)


def _bindings(node: Any) -> Bindings:
    """The variables that a pattern binds."""
    name = node.name
    if name == "BGP":
        return _of_triples(node.triples)
    if name == "Union":
        one = _bindings(node.p1)
        other = _bindings(node.p2)
        found: dict[Any, tuple[Origin, bool]] = {}
        for variable in {**one, **other}:
            both = [each[variable] for each in (one, other) if variable in each]
            certain = len(both) == 2 and both[0][1] and both[1][1]
            found[variable] = (Origin("either", tuple(origin for origin, _ in both)), certain)
        return found
    if name == "Join":
        return _of_join(_bindings(node.p1), _bindings(node.p2), optional=False)
    if name == "LeftJoin":
        return _of_join(_bindings(node.p1), _bindings(node.p2), optional=True)
    if name == "Minus":
        return _bindings(node.p1)
    if name == "Extend":
        inner = _bindings(node.p)
        return {**inner, node.var: (_value(node.expr, inner), True)}
    if name == "values":
        variables = {variable for row in node.res for variable in row}
        return {v: (Origin("either", tuple(_value(row.get(v), {}) for row in node.res)), True) for v in variables}
    if name == "AggregateJoin":
        inner = _bindings(node.p)
        return {each.res: (_aggregate(each, inner, _rows(node.p), str(id(node))), True) for each in node.A}
    if name == "Project":
        inner = _bindings(node.p)
        return {variable: inner[variable] for variable in node.PV if variable in inner}
    return _bindings(node.p) if node.p is not None else {}


def _of_triples(triples: Any) -> Bindings:
    """The variables of triple patterns. A path that may have no steps binds a variable to what stands at its other end,
    stored or not, so another pattern must bind that as well."""
    from rdflib.term import Variable

    bound: dict[Any, tuple[Origin, bool]] = {}
    for triple in sorted(triples, key=lambda each: not _may_be_empty(each[1])):
        for term in triple:
            if isinstance(term, Variable):
                stored = Origin("stored", text=f"{id(triples)} {term}")
                loose = Origin("unknown", text=f"?{term}, which only a path that may have no steps gives,")
                bound[term] = (loose if _may_be_empty(triple[1]) else stored, True)
    return bound


def _may_be_empty(path: Any) -> bool:
    from rdflib.paths import AlternativePath, InvPath, MulPath, SequencePath

    if isinstance(path, MulPath):
        return path.mod in ("*", "?") or _may_be_empty(path.path)
    if isinstance(path, InvPath):
        return _may_be_empty(path.arg)
    if isinstance(path, SequencePath):
        return all(map(_may_be_empty, path.args))
    return isinstance(path, AlternativePath) and any(map(_may_be_empty, path.args))


def _of_join(one: Bindings, other: Bindings, *, optional: bool) -> Bindings:
    """A variable that both sides bind has the same value in both: one side that always has a stored one is enough."""
    found = {**{v: (origin, not optional and certain) for v, (origin, certain) in other.items()}, **one}
    for variable in one.keys() & other.keys():
        if optional and one[variable][1]:
            continue
        sides = (one[variable], other[variable])
        stored = [origin for origin, certain in sides if certain and origin.op == "stored" and not optional]
        origin = stored[0] if stored else Origin("either", tuple(origin for origin, _ in sides))
        found[variable] = (origin, not optional and any(certain for _, certain in sides))
    return found


def _rows(node: Any) -> Origin:
    """Where the solutions of a pattern come from."""
    name = node.name
    if name == "BGP":
        return Origin("stored", text=str(id(node))) if node.triples else NOTHING
    if name == "Union":
        return Origin("every", (_rows(node.p1), _rows(node.p2)))
    if name in ("Join", "LeftJoin"):
        return _rows_of_join(node)
    if name == "values":
        return NOTHING if len(node.res) <= 1 else Origin("unknown", text="What VALUES lists")
    inner = node.p if node.p is not None else node.p1
    rows = _rows(inner) if inner is not None else NOTHING
    if name == "Slice" and node.length is not None:
        return Origin("rows", (rows, Origin("limit", (Origin("number", text=str(node.length)),))))
    return rows


def _rows_of_join(node: Any) -> Origin:
    """A list of VALUES that other patterns bind adds no rows to them if it has none twice."""
    parts = list(_joined(node))
    lists = [part.p for part in parts if part.name == "ToMultiSet" and part.p.name == "values"]
    others = [part for part in parts if not (part.name == "ToMultiSet" and part.p in lists)]
    bound = [each for part in others for each in _bindings(part).items()]
    stored = {variable for variable, (origin, certain) in bound if certain and origin.op == "stored"}
    for each in lists:
        distinct = {tuple(sorted(row.items())) for row in each.res}
        if len(distinct) < len(each.res) or not all(row and row.keys() <= stored for row in each.res):
            others.append(each)
    return Origin("rows", tuple(map(_rows, others)))


def _joined(node: Any) -> Iterator[Any]:
    if node.name in ("Join", "LeftJoin"):
        yield from _joined(node.p1)
        yield from _joined(node.p2)
    else:
        yield node


def _aggregate(node: Any, bound: Bindings, rows: Origin, group: str) -> Origin:
    kind, text = node.name.removeprefix("Aggregate_"), f"{group} {node.distinct} {node.vars}"
    if kind == "Count":
        return Origin("count", (rows,), text)
    value = _value(node.vars, bound)
    if kind == "Sum":
        return Origin("total", (value, rows), text)
    if kind == "GroupConcat":
        # the texts of several solutions are joined, by a space if nothing else is said
        mark = Origin("text", text=" ") if node.separator is None else _value(node.separator, bound)
        return Origin("joined", (value, mark, value))
    if kind == "Avg":
        value = Origin("same", (value,), "decimal")
    return value if kind == "Sample" else Origin("aggregate", (value,), f"{kind} {text}")


def _value(node: Any, bound: Bindings) -> Origin:
    from rdflib.plugins.sparql.parserutils import CompValue
    from rdflib.term import Literal, Variable

    if isinstance(node, Variable):
        return bound.get(node, (NOTHING, False))[0]
    if isinstance(node, Literal):
        return _literal(node)
    if not isinstance(node, CompValue):
        return NOTHING if node is None else Origin("text", text=str(node))
    name, text = node.name, str(node)
    if name.endswith("EXISTS"):
        return _exists(Origin("stored", text=text) if _has_triples(node.graph) else NOTHING, text)
    if name in ("AdditiveExpression", "MultiplicativeExpression"):
        total = _value(node.expr, bound)
        for op, other in zip(node.op, node.other, strict=True):
            total = Origin(op, (total, _value(other, bound)))
        return total
    if name == "UnaryMinus":
        return Origin("*", (_value(node.expr, bound), Origin("number", text="-1")))
    if name == "UnaryPlus":
        return Origin("same", (_value(node.expr, bound),))
    if name == "Function" and str(node.iri).startswith(_XSD):
        kind = str(node.iri).removeprefix(_XSD)
        value = _value(node.expr[0], bound)
        return Origin("same", (value,), WHOLE if kind == "integer" else "" if kind == "string" else kind)
    if name in ("ConditionalAndExpression", "ConditionalOrExpression", "UnaryNot"):
        return Origin("all", tuple(_values(("expr", "other"), node, bound)), text)
    if name == "RelationalExpression":
        return Origin("truth", tuple(_values(("expr", "other"), node, bound)), text)
    if name == "Builtin_NOW":
        return Origin("today")
    arguments = tuple(_values(_ARGUMENTS, node, bound))
    if name == "Builtin_IF":
        return Origin("case", (Origin("all", arguments[:1]), *arguments[1:]))
    op = _OP_OF.get(name.upper())
    if op == "replaced":
        return Origin(op, (arguments[0], _value(node.pattern, bound), _value(node.replacement, bound)), text)
    if op in ("same", "piece"):
        kind = WHOLE if name.upper() in _ROUNDED else "decimal" if name.upper() == "BUILTIN_ABS" else ""
        return Origin(op, arguments[:1], kind if op == "same" else text)
    text = f"{name.removeprefix('Builtin_')} {text}"
    return Origin(op or "unknown", arguments, text if op else f"What {name.removeprefix('Builtin_')} gives")


def _values(names: tuple[str, ...], node: Any, bound: Bindings) -> Iterator[Origin]:
    for name in names:
        part = getattr(node, name)
        for each in part if isinstance(part, list) else [part]:
            if each is not None:
                yield _value(each, bound)


def _literal(literal: Any) -> Origin:
    if str(literal.datatype) == f"{_XSD}boolean":
        return Origin("number", text=str(int(str(literal) in ("true", "1"))))
    try:
        float(literal)
    except ValueError:
        return Origin("text", text=str(literal))
    return Origin("number", text=str(literal)) if literal.datatype is not None else Origin("text", text=str(literal))


def _has_triples(node: Any) -> bool:
    from rdflib.plugins.sparql.parserutils import CompValue

    if isinstance(node, CompValue):
        return bool(node.triples) or any(map(_has_triples, node.values()))
    return isinstance(node, list) and any(map(_has_triples, node))
