"""Describe a group of things: MemberGroup -> sentences with their number, shared values, and number ranges."""

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import NamedTuple

from nacre.language.values import append_unit, format_value, is_number_name
from nacre.language.word_forms import count_phrase, is_plural, join_names, number_with_noun, plural
from nacre.plans.sql_joins import RunStatement, first_value_index, predicate_column, variable_relation
from nacre.plans.to_sql import means_statement, to_sql
from nacre.records.evidence import EvidenceSentence
from nacre.records.plan import Aggregate, Attribute, Edge, Filter, Itself, Order, Select, Variable
from nacre.records.schema import ONE_TO_ONE_SHARE, Group, Predicate, Schema
from nacre.stores.sqlite.triples import TYPE, Triple
from nacre.wording.facts import SentenceFacts, WordedFact, predicate_facts, strip_kind_prefix, word_senses
from nacre.wording.grid import drop_zero_fraction
from nacre.wording.labels import PredicateLabel, is_describable, predicate_label
from nacre.wording.nouns import class_noun, is_amount, is_temporal
from nacre.wording.plan_phrases import verbalise_select
from nacre.wording.sentence import capitalise_first

MAX_NAMED, MAX_ITEMS, MAX_ITEM_WORDS = 5, 10, 35  # members that a sentence names; items and their words in a list
MAX_LISTS, MAX_SHARED, MAX_NUMBERS = 1, 3, 4  # lists, properties that all members share, and numbers of one sentence

MAX_CITED_TRIPLES = 50


@dataclass(frozen=True)
class MemberGroup:
    """Things by IRI with their names, the select that gives them, and the variable that stands for them."""

    members: Mapping[str, str]
    select: Select
    variable: Variable

    def name(self, schema: Schema) -> str:
        """The group in words: "3 towns whose country is Chile", "3 towns"."""
        answer = self.select.answers[0]
        variable = next(v for v in self.select.variables if isinstance(answer, Itself) and v.name == answer.variable)
        if not variable.keys:
            return f"{len(self.members):,} {verbalise_select(self.select, schema)}"
        names = set(self.members.values())
        called = f" called {names.pop()}" if len(names) == 1 < len(self.members) else ""
        return f"{number_with_noun(len(self.members), class_noun(variable, schema))}{called}"


@dataclass(frozen=True)
class GroupValue:
    """One value of a link: how many members have it, and their facts."""

    text: str
    members: int
    facts: tuple[WordedFact, ...]


def describe_group(group: MemberGroup, topic: set[str], schema: Schema, run: RunStatement) -> list[EvidenceSentence]:
    """How many members there are and who, what all or most have, and the ranges of their numbers; each fact once."""
    sentences: list[SentenceFacts] = [
        (f"There are {group.name(schema)}{_listed_members(group)}.", _membership_facts(group))
    ]
    defining = {edge.predicate for edge in group.select.edges}
    shared: list[tuple[Predicate, list[GroupValue]]] = []
    lists: list[tuple[bool, int, SentenceFacts]] = []
    for predicate in schema.predicates:
        values = [] if predicate.iri in defining else _linked_values(predicate, group, schema, run)
        of_all = [value for value in values if value.members == len(group.members)]
        if of_all:
            shared.append((predicate, of_all[:MAX_ITEMS]))
        of_some = [value for value in values if value.members < len(group.members)]
        if of_some:
            is_off_topic = topic.isdisjoint(word_senses(predicate_label(predicate.iri, schema).one))
            sentence = _list_sentence(predicate, _best_values(of_some, topic), len(of_some), schema)
            lists.append((is_off_topic, -len(of_some), sentence))
    if shared:
        clauses = [
            f"the {_label(predicate, len(values), schema)} {join_names([value.text for value in values])}"
            for predicate, values in shared[:MAX_SHARED]
        ]
        facts = [fact for _, values in shared for value in values for fact in value.facts]
        sentences.append((f"All of them have {join_names(clauses)}.", facts))
    for ranges, part in _statistics(group, schema, run):
        facts = [WordedFact(triple[0], "", triple) for each in ranges for triple in each.triples]
        start = f"across their {number_with_noun(part.count, part.noun)}, " if part is not None else ""
        sentences.append((capitalise_first(f"{start}{range_clauses(ranges, schema, average=True)}."), facts))
    sentences += [sentence for *_, sentence in sorted(lists, key=lambda each: each[:2])[:MAX_LISTS]]
    title, keys = group.name(schema), tuple(group.members)[:MAX_CITED_TRIPLES]
    return [
        EvidenceSentence(
            "sql", 0, text=text, title=title, keys=keys, triples=tuple(f.triple for f in facts[:MAX_CITED_TRIPLES])
        )
        for text, facts in sentences
    ]


