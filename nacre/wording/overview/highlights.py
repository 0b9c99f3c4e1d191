"""Remarkable facts of a graph: Engine -> the largest, earliest and most linked things, and spans of numbers and dates.

Each fact is the answer to a plan, so that it is worded and cited as any other."""

import time
from collections.abc import Iterator
from itertools import islice

from nacre.errors import ToolError
from nacre.language.base import word_list
from nacre.language.format_values import format_value, is_number_name
from nacre.language.forms.measure_nouns import extreme_adjective
from nacre.language.forms.nouns import join_names, plural
from nacre.language.thesaurus import adjective_concepts, english_data
from nacre.plans.run import QueryRunner, tables_engine
from nacre.plans.sql.provenance import trace_provenance
from nacre.records.evidence import EvidenceSentence, GraphOverview, Table
from nacre.records.plan import Aggregate, Attribute, Edge, Itself, Order, Plan, Select, Variable
from nacre.records.schema import UNNAMED, Class, Predicate, Schema
from nacre.stores.sqlite.tables import Tables
from nacre.wording.answers.answer import verbalise_result
from nacre.wording.answers.sentence import capitalise_first
from nacre.wording.labels.predicate_labels import predicate_label
from nacre.wording.labels.value_kinds import is_amount, is_temporal, nominal_label
from nacre.wording.overview.kinds import Subject, shown_facts, subjects
from nacre.wording.overview.links import class_of_end

BRANCH = "sql"
TITLE = "this graph"
# Highlights, those of one sort, spans, and plans that are tried (given).
MAX_HIGHLIGHTS, MAX_OF_A_SORT, MAX_SPANS, MAX_TRIED = 4, 2, 3, 12
# Things in first place, and members of a class (given).
MAX_TIES, MIN_MEMBERS = 2, 3
# Seconds for all queries, at an ingest and at a question (given).
SECONDS, BOUNDED_SECONDS = 5.0, 0.3
# Letters of a sentence, and triples of its citation (given).
MAX_LETTERS, MAX_TRIPLES = 300, 20


def find_highlights(tables: Tables, *, is_bounded: bool) -> GraphOverview:
    """The remarkable facts and spans of a graph. If it is bounded, each query has the budget of an alternative reading,
    and all have little time."""
    schema = tables.schema
    until = time.monotonic() + (BOUNDED_SECONDS if is_bounded else SECONDS)
    runner = QueryRunner(tables_engine(tables), "what is remarkable", 1, is_bounded)
    found: list[EvidenceSentence] = []
    # one of each sort in turn, until there are enough
    sorts = [_extreme_plans(schema), _earliest_plans(schema), _linked_plans(schema)]
    counts = [0] * len(sorts)
    for place in (0, 1, 2, 0, 2, 1):
        if len(found) == MAX_HIGHLIGHTS or counts[place] == MAX_OF_A_SORT:
            continue
        for plan in sorts[place]:
            if time.monotonic() > until:
                break
            sentence = _answer_sentence(plan, runner, tables)
            if sentence is not None and all(sentence.keys != each.keys for each in found):
                found.append(sentence)
                counts[place] += 1
                break
    spans = spans_sentence(schema)
    return GraphOverview(tuple(found), (spans,) if spans else ())


def spans_sentence(schema: Schema) -> EvidenceSentence | None:
    """The spans of the numbers and years of a graph, those of the most frequent properties; None without any."""
    spans: list[str] = []
    named: list[str] = []
    usual = sorted(shown_facts(schema), key=lambda p: (is_amount(p.iri, schema), -p.subjects, p.iri))
    temporal = [p for p in usual if is_temporal(p.iri, schema)]
    amounts = sorted((p for p in usual if is_measure(p, schema)), key=lambda p: (not _is_money(p), -p.subjects, p.iri))
    for predicate in (*temporal[:1], *amounts[:MAX_SPANS]):
        if len(spans) == MAX_SPANS or predicate.minimum is None or predicate.minimum == predicate.maximum:
            continue
        counted = is_amount(predicate.iri, schema)
        low, high = (
            format_value(int(v) if v is not None and v == int(v) else v, predicate.unit, counted=counted)
            for v in (predicate.minimum, predicate.maximum)
        )
        noun = nominal_label(predicate.iri, schema)
        if noun in named or not _is_noun(noun):
            continue
        named.append(noun)
        spans.append(f"the {plural(noun)}{'' if spans else ' run'} from {low} to {high}")
    if not spans:
        return None
    text = join_names(spans)
    return EvidenceSentence(BRANCH, 1, text=f"{capitalise_first(text)}.", title=TITLE)


