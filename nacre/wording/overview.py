"""A graph as a whole, as far as a turn wants it: Schema + GraphOverview -> sentences, in the order of the answer.

Each remarkable fact is the answer to a plan, so that it is worded and cited as any other.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import islice
from math import log

from nacre.errors import ToolError
from nacre.language.data import load_language_data, load_language_texts, word_list, word_map
from nacre.language.small_talk import intents
from nacre.language.thesaurus import adjective_concepts, english_data
from nacre.language.translation import fill_template, join_translated, translated_plural
from nacre.language.values import format_date, format_value, is_number_name
from nacre.language.word_forms import extreme_adjective, join_names, number_with_noun, plural, with_indefinite_article
from nacre.plans.run import Engine, QueryRunner, tables_engine
from nacre.plans.to_sql import trace_provenance
from nacre.records.evidence import EvidenceSentence, GraphOverview, Table
from nacre.records.plan import Aggregate, Attribute, Edge, Itself, Order, Plan, Select, Variable
from nacre.records.schema import UNNAMED, Class, Group, Predicate, Schema
from nacre.stores.sqlite.tables import Tables, quote_identifier
from nacre.stores.sqlite.triples import TYPE, StatedTriples, Triple, TripleReader
from nacre.wording.answer import verbalise_result
from nacre.wording.clauses import pair_phrase
from nacre.wording.labels import is_describable, predicate_label
from nacre.wording.nouns import class_noun, is_amount, is_temporal, nominal_label
from nacre.wording.sentence import capitalise_first
from nacre.wording.translations import (
    class_label,
    english_schema,
    translated_literal,
    translated_number,
    translated_property,
)

MAX_EXAMPLES, MAX_FACTS = 3, 2  # Questions that are offered, and remarkable facts in an overview (given).
EXAMPLES = "example questions"  # The title of the sentence that offers questions; it is no statement of the graph.


def overview_sentences(wanted: str, engine: Engine, round: int) -> tuple[EvidenceSentence, ...]:
    """The sentences of an answer to `wanted`, an intent; none for small talk."""
    if wanted in intents("small_talk"):
        return ()
    schema = engine.schema
    prepared = graph_overview(engine)
    texts = list(_overview_texts(wanted, schema))
    whole = [EvidenceSentence(engine.tool, round, text=text, title=TITLE) for text in texts if text]
    if wanted == "interesting":
        sentences = [*(prepared.highlights or prepared.spans), *whole]
    elif wanted == "contents":
        origin = origin_sentence(engine)
        sentences = [*whole, *prepared.spans, *prepared.highlights[:MAX_FACTS], *([origin] if origin else [])]
    else:
        sentences = whole
    offered = [EvidenceSentence(engine.tool, round, text=text, title=EXAMPLES) for text in _offer(prepared, schema)]
    placed = enumerate([*sentences, *offered])
    return tuple(replace(each, branch=engine.tool, round=round, score=1.0 - place / 100) for place, each in placed)


def graph_overview(engine: Engine) -> GraphOverview:
    """What the ingest prepared; else what a few bounded queries find once, but none on a remote graph."""
    if engine.tables is None:
        spans = spans_sentence(engine.schema)
        return GraphOverview(spans=(spans,) if spans else ())
    tables = engine.tables
    if tables.overview is not None:
        return tables.overview
    return engine.schema.cache.get(graph_overview, lambda: find_highlights(tables, is_bounded=True))


def _overview_texts(wanted: str, schema: Schema) -> Iterator[str]:
    has_list = wanted in intents("about_graph") or not main_kinds(schema)
    yield kinds_sentence(schema) if has_list else f"This graph is about {_about(schema)}."
    if wanted == "contents":
        links = links_sentence(main_kinds(schema), schema)
        yield links
        yield "" if links else properties_sentence(subjects(schema), schema)


def _offer(prepared: GraphOverview, schema: Schema) -> Iterator[str]:
    """One sentence with questions that the graph answers, if there are any."""
    questions = [*prepared.examples, *(q for q in _plain_questions(schema) if q not in prepared.examples)]
    if questions:
        quoted = [f"“{question}”" for question in questions[:MAX_EXAMPLES]]
        yield f"You can ask, for example: {join_names(quoted, 'or')}"


def _plain_questions(schema: Schema) -> Iterator[str]:
    for subject in subjects(schema):
        best = next((p for p in subject.usual if is_measure(p, schema)), None)
        if best is not None:
            yield f"Which {subject.noun} has the highest {predicate_label(best.iri, schema).one}?"
        yield f"How many {subject.many} are there?"
    for subject in subjects(schema):
        yield f"Which {subject.many} are there?"


MAX_KINDS, MAX_GROUPS = 8, 32  # Kinds that a sentence lists, and tables that are looked at for them (given).
MAX_SUBJECTS = 3  # Kinds that say what a graph is about (given).
MAX_NOUN = 50  # Letters of a noun that a sentence may have (given).
MIN_SHARE = 0.5  # Share of the things of a class that have its usual properties (given).


@dataclass(frozen=True)
class MainKind:
    """A kind of things: its noun, its number of things, and its most specific class (None for things without one)."""

    noun: str
    count: int
    own: Class | None

    @property
    def many(self) -> str:
        """The noun for several."""
        return plural(self.noun)


@dataclass(frozen=True)
class Subject:
    """A class that a graph is about, with its noun and the properties that most of its things have."""

    own: Class
    noun: str
    usual: tuple[Predicate, ...]

    @property
    def many(self) -> str:
        """The noun for several."""
        return plural(self.noun)


def main_kinds(schema: Schema) -> tuple[MainKind, ...]:
    """The kinds that hold most things, one for each noun; without hidden ones and unwieldy nouns."""
    return schema.cache.get(main_kinds, lambda: _main_kinds(schema))


def subjects(schema: Schema) -> tuple[Subject, ...]:
    """The classes of the main kinds that a graph is about: those of many things with many properties come first."""
    return schema.cache.get(subjects, lambda: _main_subjects(schema))


def kinds_sentence(schema: Schema) -> str:
    """What a graph is about, in one sentence; a graph without things says how it gets some."""
    kinds = main_kinds(schema)
    if not kinds:
        if schema.entities:
            return (
                f"This graph holds {number_with_noun(schema.entities, 'thing')} in "
                f"{number_with_noun(schema.triples, 'statement')}, and it does not say what kinds of things they are."
            )
        return (
            "This graph holds no things and no statements yet, so there is nothing in it to ask about; "
            "it can be filled by reading in a file of data."
        )
    about = _about(schema)
    more = len({group.label for group in _shown_groups(schema)}) - len(kinds)
    listed = [number_with_noun(kind.count, kind.noun) for kind in kinds]
    listed += [f"{more:,} more kinds of things" if more > 1 else "another kind of things"] if more > 0 else []
    whole = f"{number_with_noun(schema.entities, 'thing')} in {number_with_noun(schema.triples, 'statement')}"
    if len(listed) == 1:
        return (
            f"This graph is about {about}: it holds {listed[0]}, with {number_with_noun(schema.triples, 'statement')}."
        )
    return f"This graph is about {about}. It holds {join_names(listed)}: {whole} in all."


def _about(schema: Schema) -> str:
    nouns = [subject.many for subject in subjects(schema)] or [kind.many for kind in main_kinds(schema)]
    return join_names(nouns[:MAX_SUBJECTS])


def _main_subjects(schema: Schema) -> tuple[Subject, ...]:
    found: dict[str, Subject] = {}
    for own in dict.fromkeys(kind.own for kind in main_kinds(schema) if kind.own is not None):
        noun = class_noun(Variable("thing", (own.iri,)), schema)
        usual = [p for p in shown_facts(schema) if p.domains.get(own.iri, 0) >= max(1, MIN_SHARE * own.count)]
        usual.sort(key=lambda p: (-p.domains[own.iri], p.iri))
        if noun and len(noun) <= MAX_NOUN:
            found.setdefault(noun, Subject(own, noun, tuple(usual)))
    return tuple(sorted(found.values(), key=lambda s: (-log(1 + s.own.count) * (1 + len(s.usual)), s.noun)))


def shown_facts(schema: Schema) -> list[Predicate]:
    """The predicates that an overview may mention."""
    return schema.cache.get(shown_facts, lambda: [p for p in schema.shown_predicates if is_describable(p, schema)])


def _main_kinds(schema: Schema) -> tuple[MainKind, ...]:
    found: dict[str, MainKind] = {}
    for group in _shown_groups(schema)[:MAX_GROUPS]:
        noun = class_noun(Variable("thing", group.classes, group.without), schema)
        if not noun or len(noun) > MAX_NOUN:
            continue
        earlier = found.get(noun)
        count = group.count + (earlier.count if earlier else 0)
        found[noun] = MainKind(noun, count, earlier.own if earlier else schema.smallest_class(group.classes))
    return tuple(sorted(found.values(), key=lambda kind: (-kind.count, kind.noun)))[:MAX_KINDS]


def _shown_groups(schema: Schema) -> list[Group]:
    hidden = {c.iri for c in schema.classes if c.hidden}
    shown = [
        group
        for group in schema.groups
        if group.count and group.classes and group.relation not in schema.hidden_relations
        if not hidden.intersection(group.classes)
    ]
    return sorted(shown, key=lambda group: (-group.count, group.label, group.relation))


# Links that a sentence lists, properties of a kind, and kinds whose properties are listed (given).
MAX_LINKS, MAX_PROPERTIES, MAX_DESCRIBED = 3, 6, 2


def links_sentence(kinds: Sequence[MainKind], schema: Schema) -> str:
    """Which kinds are linked, the most frequent links first; "" without links."""
    phrases: dict[tuple[str, str], str] = {}
    for predicate in sorted(shown_facts(schema), key=lambda p: (-p.triples, p.iri)):
        if len(phrases) == MAX_LINKS:
            break
        if not predicate.has_links:
            continue
        ends = tuple(class_of_end(end, schema) for end in (predicate.domains, predicate.ranges))
        nouns = tuple(class_noun(Variable("x", (iri,)), schema) if iri else "" for iri in ends)
        subject, target = (next((k.many for k in kinds if k.noun == noun), "") for noun in nouns)
        if not (subject or target) or not all(nouns) or (nouns[0], nouns[1]) in phrases:
            continue
        label = predicate_label(predicate.iri, schema)
        if label.one.split()[0] in word_list("wording", "prepositions"):
            continue
        phrase = pair_phrase(label, plural(nouns[0]), plural(nouns[1]), backward=False)
        if phrase and len(phrase) <= 3 * MAX_NOUN:
            phrases[nouns[0], nouns[1]] = phrase
    return f"It connects {join_names(list(phrases.values()))}." if phrases else ""


def properties_sentence(found: Sequence[Subject], schema: Schema) -> str:
    """The properties of what a graph is about; "" without any."""
    parts: list[str] = []
    for subject in found:
        names = list(dict.fromkeys(predicate_label(p.iri, schema).one for p in subject.usual))
        names = [name for name in names if len(name) <= MAX_NOUN][:MAX_PROPERTIES]
        if names and len(parts) < MAX_DESCRIBED:
            parts.append(f"of {with_indefinite_article(subject.noun)} the {join_names(names)}")
    return f"It states, for example, {join_names(parts)}." if parts else ""


def class_of_end(ends: Mapping[str, int], schema: Schema) -> str:
    """The most specific class that has all the subjects or objects of a predicate; "" if none has."""
    most = max(ends.values(), default=0)
    own = schema.smallest_class(iri for iri, count in ends.items() if count == most)
    return own.iri if own is not None else ""


BRANCH = "sql"
TITLE = "this graph"

# Highlights, those of one sort, spans, and plans that are tried (given).
MAX_HIGHLIGHTS, MAX_OF_A_SORT, MAX_SPANS, MAX_TRIED = 4, 2, 3, 12

MAX_TIES, MIN_MEMBERS = 2, 3  # Things in first place, and members of a class (given).
SECONDS, BOUNDED_SECONDS = 5.0, 0.3  # Seconds for all queries, at an ingest and at a question (given).
MAX_LETTERS, MAX_TRIPLES = 300, 20  # Letters of a sentence, and triples of its citation (given).


def find_highlights(tables: Tables, *, is_bounded: bool) -> GraphOverview:
    """The remarkable facts and spans of a graph, within little time and small budgets if it is bounded."""
    schema = tables.schema
    until = time.monotonic() + (BOUNDED_SECONDS if is_bounded else SECONDS)
    runner = QueryRunner(tables_engine(tables), "what is remarkable", 1, is_bounded)
    found: list[EvidenceSentence] = []
    # one of each sort in turn, until there are enough
    sorts = [_first_plans(schema, descending=True), _first_plans(schema, descending=False), _linked_plans(schema)]
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


def _first_plans(schema: Schema, *, descending: bool) -> Iterator[Plan]:
    """The thing of each main kind with the highest value, or the earliest date; properties with an adjective first."""
    usual = [(subject.own, p) for subject in _large_subjects(schema) for p in subject.usual]
    tried = [(own, p) for own, p in usual if (is_measure(p, schema) if descending else is_temporal(p.iri, schema))]
    if descending:
        labels = {p.iri: predicate_label(p.iri, schema).one for _, p in tried}
        plain = {iri for iri, label in labels.items() if extreme_adjective(label, high=True) == "highest"}
        tried.sort(key=lambda pair: (not _is_money(pair[1]), pair[1].iri in plain))
    for own, predicate in islice(tried, MAX_TRIED):
        order = Order(Attribute("thing", predicate.iri), descending)
        yield Plan(Select((Itself("thing"),), (Variable("thing", (own.iri,)),), order=order, limit=1))


def _linked_plans(schema: Schema) -> Iterator[Plan]:
    """The thing that most things link to by one predicate."""
    own = {subject.own.iri for subject in _large_subjects(schema)}
    tried = [p for p in shown_facts(schema) if p.has_links and p.objects > 1 and not p.pairs_off]
    ends = [(p, class_of_end(p.domains, schema), class_of_end(p.ranges, schema)) for p in tried]
    ends = [end for end in ends if all(end) and end[1] != end[2] and own & set(end[1:])]
    for p, subject, target in islice(sorted(ends, key=lambda end: (-end[0].triples, end[0].iri)), MAX_TRIED):
        variables = (Variable("thing", (target,)), Variable("other", (subject,)))
        order = Order(Aggregate("count", Itself("other")), True)
        edges = (Edge("other", p.iri, "thing"),)
        yield Plan(Select((Itself("thing"),), variables, edges, group=("thing",), order=order, limit=1))


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


def _large_subjects(schema: Schema) -> list[Subject]:
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


def _is_noun(label: str) -> bool:
    """Whether a label may stand after "the": it is no quotation, ends in no preposition, and repeats no word."""
    words = label.split()
    return (
        not label.startswith("“")
        and words[-1] not in word_list("wording", "prepositions")
        and len({*words}) == len(words)
    )


def _is_money(p: Predicate) -> bool:
    codes = english_data()["currency_codes"].values()
    return p.unit in codes or not set(p.label.casefold().split()).isdisjoint(adjective_concepts("expensive"))


HEADERS = "resources/headers.yaml"

MAX_VALUES, MAX_NAME_LETTERS = 3, 120  # Values of one part, and letters of a value (given).
DAY_LETTERS = 8  # Letters of the day in the name of a version: 20260131T...

# parts of a description by name ("title", "creator", ...), each with its triples
Origin = dict[str, tuple[Triple, ...]]


def origin_sentence(engine: Engine) -> EvidenceSentence | None:
    """What a graph states of itself as a whole: name, authors, publisher, date, version, licence; None if nothing."""
    found = graph_origin(engine)
    if not found or engine.tables is None:
        return None
    words = word_map("wording", "origin")
    tables = engine.tables
    values = {name: join_names(_values(name, stated, tables, format_date)) for name, stated in found.items()}
    parts = [words[name].format(value=value) for name, value in values.items()]
    triples = tuple(triple for each in found.values() for triple in each)
    keys = tuple(dict.fromkeys(subject for subject, _, _ in triples))
    text = words["whole"].format(parts=join_names(parts))
    return EvidenceSentence(engine.tool, 1, text=text, title=TITLE, keys=keys, triples=triples)


def translated_origin(engine: Engine, code: str) -> str:
    """The same in German or French; "" if nothing is stated."""
    found = graph_origin(engine)
    if not found or engine.tables is None:
        return ""

    def worded(name: str, triples: tuple[Triple, ...], tables: Tables) -> str:
        values = _values(name, triples, tables, lambda text: translated_literal(text, code))
        return fill_template(code, f"origin_{name}", value=join_translated(values, code))

    parts = [worded(name, triples, engine.tables) for name, triples in found.items()]
    return fill_template(code, "origin_whole", parts=", ".join(parts))


def read_sentence(version: str, code: str = "en") -> str:
    """When a version was read in, from its name; "" if the name has no day."""
    try:
        day = date.fromisoformat(version[:DAY_LETTERS]).isoformat()
    except ValueError:
        return ""
    if code == "en":
        return word_map("wording", "origin")["read"].format(date=format_date(day))
    return fill_template(code, "origin_read", date=translated_literal(day, code))


def graph_origin(engine: Engine) -> Origin:
    """The description of an ingested graph by its parts, if there is exactly one; of other graphs nothing is read."""
    tables = engine.tables
    if tables is None or not tables.has_triples:
        return {}
    return engine.schema.cache.get(graph_origin, lambda: _find_origin(tables))


def _find_origin(tables: Tables) -> Origin:
    headers = load_language_data(HEADERS)
    stated = StatedTriples(tables)
    for kind in headers["types"]:
        subjects = _graph_subjects(kind, tables, tables.schema, stated)
        if len(subjects) == 1:
            found: Origin = {}
            for name, predicates in headers["parts"].items():
                every = (tuple(stated.with_subject(subjects[0], predicate)[:MAX_VALUES]) for predicate in predicates)
                first = next((triples for triples in every if triples), ())
                if first:
                    found[name] = first
            # a bare name says nothing of where a graph comes from
            return found if found.keys() - {"title"} else {}
    return {}


def _graph_subjects(kind: str, tables: Tables, schema: Schema, stated: StatedTriples) -> list[str]:
    """At most two things of a class, be they in tables or among the statements of the schema."""
    found = [subject for subject, _, _ in stated.with_object(kind, TYPE)]
    own = schema.class_of.get(kind)
    if own is not None and own.count == 1:
        sql = f"SELECT iri FROM entity WHERE id IN (SELECT id FROM {quote_identifier(own.relation)} LIMIT 2)"
        found += [str(iri) for (iri,) in tables.trusted().execute(sql)]
    elif own is not None:
        return []
    return list(dict.fromkeys(found))[:2]


def _values(name: str, triples: tuple[Triple, ...], tables: Tables, word_date: Callable[[str], str]) -> list[str]:
    """The objects as bounded texts in one line; things by their names, dates in words."""
    reader = TripleReader(tables)
    names = (reader.label(value) or value for _, _, value in triples)
    texts = list(dict.fromkeys(" ".join(name.split())[:MAX_NAME_LETTERS] for name in names))
    return [word_date(text) for text in texts] if name == "date" else texts


MAX_NAMED_KINDS = 4  # Kinds that an overview in another language names (given).


def translated_lead(intent: str, code: str) -> str:
    """What the answer to an intent says first, or ""."""
    return str(load_language_texts(f"{code}/answers.yaml")["leads"].get(intent, ""))


def translated_kinds(schema: Schema, code: str) -> str:
    """A request to ask about the main kinds."""
    labels = [class_label(each, schema, "", code) for each in _main_classes(schema)]
    names = [translated_plural(label, code) or label for label in labels]
    return fill_template(code, "ask_about", kinds=join_translated(names, code)) if names else ""


def translated_overview(schema: Schema, code: str, *, is_short: bool, has_examples: bool = True) -> str:
    """The main kinds with numbers; also properties and spans unless `is_short`, and questions (`has_examples`)."""
    return " ".join(filter(None, _translated_sentences(schema, code, is_short=is_short, has_examples=has_examples)))


def _counted_kind(c: Class, schema: Schema, code: str) -> str:
    """A class with the number of its things, in the plural if it is known."""
    kind = class_label(c, schema, "", code)
    several = translated_plural(kind, code) if c.count != 1 else ""
    name = "overview_several" if several else "overview_kind"
    return fill_template(code, name, count=translated_number(c.count, code), kind=several or kind)


def _translated_sentences(schema: Schema, code: str, *, is_short: bool, has_examples: bool) -> Iterator[str]:
    classes = _main_classes(schema)
    if not classes:
        return
    kinds = [_counted_kind(c, schema, code) for c in classes]
    numbers = {
        "things": translated_number(schema.entities, code),
        "statements": translated_number(schema.triples, code),
    }
    yield fill_template(code, "overview_kinds", kinds=join_translated(kinds, code), **numbers)
    first = class_label(classes[0], schema, "", code)
    facts = [p for p in schema.predicates_of([classes[0].iri]) if p.role == "fact" and not p.hidden]
    names = [translated_property(p.iri, schema, "", code) for p in facts]
    if names and not is_short:
        listed = join_translated(names[:MAX_PROPERTIES], code)
        yield fill_template(code, "overview_properties", kind=first, properties=listed)
        spans = [span for p in facts if (span := _translated_span(p, schema, code))]
        yield fill_template(code, "overview_spans", spans=join_translated(spans[:MAX_SPANS], code)) if spans else ""
    if not has_examples:
        return
    measured = next(
        (p for p in facts if _translated_span(p, schema, code) and is_amount(p.iri, english_schema(schema, code))), None
    )
    label = translated_property(measured.iri, schema, "", code) if measured is not None else ""
    forms = load_language_texts(f"{code}/answers.yaml")["examples"]
    kind = translated_plural(first, code) or first
    examples = [each.format(kind=kind, property=label) for each in forms if label or "{property}" not in each]
    quoted = join_translated([fill_template(code, "quote", text=each) for each in examples], code)
    yield fill_template(code, "overview_ask", examples=quoted)


def _translated_span(predicate: Predicate, schema: Schema, code: str) -> str:
    """The smallest and the largest value of a property; "" without numbers, or with one value."""
    low, high = predicate.minimum, predicate.maximum
    if low is None or high is None or low == high or predicate.datatype in ("date", "datetime", "boolean"):
        return ""
    counted = is_amount(predicate.iri, english_schema(schema, code))
    ends = [translated_number(each, code, predicate.unit, counted=counted) for each in (low, high)]
    label = translated_property(predicate.iri, schema, "", code)
    return fill_template(code, "overview_span", property=label, low=ends[0], high=ends[1])


def _main_classes(schema: Schema) -> list[Class]:
    """The largest classes that no other of them contains."""
    shown = [c for c in schema.shown_classes if c.count]
    parents = {parent for c in shown for parent in schema.with_parents((c.iri,)) - {c.iri}}
    leaves = [c for c in shown if c.iri not in parents] or shown
    return sorted(leaves, key=lambda c: (-c.count, c.label))[:MAX_NAMED_KINDS]