def _membership_facts(group: MemberGroup) -> list[WordedFact]:
    """The facts that make the members members: their class, and their links to known things."""
    answer = group.select.answers[0]
    name = answer.variable if isinstance(answer, Itself) else ""
    ends = {v.name: v.keys for v in group.select.variables}
    links = [(e.predicate, ends[e.object][0]) for e in group.select.edges if e.subject == name and ends.get(e.object)]
    conditions = [*((TYPE, class_) for class_ in group.variable.classes[:1]), *links]
    return [WordedFact(iri, "", (iri, predicate, end)) for predicate, end in conditions for iri in group.members]


@dataclass(frozen=True)
class DependentPart:
    """The things that depend on others: a select of the parts, with the others and the links between."""

    noun: str
    select: Select
    count: int

    @property
    def variable(self) -> Variable:
        """The variable that stands for the part's things."""
        return self.select.variables[-1]


@dataclass(frozen=True)
class NumberRange:
    """The lowest and highest number of some things under one predicate, their mean, and the triples of both ends."""

    predicate: Predicate
    low: float
    high: float
    mean: float
    triples: tuple[Triple, ...]

    def phrase(self, schema: Schema) -> str:
        """The range in words: "5 to 7 EUR", "5 EUR"."""
        counted = is_amount(self.predicate.iri, schema)
        low, high = (drop_zero_fraction(x) for x in (self.low, self.high))
        if low == high:
            return format_value(low, self.predicate.unit, counted=counted)
        ends = (format_value(each, counted=counted) for each in (low, high))
        return append_unit(" to ".join(ends), self.predicate.unit)

    def average(self, schema: Schema) -> str:
        """The mean in words; "" for years and dates, and for equal numbers."""
        if self.low == self.high or is_temporal(self.predicate.iri, schema):
            return ""
        return format_value(self.mean, self.predicate.unit, rounded=True)


def _statistics(
    group: MemberGroup, schema: Schema, run: RunStatement
) -> list[tuple[list[NumberRange], DependentPart | None]]:
    """The number ranges of the members, and those of their parts; empty ones are left out."""
    members = DependentPart("", Select((Itself(group.variable.name),), (group.variable,)), len(group.members))
    found = [
        (number_ranges(each or members, schema, run, MAX_NUMBERS), each)
        for each in dict.fromkeys((None, find_part(group.variable, schema, run)))
    ]
    return [(ranges, part) for ranges, part in found if ranges]


def _linked_values(predicate: Predicate, group: MemberGroup, schema: Schema, run: RunStatement) -> list[GroupValue]:
    """What members link to by a predicate, the values of most members first."""
    if not predicate.has_links or not is_describable(predicate, schema):
        return []
    if predicate_label(predicate.iri, schema).kind != "noun" or (predicate.functional and predicate.pairs_off):
        # a value that each member has for itself says nothing about the group
        return []
    facts = strip_kind_prefix(predicate_facts(predicate, group.variable, schema, run), predicate)
    counts = Counter(text for text, _ in {(fact.text, fact.thing) for fact in facts})
    by_text: dict[str, list[WordedFact]] = {}
    for fact in facts:
        by_text.setdefault(fact.text, []).append(fact)
    ordered = sorted(counts.items(), key=lambda count: (-count[1], count[0]))
    return [GroupValue(text, members, tuple(by_text[text])) for text, members in ordered]


def _listed_members(group: MemberGroup) -> str:
    """The names of the members; "" if several share a name, or if names are numbers."""
    names = sorted(set(group.members.values()))
    is_numbered = all(is_number_name(name, (iri,)) for iri, name in group.members.items())
    if len(names) < len(group.members) or is_numbered:
        return ""
    if len(names) <= MAX_NAMED:
        return f": {join_names(names)}"
    return f", among them {join_names(names[: MAX_NAMED - 2])}"


def _list_sentence(predicate: Predicate, values: list[GroupValue], number: int, schema: Schema) -> SentenceFacts:
    """The first values of a predicate that some members have; `number` is how many values there are."""
    label, is_cut = _label(predicate, len(values), schema), number > len(values)
    if is_plural(label):
        be = "include" if is_cut else "are" if len(values) > 1 else "is"
    else:
        be = "includes" if is_cut else "is"
    facts = [fact for value in values for fact in value.facts]
    return f"Their {label} {be} {join_names([value.text for value in values])}.", facts


def _best_values(values: Sequence[GroupValue], topic: set[str]) -> list[GroupValue]:
    """The values of the topic, then those of most members, that fit into one sentence."""
    ordered = sorted(values, key=lambda value: (not topic & word_senses(value.text), -value.members))
    words = accumulate(len(value.text.split()) for value in ordered)
    fitting = [value for value, total in zip(ordered[:MAX_ITEMS], words, strict=False) if total <= MAX_ITEM_WORDS]
    return fitting or ordered[:1]


