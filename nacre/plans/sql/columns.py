"""The columns of a statement: answers of a select + its joins -> expressions with what they show."""

from collections.abc import Sequence

from nacre.plans.sql.joins import JoinBuilder
from nacre.plans.sql.sql_text import SqlText
from nacre.plans.statement import RAW_TEXT_SUFFIX, OutputColumn
from nacre.records.plan import Attribute, Itself
from nacre.records.schema import Schema
from nacre.stores.sqlite.identifiers import quote_identifier

# an SQL expression and what it shows
ShownColumn = tuple[str, OutputColumn]


def answer_columns(term: Attribute | Itself, joins: JoinBuilder, schema: Schema, *, sole: bool) -> list[ShownColumn]:
    """The columns that show an answer, the IRI of its thing first; the `sole` answer has a value in every row."""
    if isinstance(term, Itself):
        alias = joins.label_alias(term.variable)
        return [
            (f"{alias}.iri", OutputColumn("iri", "key", term.variable)),
            (f"{alias}.label", OutputColumn(term.variable, "label", term.variable)),
        ]
    predicate = schema.predicate_of[term.predicate]
    alias, column = joins.literal_column(term.variable, term.predicate)
    name, unit = predicate.label, predicate.unit
    found = [(iri_of(joins.key(term.variable)), OutputColumn("iri", "key", term.variable))]
    if term.part == "" and column.low and column.high and predicate.shape != "single":
        low, high = (f"{alias}.{quote_identifier(end)}" for end in (column.low, column.high))
        found.append((low, OutputColumn(f"{name} (low)", "low", term.variable, unit)))
        found.append((high, OutputColumn(f"{name} (high)", "high", term.variable, unit)))
    else:
        found.append((joins.value(term), OutputColumn(name, "value", term.variable, unit)))
    if column.text and column.text != column.value and term.part not in ("year", "month"):
        text = f"{alias}.{quote_identifier(column.text)}"
        found.append((text, OutputColumn(name + RAW_TEXT_SUFFIX, "text", term.variable)))
    if sole:
        joins.add_condition(SqlText(f"{alias}.{quote_identifier(column.text or column.value)} IS NOT NULL"))
    return found


def value_position(outputs: Sequence[OutputColumn]) -> int:
    """The position of the first column that shows a value."""
    return next(i for i, output in enumerate(outputs) if output.role in ("value", "low", "number"))


def number_columns(expressions: Sequence[str]) -> str:
    """The expressions under the names c0, c1, ..."""
    return ", ".join(f"{expression} AS c{i}" for i, expression in enumerate(expressions))


def column_names(count: int) -> str:
    """The names c0, c1, ... of so many columns."""
    return ", ".join(f"c{i}" for i in range(count))


def iri_of(key: str) -> str:
    """The IRI of the thing with an id."""
    return f"(SELECT iri FROM entity WHERE id = {key})"


def label_of(key: str) -> str:
    """The label of the thing with an id."""
    return f"(SELECT label FROM entity WHERE id = {key})"
