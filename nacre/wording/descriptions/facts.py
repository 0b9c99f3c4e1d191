"""The values and links of things under one predicate, in words and as triples: Variable + Predicate -> WordedFacts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nacre.language.format_values import display_name, has_lowercase_name, is_number_name
from nacre.language.thesaurus import synonyms
from nacre.language.tokens import split_name, tokenize
from nacre.plans.sql.to_sql import to_sql
from nacre.plans.statement import RunStatement
from nacre.records.evidence import Cell, Table
from nacre.records.plan import Attribute, Edge, Filter, Itself, Select, Variable
from nacre.records.schema import Predicate, Schema
from nacre.stores.sqlite.triples import Triple
from nacre.wording.answers.grid import build_grid
from nacre.wording.descriptions.identifying_names import identifying_names
from nacre.wording.labels.class_nouns import class_noun


@dataclass(frozen=True)
class WordedFact:
    """One value or link of one thing in words; `number` if the value is one number."""

    thing: str
    text: str
    triple: Triple
    number: float | None = None


# a sentence and the facts behind it
SentenceFacts = tuple[str, Sequence[WordedFact]]


def word_senses(text: str) -> frozenset[str]:
    """The words of a text in their dictionary forms, with their synonyms."""
    return frozenset(form for token in tokenize(text) for form in synonyms(token.lemma))


def predicate_facts(predicate: Predicate, things: Variable, schema: Schema, run: RunStatement) -> list[WordedFact]:
    """The links of the things by the predicate, or their values if it has no links."""
    return link_facts(predicate, things, schema, run) or value_facts(predicate, things, schema, run)


def value_facts(predicate: Predicate, things: Variable, schema: Schema, run: RunStatement) -> list[WordedFact]:
    """The literals of the things, in the order of their names."""
    if not predicate.has_literals:
        return []
    attribute = Attribute(things.name, predicate.iri)
    select = Select((Itself(things.name), attribute), (things,), (), (Filter(attribute, "known"),))
    table = _table(select, schema, run)
    if table is None:
        return []
    column = build_grid(table, select, schema).columns[-1]
    found = []
    for keys, said, data, row in zip(table.keys, column.texts, column.data, table.rows, strict=True):
        number = data[0] if len(data) == 1 and isinstance(data[0], int | float) else None
        text = f"{said} {column.unit}" if column.unit and said.replace(",", "").replace(".", "").isdigit() else said
        if said:
            found.append(WordedFact(keys[0], text, (keys[0], predicate.iri, str(row[-1])), number))
    return found


def link_facts(
    predicate: Predicate,
    things: Variable,
    schema: Schema,
    run: RunStatement,
    *,
    incoming: bool = False,
    classes: tuple[str, ...] = (),
) -> list[WordedFact]:
    """What the things link to, or with `incoming` what links to them, in the order of names; only of some `classes`."""
    if not predicate.has_links:
        return []
    other = Variable("other" if things.name != "other" else "another", classes)
    ends = (other.name, things.name) if incoming else (things.name, other.name)
    edge = Edge(ends[0], predicate.iri, ends[1])
    table = _table(Select((Itself(things.name), Itself(other.name)), (things, other), (edge,)), schema, run)
    if table is None:
        return []
    found = []
    kind = max((c for c in predicate.ranges if c), key=lambda c: predicate.ranges[c], default="")
    noun = class_noun(Variable("x", (kind,)), schema) if kind in schema.class_of and not incoming else ""
    numbered = [keys[-1] for keys, row in zip(table.keys, table.rows, strict=True) if _is_numbered(keys, row)]
    names = identifying_names(kind, numbered, schema, run) if noun else {}
    small = has_lowercase_name(row[-1] for row in table.rows)
    for keys, row in zip(table.keys, table.rows, strict=True):
        own, far = keys[0], keys[-1]
        triple = (far, predicate.iri, own) if incoming else (own, predicate.iri, far)
        name = names.get(far) or display_name(str(row[-1]), (far,), small=small)
        found.append(WordedFact(own, f"{noun} {name}" if noun and is_number_name(name, (far,)) else name, triple))
    return found


def _is_numbered(keys: tuple[str, ...], row: tuple[Cell, ...]) -> bool:
    return is_number_name(display_name(str(row[-1]), keys[-1:]), keys[-1:])


def strip_kind_prefix(facts: Sequence[WordedFact], predicate: Predicate) -> list[WordedFact]:
    """The facts without the predicate's own label before a colon: "X" for "Feature: X" as a feature."""
    found = []
    for fact in facts:
        before, colon, rest = fact.text.partition(": ")
        same = colon and before.casefold() == split_name(predicate.label).casefold()
        found.append(replace(fact, text=rest) if same else fact)
    return found


def _table(select: Select, schema: Schema, run: RunStatement) -> Table | None:
    statement = to_sql(select, schema)
    found = run(statement)
    if found is None or not found[0]:
        return None
    shown = [i for i, o in enumerate(statement.outputs) if o.role != "key"]
    keys = [i for i, o in enumerate(statement.outputs) if o.role == "key"]
    return Table(
        tuple(statement.outputs[i].name for i in shown),
        tuple(tuple(row[i] for i in shown) for row in found[0]),
        tuple(tuple(str(row[i]) for i in keys) for row in found[0]),
        tuple(statement.outputs[i].unit for i in shown),
    )