def _label(predicate: Predicate, number: int, schema: Schema) -> str:
    label = predicate_label(predicate.iri, schema).one
    return plural(label) if number > 1 else label


MAX_RANGES, MIN_FILLED = 5, 0.5  # ranges in a sentence, and the smallest share of the things that must have a number


def find_part(things: Variable, schema: Schema, run: RunStatement) -> DependentPart | None:
    """The things that depend on these by a link that each has once, those with the most numbers; None without any."""
    found: list[tuple[int, Variable, Edge]] = []
    for predicate in schema.predicates:
        if predicate.role != "fact" or not predicate.has_links or not predicate.functional or predicate.pairs_off:
            continue
        part = _dependent_things(predicate, schema)
        if part is None or not set(predicate.ranges) & set(things.classes) or part.classes == things.classes:
            continue
        numbers = len(_number_predicates(part, schema))
        if numbers:
            found.append((numbers, part, Edge(part.name, predicate.iri, things.name)))
    for _, part, edge in sorted(found, key=lambda f: -f[0]):
        select = Select((Itself(part.name),), (things, part), (edge,))
        rows = run(to_sql(replace(select, answers=(Aggregate("count", Itself(part.name)),)), schema))
        count = int(rows[0][0][0] or 0) if rows and rows[0] else 0
        if count:
            return DependentPart(class_noun(part, schema), select, count)
    return None


def linking_class(predicate: Predicate, schema: Schema) -> tuple[tuple[str, ...], str]:
    """The most frequent class that a predicate links from, and its noun; no class if the things have none."""
    kind = max((c for c in predicate.domains if c), key=lambda c: predicate.domains[c], default="")
    classes = (kind,) if kind else ()
    return classes, class_noun(Variable("x", classes), schema)


def is_possession(label: PredicateLabel, own: str) -> bool:
    """Whether a thing, an `own`, has what links to it: a shop type, the "type" of 7 shops, has them."""
    return label.kind == "noun" and f" {own}".endswith(f" {label.one}")


