"""Repair a query that found nothing: its conditions + the values of columns -> a Repair."""

from collections.abc import Iterator

from rapidfuzz import fuzz, process
from sqlglot import exp

from nacre.errors import ToolError
from nacre.language.quantities.amounts import find_amounts
from nacre.language.quantities.units import convert_unit
from nacre.language.tokens import fold
from nacre.records.evidence import Cell
from nacre.records.schema import Column, Predicate
from nacre.stores.sqlite.tables import Tables
from tools.guards.sql_guard import sql_text
from tools.repair.repair_query import Repair, query_relations

NEAR_SCORE = 80
VALUES = 3000
SHOWN = 5


def repair_empty(query: exp.Query, tables: Tables, seconds: float) -> Repair | None:
    """The repair of a query without rows; None if every condition can be met: then the empty result is the answer.

    Numbers written as text become numbers in the column's unit, misspelt values become values of the column.
    """
    try:
        return (
            _repair_units(query, tables)
            or _repair_spelling(query, tables, seconds)
            or _find_excluding_condition(query, tables, seconds)
        )
    except ToolError:
        # the query is used as it is if the check takes too long
        return None


def _repair_units(query: exp.Query, tables: Tables) -> Repair | None:
    """Text as numbers: "weight > '2 t'" matches nothing if weights are numbers of kg."""
    fixed, hints = query.copy(), list[str]()
    for literal, _, predicate, _ in _text_comparisons(fixed, tables):
        amounts = find_amounts(literal.name)
        if predicate is None or predicate.datatype not in ("integer", "real") or len(amounts) != 1:
            continue
        unit = amounts[0].unit
        value = convert_unit(amounts[0].value, unit, predicate.unit) if unit and predicate.unit else amounts[0].value
        if value is not None:
            hints.append(f"{literal.name!r} is {value:.10g}{f' {predicate.unit}' if predicate.unit else ''} here")
            literal.replace(exp.Literal.number(f"{value:.10g}"))
    return Repair("type", f"{'; '.join(hints)}.", sql_text(fixed)) if hints else None


def _repair_spelling(query: exp.Query, tables: Tables, seconds: float) -> Repair | None:
    """Unknown values replaced by the nearest values of their columns; a hint with the values if none is near."""
    fixed, hints, unknown = query.copy(), list[str](), list[str]()
    for literal, column, _, relation in _text_comparisons(fixed, tables):
        text = literal.name.strip("%")
        values = [str(v) for v in _values(relation, column, tables, seconds)]
        if not text or any(_matches(literal.name, value) for value in values):
            continue
        folded = {fold(value): value for value in values}
        best = process.extractOne(fold(text), list(folded), scorer=fuzz.ratio, score_cutoff=NEAR_SCORE)
        if best:
            hints.append(f"{text!r} is spelt {folded[best[0]]!r}")
            # the column may be compared in lower case
            lower = literal.find_ancestor(exp.EQ, exp.In, exp.Like, exp.ILike)
            new = folded[best[0]]
            small = lower is not None and lower.find(exp.Lower) is not None
            literal.replace(exp.Literal.string(new.lower() if small else new))
        elif values:
            unknown.append(f"No {column} is {text!r}; there are {', '.join(map(repr, values[:SHOWN]))}.")
    if hints:
        return Repair("value", f"{'; '.join(hints)}.", sql_text(fixed))
    return Repair("value", " ".join(unknown)) if unknown else None


def _find_excluding_condition(query: exp.Query, tables: Tables, seconds: float) -> Repair | None:
    """A hint about the one condition without which there are rows."""
    where = query.args.get("where")
    conditions = list(where.this.flatten()) if where is not None and isinstance(where.this, exp.And) else []
    for condition in conditions if len(conditions) > 1 else ():
        rest = [each.copy() for each in conditions if each is not condition]
        less = query.copy()
        less.set("where", exp.Where(this=exp.and_(*rest)))
        if tables.run(sql_text(less), limit=1, seconds=seconds).rows:
            return Repair("overfiltered", f"No rows; without {sql_text(condition)} there are some.")
    return None


def _text_comparisons(query: exp.Query, tables: Tables) -> Iterator[tuple[exp.Literal, str, Predicate | None, str]]:
    """Each text that a column is compared with: the literal, the column, its predicate and its relation."""
    schema = tables.schema
    relations = query_relations(query, schema)
    for literal in list(query.find_all(exp.Literal)):
        compares = literal.find_ancestor(exp.EQ, exp.In, exp.Like, exp.ILike, exp.GT, exp.GTE, exp.LT, exp.LTE)
        column = compares.find(exp.Column) if compares is not None and literal.is_string else None
        if column is None or compares is None or compares.find(exp.Select):
            continue
        for alias, relation in relations.items():
            if column.table.lower() not in ("", alias):
                continue
            if relation.name == "entity" and column.name.lower() == "label":
                yield literal, "label", None, "entity"
                break
            own = next((c for c in relation.columns if column.name.lower() in _names(c)), None)
            if own is not None:
                yield literal, column.name, schema.predicate_of.get(own.predicate), relation.name
                break


def _names(column: Column) -> list[str]:
    return [name.lower() for name in (column.value, column.low, column.high, column.text) if name]


def _values(relation: str, column: str, tables: Tables, seconds: float) -> list[Cell]:
    name, of = (exp.to_identifier(text, quoted=True).sql("sqlite") for text in (column, relation))
    query = f"SELECT DISTINCT {name} FROM {of} WHERE {name} IS NOT NULL"
    return [row[0] for row in tables.run(query, limit=VALUES, seconds=seconds).rows]


def _matches(pattern: str, value: str) -> bool:
    """Whether a value matches a LIKE or =, ignoring case."""
    wanted, own = fold(pattern.strip("%")), fold(value)
    return wanted in own if "%" in pattern else wanted == own
