"""Compare two things, or two groups: members and others -> a table of their properties, what differs first."""

from dataclasses import dataclass

from records.evidence import Rows, Table
from records.plan import Variable
from records.schema import Predicate, Schema
from semantics.facts_of import Fact, Run, facts_of
from semantics.labels_said import is_telling, label_of
from semantics.nouns import joined
from semantics.values_said import say
from semantics.words import fold

PROPERTIES, NAMES, LISTED, WORDS = 30, 4, 5, 12


@dataclass(frozen=True)
class Side:
    """The things on one side, by IRI, what they are called together, and the variable that stands for them."""

    name: str
    things: tuple[str, ...]
    variable: Variable


def comparison(left: Side, right: Side, schema: Schema, run: Run) -> Rows | None:
    """The properties that either side has, as rows of a table, as evidence whose `text` says what differs."""
    rows: list[tuple[str, str, str]] = []
    triples: list[tuple[str, str, str]] = []
    for predicate in schema.predicates:
        if not is_telling(predicate, schema):
            continue
        sides = [facts_of(predicate, side.variable, schema, run) for side in (left, right)]
        said = [_said(facts, predicate, len(side.things)) for facts, side in zip(sides, (left, right), strict=True)]
        if any(said) and all(len(cell.split()) <= WORDS for cell in said):
            rows.append((label_of(predicate.iri, schema).one, said[0] or "–", said[1] or "–"))
            triples += [f.triple for facts in sides for f in facts[:NAMES]]
    rows = _once(rows)
    if not rows:
        return None
    other = [row for row in rows if fold(row[1]) != fold(row[2])]
    rows = sorted(rows, key=lambda row: (row not in other, "–" in row))[:PROPERTIES]
    return Rows(
        "sql",
        0,
        Table(("property", left.name, right.name), tuple(rows), units=("", "", "")),
        text="; ".join(f"{row[0]}: {row[1]} against {row[2]}" for row in rows),
        title=f"{left.name} and {right.name}",
        words=f"how {left.name} and {right.name} compare",
        keys=(*left.things, *right.things)[:50],
        triples=tuple(triples),
    )


def difference(table: Table) -> str:
    """What a comparison shows, in a sentence: what differs, and what is the same.

    >>> difference(Table(("property", "A", "B"), (("price", "5", "6"), ("size", "2", "2"))))
    'A and B differ in price; they have the same size'
    """
    names = joined(table.columns[1:])
    other = [str(row[0]) for row in table.rows if row[1] != row[2] and "–" not in row]
    same = [str(row[0]) for row in table.rows if row[1] == row[2]]
    parts = []
    if other:
        parts.append(f"{names} differ in {_some(other)}")
    if same:
        parts.append(f"{'they' if other else names} have the same {_some(same)}")
    return "; ".join(parts) or f"{names} have no property in common"


def _some(labels: list[str]) -> str:
    more = len(labels) - LISTED
    return joined([*labels[:LISTED], f"{more} more"] if more > 1 else labels)


def _said(facts: list[Fact], predicate: Predicate, things: int) -> str:
    """The value of a thing; of a group the average and the ends of its numbers, or its most common values."""
    numbers = [f.number for f in facts if f.number is not None]
    if things > 1 and len(numbers) == len(facts) > 1:
        low, high, mean = min(numbers), max(numbers), sum(numbers) / len(numbers)
        if low == high:
            return say(low, predicate.unit)
        ends = f"{say(low)} to {say(high, predicate.unit)}"
        return f"{ends}, {say(float(mean), predicate.unit, rounded=True)} on average"
    counts: dict[str, int] = {}
    for fact in facts:
        counts[fact.said] = counts.get(fact.said, 0) + 1
    names = sorted(counts, key=lambda name: -counts[name])
    more = len(names) - NAMES
    return joined([*names[:NAMES], f"{more} more"] if more > 0 else names)


def _once(rows: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Without rows that repeat another: the same cells under a label that shares a word."""
    found: list[tuple[str, str, str]] = []
    for row in rows:
        if not any(row[1:] == other[1:] and set(row[0].split()) & set(other[0].split()) for other in found):
            found.append(row)
    return found