def number_ranges(
    part: DependentPart, schema: Schema, run: RunStatement, most: int = MAX_RANGES, only: Container[str] | None = None
) -> list[NumberRange]:
    """The number ranges of some things and of things paired with them, the furthest from the middle first. If `only` is
    given, the ranges of other predicates are not read."""
    select, variable, count = part.select, part.variable, part.count
    own = _means(select, variable, count, schema, run)
    halves: list[_Mean] = []
    for predicate in schema.predicates:
        half = _paired_things(predicate, variable, schema)
        if half is not None:
            edge = Edge(variable.name, predicate.iri, half.name)
            joined = replace(select, variables=(*select.variables, half), edges=(*select.edges, edge))
            halves += _means(joined, half, count, schema, run)
    halves = halves[: max(most // 2, most - len(own))]
    wanted = [x for x in [*own[: most - len(halves)], *halves] if only is None or x.predicate.iri in only]
    return [each for each in (_number_range(mean, schema, run) for mean in wanted) if each is not None]


class _Mean(NamedTuple):
    """The mean of a predicate over the things of a select that have it."""

    predicate: Predicate
    value: Attribute
    known: Select
    mean: float
    is_single: bool  # all numbers are the same

    @property
    def eccentricity(self) -> float:
        """The distance of the mean from the middle of the predicate's range, as a share of the range: 0 to 0.5."""
        low, high = self.predicate.minimum or 0.0, self.predicate.maximum or 0.0
        return abs(self.mean - (low + high) / 2) / (high - low) if high > low else 0.0


def _means(select: Select, variable: Variable, count: int, schema: Schema, run: RunStatement) -> list[_Mean]:
    """The means of the predicates that enough of the things have, the furthest from the middle first."""
    predicates, relation = _number_predicates(variable, schema), variable_relation(variable, schema)
    found = []
    # the columns of their table are read together
    columns = [each for each in predicates if (column := predicate_column(relation, each.iri)) and column.value]
    for read in filter(None, (columns, *([each] for each in predicates if each not in columns))):
        values = [Attribute(variable.name, each.iri) for each in read]
        rows, _ = run(means_statement(select, variable.name, values, schema)) or ([], False)
        numbers = iter(rows[0] if rows else ())
        for predicate, value, mean, having, low, high in zip(read, values, *[numbers] * 4, strict=False):
            if mean is not None and int(having or 0) >= MIN_FILLED * count:
                is_single = low == high and predicate.shape != "range"
                known = replace(select, filters=(*select.filters, Filter(value, "known")))
                found.append(_Mean(predicate, value, known, float(mean), is_single))
    return sorted(found, key=lambda each: (-each.eccentricity, predicates.index(each.predicate)))


def _number_range(mean: _Mean, schema: Schema, run: RunStatement) -> NumberRange | None:
    predicate, value, known, _, is_single = mean
    ends = []
    for descending in (False,) if is_single else (False, True):
        end = replace(value, part="high" if descending else "low") if predicate.shape == "range" else value
        first = replace(known, answers=(Itself(value.variable), end), order=Order(end, descending), limit=1)
        statement = to_sql(first, schema)
        rows, _ = run(statement) or ([], False)
        at = first_value_index(statement.outputs)
        found = next(((row[at], row[0]) for row in rows if isinstance(row[at], int | float)), None)
        if found is None:
            return None
        ends.append(found)
    (low, first_key), (high, last_key) = ends[0], ends[-1]
    triples = tuple((str(key), predicate.iri, str(number)) for number, key in ((low, first_key), (high, last_key)))
    return NumberRange(predicate, float(low), float(high), mean.mean, triples)  # type: ignore[arg-type]


def _number_predicates(variable: Variable, schema: Schema) -> list[Predicate]:
    possible = _possible_predicates(variable, schema)
    return [
        p
        for p in schema.predicates
        if p.iri in possible
        and p.minimum is not None
        and p.datatype not in ("date", "datetime", "year")
        and is_describable(p, schema)
        and not is_temporal(p.iri, schema)
        and is_amount(p.iri, schema)
        and not (p.datatype == "integer" and (p.minimum, p.maximum) in ((0, 1), (0, 0), (1, 1)))
        and predicate_label(p.iri, schema).kind == "noun"
    ]


def _possible_predicates(variable: Variable, schema: Schema) -> frozenset[str]:
    groups = _groups_of(variable, schema)
    columns = frozenset(c.predicate for g in groups for c in schema.relation_of[g.relation].columns)
    inherited = frozenset(p.iri for p in schema.predicates if set(p.domains) & set(variable.classes))
    return columns if variable.without else columns | inherited


def _groups_of(variable: Variable, schema: Schema) -> list[Group]:
    own, without = set(variable.classes), set(variable.without)
    return [g for g in schema.groups if own <= set(g.classes) and not without & set(g.classes)]


def _dependent_things(predicate: Predicate, schema: Schema) -> Variable | None:
    """The things that have a predicate: their only group, else the smallest class that has all of them."""
    groups = [
        g for g in schema.groups if any(c.predicate == predicate.iri for c in schema.relation_of[g.relation].columns)
    ]
    if len(groups) == 1 and groups[0].classes:
        return Variable("part", groups[0].classes, groups[0].without)
    whole = max(predicate.domains.values(), default=0)
    fitting = [c for c, n in predicate.domains.items() if n == whole and c in schema.class_of]
    kind = min(fitting, key=lambda c: (schema.class_of[c].count, c), default="")
    return Variable("part", (kind,)) if kind else None


def _paired_things(predicate: Predicate, variable: Variable, schema: Schema) -> Variable | None:
    """The things paired with most of the things of a variable by a predicate; None without any."""
    if predicate.role != "fact" or not predicate.has_links or not predicate.functional:
        return None
    if predicate.iri not in _possible_predicates(variable, schema) or not predicate.pairs_off:
        return None
    members = sum(g.count for g in _groups_of(variable, schema))
    kind = max((c for c in predicate.ranges if c), key=lambda c: (predicate.ranges[c], c), default="")
    if predicate.subjects < ONE_TO_ONE_SHARE * members or kind not in schema.class_of or kind in variable.classes:
        return None
    return Variable("half", (kind,))


def range_clauses(
    ranges: Sequence[NumberRange], schema: Schema, *, average: bool = False, of: str = "", noun: str = ""
) -> str:
    """The ranges as clauses: "the price ranges from 5 to 7 EUR, the width from 1 to 2 m and the length is 3 m".

    With `average`, "(6 EUR on average)" follows each range. `of` is the owner: "the price of X is 5 EUR". Names do not
    repeat the `noun` of the things: a payment has an "amount", and no "payment amount".
    """
    clauses = list[str]()
    ranged = False
    for each in ranges:
        predicate = each.predicate
        whole = predicate.datatype == "integer" and not predicate.unit
        name = predicate_label(predicate.iri, schema)
        words = name.one if of else name.full
        label = count_phrase(words.removeprefix(f"{noun.rpartition(' ')[2]} ") if noun else words, counts=whole)
        mean = each.average(schema) if average else ""
        shown = f" ({mean} on average)" if mean else ""
        be = "are" if is_plural(label) else "is"
        if each.low != each.high:
            be = "from" if ranged else "range from" if is_plural(label) else "ranges from"
        ranged = each.low != each.high
        whose = f" of {of}" if of and not clauses else ""
        clauses.append(f"the {label}{whose} {be} {each.phrase(schema)}{shown}")
    return join_names(clauses)
