"""Name the columns of a model's query in plain words: BranchResult + Schema -> the same rows with readable headings."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from nacre.language.base import word_map
from nacre.language.forms.nouns import plural
from nacre.language.tokens import split_name
from nacre.records.evidence import BranchResult, Rows
from nacre.records.schema import Schema
from nacre.wording.phrases.plan import predicate_words

_LOW, _HIGH = " (low)", " (high)"
_AGGREGATES: Mapping[type[exp.Expr], str] = {exp.Avg: "avg", exp.Sum: "sum", exp.Min: "min", exp.Max: "max"}


class _ColumnMeaning(NamedTuple):
    """What a column shows: the words of its property, which end of a range it is, and whether it has the names of
    things."""

    words: str
    end: str = ""
    is_name: bool = False


def name_columns(found: BranchResult, schema: Schema) -> BranchResult:
    """The rows with headings in words: an alias of the query, the property of a column, or what is computed. Both ends
    of a range that stand side by side are one property."""
    return replace(
        found,
        evidence=tuple(_with_headings(each, schema) if isinstance(each, Rows) else each for each in found.evidence),
    )


def _with_headings(rows: Rows, schema: Schema) -> Rows:
    if rows.query is None:
        return rows
    try:
        query = parse_one(rows.query.text, read="sqlite")
    except SqlglotError:
        return rows
    selects = query.selects if isinstance(query, exp.Query) else []
    if len(selects) != len(rows.table.columns):
        return rows
    columns = schema.cache.get(_schema_columns, lambda: _schema_columns(schema))
    tables = _table_nouns(query, schema)
    shown = [_column_meaning(projection, columns, tables) for projection in selects]
    return replace(rows, table=replace(rows.table, columns=tuple(_heading(shown, i) for i in range(len(shown)))))


def _schema_columns(schema: Schema) -> dict[str, _ColumnMeaning]:
    """What each column name shows that means the same in all tables."""
    found: dict[str, set[_ColumnMeaning]] = {}
    for relation in schema.relations:
        for column in relation.columns:
            if column.predicate not in schema.predicate_of:
                continue
            words = predicate_words(column.predicate, schema)
            is_name = schema.predicate_of[column.predicate].role == "name"
            parts = ((column.value, ""), (column.low, _LOW), (column.high, _HIGH), (column.link, ""))
            for name, end in parts:
                if name:
                    found.setdefault(name.lower(), set()).add(_ColumnMeaning(words, end, is_name))
    return {name: next(iter(shown)) for name, shown in found.items() if len(shown) == 1}


def _table_nouns(query: exp.Expr, schema: Schema) -> dict[str, str]:
    """The nouns of the tables that a query reads, by name and alias."""
    labels = {each.relation: each.label for each in schema.classes}
    labels |= {each.relation: each.label for each in schema.groups}
    return {
        name.lower(): split_name(labels[table.name])
        for table in query.find_all(exp.Table)
        if table.name in labels
        for name in (table.alias_or_name, table.name)
    }


def _column_meaning(
    projection: exp.Expr, columns: Mapping[str, _ColumnMeaning], tables: Mapping[str, str]
) -> _ColumnMeaning:
    alias, inner = projection.alias, projection.unalias()
    if isinstance(inner, exp.Column) and (own := columns.get(inner.name.lower())) is not None:
        if own.is_name and not alias:
            return _ColumnMeaning(tables.get(inner.table.lower(), "") or "name")
        # the ends of a range are one property, whatever they are called
        return own if own.end or not alias else _ColumnMeaning(split_name(alias))
    if alias:
        return _ColumnMeaning(split_name(alias) if " " not in alias else alias)
    if isinstance(inner, exp.Column):
        return _ColumnMeaning(tables.get(inner.table.lower(), "") or "name" if inner.name.lower() == "label" else "")
    if isinstance(inner, exp.Count):
        nouns = [tables.get(each.table.lower(), "") for each in inner.find_all(exp.Column)]
        noun = next(filter(None, nouns), "") or (next(iter(tables.values())) if len(tables) == 1 else "")
        return _ColumnMeaning(f"number of {plural(noun)}" if noun else "number")
    function = _AGGREGATES.get(type(inner), "")
    used = {columns[each.name.lower()] for each in inner.find_all(exp.Column) if each.name.lower() in columns}
    if function and len(used) == 1:
        return _ColumnMeaning(f"{word_map('wording', 'aggregate_adjectives')[function]} {used.pop().words}")
    return _ColumnMeaning("")


def _heading(shown: list[_ColumnMeaning], i: int) -> str:
    """The heading of a column; the ends of a range are marked where both stand side by side."""
    own = shown[i]
    beside = shown[i + 1 : i + 2] if own.end == _LOW else shown[i - 1 : i] if own.end == _HIGH and i else []
    is_pair = any(each.words == own.words and {each.end, own.end} == {_LOW, _HIGH} for each in beside)
    return own.words + (own.end if is_pair else "") if own.words else "value"
