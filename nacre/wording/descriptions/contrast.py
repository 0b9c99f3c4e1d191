"""Compare two groups in sentences, and say what two things or groups share: MemberGroups -> sentences."""

from collections.abc import Iterator, Sequence

from nacre.language.forms.nouns import is_plural, join_names, plural
from nacre.plans.statement import RunStatement
from nacre.records.evidence import EvidenceSentence
from nacre.records.schema import Schema
from nacre.wording.descriptions.facts import SentenceFacts, WordedFact
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
MAX_NUMBERS, MAX_LISTS = 2, 1
# equal numbers of one sentence, and numbers that are looked at
MAX_EQUAL, ALL_NUMBERS = 4, 40


def contrast_groups(left: MemberGroup, right: MemberGroup, schema: Schema, run: RunStatement) -> list[EvidenceSentence]:
    """The size of each group, the numbers whose means differ most, and the values of only one group."""
    sentences: list[SentenceFacts] = [
        (f"There are {group.name(schema)}.", membership_facts(group)) for group in (left, right)
    ]
    sentences += list(_number_sentences(left, right, schema, run))[:MAX_NUMBERS]
    for own, other, which in ((left, right, "former"), (right, left, "latter")):
        sentences += list(_own_values(own, other, which, schema, run))[:MAX_LISTS]
    return _evidence(sentences, f"{left.name(schema)} and {right.name(schema)}", left, right)


def shared_properties(
    left: MemberGroup, right: MemberGroup, name: str, schema: Schema, run: RunStatement
) -> list[EvidenceSentence]:
    """The values that both have, and their equal numbers; `name` are the words for both."""
    sentences: list[SentenceFacts] = []
    for predicate in schema.predicates:
        theirs = {i.text: i.facts for i in group_values(predicate, right, schema, run)}
        items = [i for i in group_values(predicate, left, schema, run) if i.text in theirs]
        if items:
            label = predicate_label(predicate.iri, schema).one
            shown = limit_values(items)
            noun = plural(label) if len(shown) > 1 else label
            sentences.append(
                (f"{name} share the {noun} {_listed(shown)}.", [f for i in shown for f in (*i.facts, *theirs[i.text])])
            )
    sentences.sort(key=lambda s: -len(s[1]))
    equal = [(a, part) for a, b, part in _shared_ranges(left, right, schema, run) if (a.low, a.high) == (b.low, b.high)]
    for part in dict.fromkeys(part for _, part in equal):
        spans = [a for a, of in equal if of == part][:MAX_EQUAL]
        clauses = [f"{predicate_label(a.predicate.iri, schema).full} ({a.phrase(schema)})" for a in spans]
        of = f"Their {plural(part)} have" if part else f"{name} have"
        facts = [WordedFact(t[0], "", t) for a in spans for t in a.triples]
        sentences.append((f"{of} the same {join_names(clauses)}.", facts))
    return _evidence(sentences, name, left, right)


def _number_sentences(
    left: MemberGroup, right: MemberGroup, schema: Schema, run: RunStatement
) -> Iterator[SentenceFacts]:
    """Sentences about numbers of both, the furthest means first."""
    pairs = [p for p in _shared_ranges(left, right, schema, run) if p[0].mean != p[1].mean]
    for a, b, part in sorted(pairs, key=lambda p: -_distance(p[0], p[1])):
        label = predicate_label(a.predicate.iri, schema).full
        be, verb = ("are", "those") if is_plural(label) else ("is", "that")
        first, second = _mean(a, schema), _mean(b, schema)
        whose = (f"the former's {plural(part)}", "the latter's") if part else ("the former", "the latter")
        text = f"The {label} of {whose[0]} {be} {first}, {verb} of {whose[1]} {second}."
        yield text, [WordedFact(t[0], "", t) for s in (a, b) for t in s.triples]


def _mean(span: NumberRange, schema: Schema) -> str:
    mean = span.average(schema)
    return f"{mean} on average ({span.phrase(schema)})" if mean else span.phrase(schema)


def _shared_ranges(
    left: MemberGroup, right: MemberGroup, schema: Schema, run: RunStatement
) -> Iterator[tuple[NumberRange, NumberRange, str]]:
    """The number ranges that both have, with the noun of the part that has them, "" for their own."""
    theirs = {
        (part.noun if part else "", s.predicate.iri): s
        for spans, part in group_statistics(right, schema, run, ALL_NUMBERS)
        for s in spans
    }
    for spans, part in group_statistics(left, schema, run, ALL_NUMBERS):
        noun = part.noun if part else ""
        for span in spans:
            other = theirs.get((noun, span.predicate.iri))
            if other is not None:
                yield span, other, noun


def _own_values(
    own: MemberGroup, other: MemberGroup, which: str, schema: Schema, run: RunStatement
) -> Iterator[SentenceFacts]:
    """Sentences about values of only one group, the longest list first."""
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


def _distance(a: NumberRange, b: NumberRange) -> float:
    """The distance of two means, as a share of the range of the predicate."""
    low, high = a.predicate.minimum or 0.0, a.predicate.maximum or 0.0
    return abs(a.mean - b.mean) / (high - low) if high > low else 0.0


def _evidence(
    sentences: Sequence[SentenceFacts], title: str, left: MemberGroup, right: MemberGroup
) -> list[EvidenceSentence]:
    keys = (*left.members, *right.members)[:MAX_CITED_TRIPLES]
    return [
        EvidenceSentence(
            "sql", 0, text=text, title=title, keys=keys, triples=tuple(f.triple for f in facts[:MAX_CITED_TRIPLES])
        )
        for text, facts in sentences
    ]
