"""Compare two groups in prose, and say what two things or groups share: Groups -> sentences with their triples."""

from collections.abc import Iterator, Sequence

from nacre.language.forms.nouns import is_plural, join_names, plural
from nacre.plans.statement import RunStatement
from nacre.records.evidence import EvidenceSentence
from nacre.records.schema import Schema
from nacre.wording.descriptions.facts import WordedFact
from nacre.wording.descriptions.group import (
    MAX_CITED_TRIPLES,
    GroupValue,
    MemberGroup,
    group_statistics,
    group_values,
    limit_values,
    membership_facts,
)
from nacre.wording.descriptions.part_statistics import NumberRange
from nacre.wording.labels.predicate_labels import predicate_label

# numbers that are compared, and lists on either side
NUMBERS, LISTS = 2, 1
# numbers that are the same, and those that are looked at
EQUAL, ALL = 4, 40

SentenceFacts = tuple[str, Sequence[WordedFact]]


def contrast_groups(left: MemberGroup, right: MemberGroup, schema: Schema, run: RunStatement) -> list[EvidenceSentence]:
    """How many things either group has, the numbers whose means differ the most, and what only one of them has."""
    said: list[SentenceFacts] = [
        (f"There are {group.name(schema)}.", membership_facts(group)) for group in (left, right)
    ]
    said += list(_numbers(left, right, schema, run))[:NUMBERS]
    for own, other, which in ((left, right, "former"), (right, left, "latter")):
        said += list(_only(own, other, which, schema, run))[:LISTS]
    return _evidence(said, f"{left.name(schema)} and {right.name(schema)}", left, right)


def shared_properties(
    left: MemberGroup, right: MemberGroup, name: str, schema: Schema, run: RunStatement
) -> list[EvidenceSentence]:
    """What members of both have, and the numbers that are equal; `name` says both together."""
    said: list[SentenceFacts] = []
    for predicate in schema.predicates:
        theirs = {i.text: i.facts for i in group_values(predicate, right, schema, run)}
        items = [i for i in group_values(predicate, left, schema, run) if i.text in theirs]
        if items:
            label = predicate_label(predicate.iri, schema).one
            shown = limit_values(items)
            noun = plural(label) if len(shown) > 1 else label
            said.append(
                (f"{name} share the {noun} {_listed(shown)}.", [f for i in shown for f in (*i.facts, *theirs[i.text])])
            )
    said.sort(key=lambda s: -len(s[1]))
    equal = [(a, part) for a, b, part in _pairs(left, right, schema, run) if (a.low, a.high) == (b.low, b.high)]
    for part in dict.fromkeys(part for _, part in equal):
        spans = [a for a, of in equal if of == part][:EQUAL]
        clauses = [f"{predicate_label(a.predicate.iri, schema).full} ({a.phrase(schema)})" for a in spans]
        of = f"Their {plural(part)} have" if part else f"{name} have"
        facts = [WordedFact(t[0], "", t) for a in spans for t in a.triples]
        said.append((f"{of} the same {join_names(clauses)}.", facts))
    return _evidence(said, name, left, right)


def _numbers(left: MemberGroup, right: MemberGroup, schema: Schema, run: RunStatement) -> Iterator[SentenceFacts]:
    """The numbers of both, those first whose means lie the furthest apart."""
    pairs = [p for p in _pairs(left, right, schema, run) if p[0].mean != p[1].mean]
    for a, b, part in sorted(pairs, key=lambda p: -_apart(p[0], p[1])):
        label = predicate_label(a.predicate.iri, schema).full
        be, verb = ("are", "those") if is_plural(label) else ("is", "that")
        first, second = _mean(a, schema), _mean(b, schema)
        whose = (f"the former's {plural(part)}", "the latter's") if part else ("the former", "the latter")
        text = f"The {label} of {whose[0]} {be} {first}, {verb} of {whose[1]} {second}."
        yield text, [WordedFact(t[0], "", t) for s in (a, b) for t in s.triples]


def _mean(span: NumberRange, schema: Schema) -> str:
    mean = span.average(schema)
    return f"{mean} on average ({span.phrase(schema)})" if mean else span.phrase(schema)


def _pairs(
    left: MemberGroup, right: MemberGroup, schema: Schema, run: RunStatement
) -> Iterator[tuple[NumberRange, NumberRange, str]]:
    """The numbers that both have, with the noun of the part whose they are, "" for their own."""
    theirs = {
        (part.noun if part else "", s.predicate.iri): s
        for spans, part in group_statistics(right, schema, run, ALL)
        for s in spans
    }
    for spans, part in group_statistics(left, schema, run, ALL):
        noun = part.noun if part else ""
        for span in spans:
            other = theirs.get((noun, span.predicate.iri))
            if other is not None:
                yield span, other, noun


def _only(
    own: MemberGroup, other: MemberGroup, which: str, schema: Schema, run: RunStatement
) -> Iterator[SentenceFacts]:
    """What members of one group alone have, the longest list first."""
    defining = {e.predicate for g in (own, other) for e in g.select.edges}
    found: list[tuple[int, str, list[GroupValue]]] = []
    for predicate in schema.predicates:
        if predicate.iri in defining:
            continue
        theirs = {i.text for i in group_values(predicate, other, schema, run)}
        items = [i for i in group_values(predicate, own, schema, run) if i.text not in theirs]
        if items:
            found.append((len(items), predicate_label(predicate.iri, schema).one, limit_values(items)))
    for number, label, items in sorted(found, key=lambda f: (-f[0], f[1])):
        be = "include" if number > len(items) else "are" if number > 1 else "is"
        noun = plural(label) if number > 1 else label
        if number > 1 and noun == label and not is_plural(label):
            be = "includes" if number > len(items) else "is"
        facts = [f for i in items for f in i.facts]
        yield f"The {noun} that only the {which} have {be} {_listed(items)}.", facts


def _listed(items: Sequence[GroupValue]) -> str:
    return join_names([i.text for i in items])


def _apart(a: NumberRange, b: NumberRange) -> float:
    """How far two means lie apart, as a share of all numbers of the predicate."""
    low, high = a.predicate.minimum or 0.0, a.predicate.maximum or 0.0
    return abs(a.mean - b.mean) / (high - low) if high > low else 0.0


def _evidence(
    said: Sequence[SentenceFacts], title: str, left: MemberGroup, right: MemberGroup
) -> list[EvidenceSentence]:
    keys = (*left.members, *right.members)[:MAX_CITED_TRIPLES]
    return [
        EvidenceSentence(
            "sql", 0, text=text, title=title, keys=keys, triples=tuple(f.triple for f in facts[:MAX_CITED_TRIPLES])
        )
        for text, facts in said
    ]