def _extreme_plans(schema: Schema) -> Iterator[Plan]:
    """The thing of each main kind that has the highest value of a property; properties with an adjective first."""
    tried = [(subject.own, p) for subject in _subjects(schema) for p in subject.usual if is_measure(p, schema)]
    tried.sort(key=lambda pair: (not _is_money(pair[1]), _lacks_adjective(pair[1], schema)))
    for own, predicate in islice(tried, MAX_TRIED):
        yield _first_plan(own, Attribute("thing", predicate.iri), descending=True)


def _earliest_plans(schema: Schema) -> Iterator[Plan]:
    """The thing of each main kind with the earliest date."""
    tried = [(subject.own, p) for subject in _subjects(schema) for p in subject.usual if is_temporal(p.iri, schema)]
    for own, predicate in islice(tried, MAX_TRIED):
        yield _first_plan(own, Attribute("thing", predicate.iri), descending=False)


def _linked_plans(schema: Schema) -> Iterator[Plan]:
    """The thing that most things link to by one predicate."""
    own = {subject.own.iri for subject in _subjects(schema)}
    tried = [p for p in shown_facts(schema) if p.has_links and p.objects > 1 and not p.pairs_off]
    ends = [(p, class_of_end(p.domains, schema), class_of_end(p.ranges, schema)) for p in tried]
    ends = [end for end in ends if all(end) and end[1] != end[2] and own & set(end[1:])]
    for p, subject, target in islice(sorted(ends, key=lambda end: (-end[0].triples, end[0].iri)), MAX_TRIED):
        variables = (Variable("thing", (target,)), Variable("other", (subject,)))
        order = Order(Aggregate("count", Itself("other")), True)
        edges = (Edge("other", p.iri, "thing"),)
        yield Plan(Select((Itself("thing"),), variables, edges, group=("thing",), order=order, limit=1))


def _first_plan(own: Class, by: Attribute, *, descending: bool) -> Plan:
    return Plan(Select((Itself("thing"),), (Variable("thing", (own.iri,)),), order=Order(by, descending), limit=1))


def _answer_sentence(plan: Plan, runner: QueryRunner, tables: Tables) -> EvidenceSentence | None:
    """The answer to a plan in a sentence with its triples; None if it tells little."""
    body = plan.body
    assert isinstance(body, Select)
    try:
        table = runner.table(body)
        if table is None or not _is_telling(table):
            return None
        text = verbalise_result(plan, table, tables.schema, "").text
        triples = tuple(trace_provenance(plan, table, tables)[:MAX_TRIPLES])
    except ToolError:
        return None
    keys = tuple(dict.fromkeys(key for row in table.keys for key in row))
    title = " and ".join(str(row[0]) for row in table.rows)
    if not text or len(text) > MAX_LETTERS or "\n" in text:
        return None
    return EvidenceSentence(BRANCH, 1, text=text, title=title, keys=keys, triples=triples)


def _is_telling(table: Table) -> bool:
    """Whether few things are first, all of them with names."""
    names = [str(row[0]) for row in table.rows]
    keys = table.keys or ((),) * len(names)
    return 0 < len(names) <= MAX_TIES and not any(
        "://" in name or name == UNNAMED or is_number_name(name, key) for name, key in zip(names, keys, strict=True)
    )


def _subjects(schema: Schema) -> list[Subject]:
    return [subject for subject in subjects(schema) if subject.own.count >= MIN_MEMBERS]


def is_measure(p: Predicate, schema: Schema) -> bool:
    """Whether a property has numbers that can be ranked."""
    return (
        p.datatype in ("integer", "real")
        and p.minimum is not None
        and p.minimum != p.maximum
        and is_amount(p.iri, schema)
        and not is_temporal(p.iri, schema)
        and not set(predicate_label(p.iri, schema).one.split()) & word_list("wording", "unranked")
    )


def _lacks_adjective(p: Predicate, schema: Schema) -> bool:
    return extreme_adjective(predicate_label(p.iri, schema).one, high=True) == "highest"


def _is_noun(label: str) -> bool:
    """Whether a label may stand after "the": it is no quotation, ends in no preposition, and repeats no word."""
    words = label.split()
    return (
        not label.startswith("“")
        and words[-1] not in word_list("wording", "prepositions")
        and len({*words}) == len(words)
    )


def _is_money(p: Predicate) -> bool:
    """Whether a property is an amount of money, by its unit or its name."""
    codes = english_data()["currency_codes"].values()
    return p.unit in codes or not set(p.label.casefold().split()).isdisjoint(adjective_concepts("expensive"))
