"""Describe a group of things: its members -> at most six sentences: how many, texts, what they have, their numbers."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from nacre.language.format_values import is_number_name
from nacre.language.forms.nouns import is_plural, join_names, number_with_noun, plural
from nacre.language.thesaurus import synonyms
from nacre.language.tokens import tokenize
from nacre.plans.statement import RunStatement
from nacre.records.evidence import EvidenceSentence
from nacre.records.plan import Itself, Select, Variable
from nacre.records.schema import Predicate, Schema
from nacre.stores.sqlite.triples import TYPE
from nacre.wording.descriptions.facts import WordedFact, predicate_facts, strip_kind_prefix
from nacre.wording.descriptions.part_statistics import (
    MAX_RANGES,
    DependentPart,
    NumberRange,
    find_part,
    number_ranges,
    range_clauses,
)
from nacre.wording.labels.class_nouns import class_noun
from nacre.wording.labels.predicate_labels import is_describable, predicate_label
from nacre.wording.phrases.select import verbalise_select

# members that are named, and items of a list
NAMED, ITEMS, ITEM_WORDS = 5, 10, 35
# lists, and numbers of one sentence
LISTS, NUMBERS = 1, 4
# triples of one sentence
MAX_CITED_TRIPLES = 50


@dataclass(frozen=True)
class MemberGroup:
    """Things by IRI with their names, the select that gives them, and the variable that stands for them."""

    members: dict[str, str]
    select: Select
    variable: Variable

    def name(self, schema: Schema) -> str:
        """ "3 towns whose country is Chile", "3 towns"."""
        answer = self.select.answers[0]
        asked = next(v for v in self.select.variables if isinstance(answer, Itself) and v.name == answer.variable)
        if asked.keys:
            same = set(self.members.values())
            named = f" called {same.pop()}" if len(same) == 1 < len(self.members) else ""
            return f"{number_with_noun(len(self.members), class_noun(asked, schema))}{named}"
        said = verbalise_select(self.select, schema)
        return f"{len(self.members):,} {said}"


@dataclass(frozen=True)
class GroupValue:
    """One value of a link or text: how many members have it, and their facts."""

    text: str
    members: int
    facts: tuple[WordedFact, ...]


def describe_group(group: MemberGroup, topic: set[str], schema: Schema, run: RunStatement) -> list[EvidenceSentence]:
    """How many members there are and who, what all or most have, and the ends of their numbers; each fact once."""
    names = sorted(set(group.members.values()))
    listed = f": {join_names(names)}" if len(names) <= NAMED else f", among them {join_names(names[: NAMED - 2])}"
    if len(names) < len(group.members) or all(is_number_name(name, (iri,)) for iri, name in group.members.items()):
        # names that tell no one from another, and numbers that tell nothing
        listed = ""
    said: list[tuple[str, Sequence[WordedFact]]] = [
        (f"There are {group.name(schema)}{listed}.", membership_facts(group))
    ]
    defining = {e.predicate for e in group.select.edges}
    shared, lists = [], []
    for predicate in schema.predicates:
        items = [] if predicate.iri in defining else group_values(predicate, group, schema, run)
        about = bool(topic & _lemmas(predicate_label(predicate.iri, schema).one)) if items else False
        every = [i for i in items if i.members == len(group.members)]
        if every:
            shared.append((predicate, every[:ITEMS]))
        rest = [i for i in items if i.members < len(group.members)]
        if rest:
            lists.append((about, len(rest), predicate, _chosen(rest, topic)))
    lists.sort(key=lambda x: (not x[0], -x[1]))
    if shared:
        clauses = [
            f"the {_plural(p, len(items), schema)} {join_names([i.text for i in items])}" for p, items in shared[:3]
        ]
        said.append(
            (f"All of them have {join_names(clauses)}.", [f for _, items in shared for i in items for f in i.facts])
        )
    for spans, part in group_statistics(group, schema, run, NUMBERS):
        facts = [WordedFact(t[0], "", t) for span in spans for t in span.triples]
        start = f"across their {number_with_noun(part.count, part.noun)}, " if part is not None else ""
        text = f"{start}{range_clauses(spans, schema, average=True)}."
        said.append((text[:1].upper() + text[1:], facts))
    for _, number, predicate, items in lists[:LISTS]:
        be = "include" if number > len(items) else "are" if len(items) > 1 else "is"
        label = _plural(predicate, len(items), schema)
        if not is_plural(label):
            be = "includes" if number > len(items) else "is"
        said.append((f"Their {label} {be} {join_names([i.text for i in items])}.", [f for i in items for f in i.facts]))
    title = group.name(schema)
    return [
        EvidenceSentence("sql", 0, text=text, title=title, keys=tuple(group.members)[:MAX_CITED_TRIPLES],
            triples=tuple(f.triple for f in facts[:MAX_CITED_TRIPLES]),
        )
        for text, facts in said
    ]  # fmt: skip


def membership_facts(group: MemberGroup) -> list[WordedFact]:
    """That members are what they are, and linked to what makes them members: what their number rests on."""
    answer = group.select.answers[0]
    name = answer.variable if isinstance(answer, Itself) else ""
    ends = {v.name: v.keys for v in group.select.variables}
    links = [(e.predicate, ends[e.object][0]) for e in group.select.edges if e.subject == name and ends.get(e.object)]
    said = [*((TYPE, kind) for kind in group.variable.classes[:1]), *links]
    return [WordedFact(iri, "", (iri, predicate, end)) for predicate, end in said for iri in group.members]


def group_statistics(
    group: MemberGroup, schema: Schema, run: RunStatement, most: int = MAX_RANGES
) -> list[tuple[list[NumberRange], DependentPart | None]]:
    """The numbers of the members, and those of the part that hangs on them."""
    own = Select((Itself(group.variable.name),), (group.variable,))
    found: list[tuple[list[NumberRange], DependentPart | None]] = []
    found.append((number_ranges(own, group.variable, len(group.members), schema, run, most), None))
    part = find_part(group.variable, schema, run)
    if part is not None:
        found.append((number_ranges(part.select, part.variable, part.count, schema, run, most), part))
    return [(spans, part) for spans, part in found if spans]


def group_values(predicate: Predicate, group: MemberGroup, schema: Schema, run: RunStatement) -> list[GroupValue]:
    """What members link to by a predicate, those first that most have."""
    if (
        not predicate.has_links
        or not is_describable(predicate, schema)
        or predicate_label(predicate.iri, schema).kind != "noun"
    ):
        return []
    if predicate.functional and predicate.pairs_off:
        # what each has one of its own of tells nothing of the group
        return []
    facts = strip_kind_prefix(predicate_facts(predicate, group.variable, schema, run), predicate)
    counts = Counter(said for said, _ in {(f.text, f.thing) for f in facts})
    by_name: dict[str, list[WordedFact]] = {}
    for fact in facts:
        by_name.setdefault(fact.text, []).append(fact)
    return [
        GroupValue(said, n, tuple(by_name[said])) for said, n in sorted(counts.items(), key=lambda c: (-c[1], c[0]))
    ]


def _chosen(items: Sequence[GroupValue], topic: set[str]) -> list[GroupValue]:
    """The items that are said: those of the topic, then those that most have."""
    ordered = sorted(items, key=lambda i: (not topic & _lemmas(i.text), -i.members))
    return limit_values(ordered)


def limit_values(items: Sequence[GroupValue]) -> list[GroupValue]:
    """The first items that one sentence holds."""
    found: list[GroupValue] = []
    words = 0
    for item in items[:ITEMS]:
        words += len(item.text.split())
        if found and words > ITEM_WORDS:
            break
        found.append(item)
    return found


def _plural(predicate: Predicate, number: int, schema: Schema) -> str:
    label = predicate_label(predicate.iri, schema).one
    return plural(label) if number > 1 else label


def _lemmas(text: str) -> set[str]:
    return {form for t in tokenize(text) for form in synonyms(t.lemma)}
