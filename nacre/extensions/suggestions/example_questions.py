"""Example questions about the central classes of a graph, checked by asking them: Graph -> drafts -> questions.

First what questions about a graph as a whole need: tables and lexicon -> the file of a GraphOverview.
"""

import logging
import math
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from ingestion.read.tables import read_sheet_reports
from ingestion.vocabulary import EMPTY_TYPES, OWL, SKOS
from nacre.access.things import local_thing
from nacre.language.data import load_language_texts, word_list
from nacre.language.labels import is_boolean_predicate
from nacre.language.tokens import ENGLISH, fold, is_known, split_name, tokenize
from nacre.language.translation import fill_template, gloss_label, is_form, known_part, translated_plural
from nacre.language.word_forms import is_plural, plural, singular
from nacre.records.answer import Value
from nacre.records.browse import BrowseLimits
from nacre.records.evidence import GraphOverview, Table
from nacre.records.json_form import json_text
from nacre.records.schema import UNNAMED, Class, Predicate, Schema
from nacre.records.turn import Rewrite
from nacre.stores import versions
from nacre.stores.catalog import Graph
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.stores.sqlite.tables import Tables, quote_if_needed
from nacre.understanding.glossing import gloss_question, main_language
from nacre.understanding.understand import understand
from nacre.wording.answer import verbalise_rows
from nacre.wording.labels import predicate_label
from nacre.wording.nouns import is_amount
from nacre.wording.overview import find_highlights
from nacre.wording.profile import run_plan

log = logging.getLogger(__name__)


def write_overview(folder: Path, schema: Schema, attached: Tables | None = None) -> None:
    """Write the remarkable facts, spans and example questions of the graph whose tables and names are in the folder, or
    whose tables are `attached`."""
    try:
        overview = _overview(folder, schema, attached)
    except Exception:
        # an answer does without it, and the graph should be published
        log.exception("the overview of the graph could not be prepared")
        return
    (folder / versions.OVERVIEW).write_text(json_text(overview) + "\n", encoding="utf-8")


def _overview(folder: Path, schema: Schema, attached: Tables | None) -> GraphOverview:
    with (
        nullcontext(attached) if attached else closing(Tables(folder / versions.TABLES)) as tables,
        closing(Lexicon(folder / versions.LEXICON, schema)) as lexicon,
    ):
        graph = Graph("", "", schema, tables, lexicon)
        return replace(
            find_highlights(tables, is_bounded=attached is not None), examples=tuple(find_example_questions(graph))
        )


# maximum number of things that follow-ups are about, and of questions that are tried
MOST_THINGS, MOST_TRIED = 2, 10

# with many overlapping classes each draft takes a second, and a hundred fail (measured on a chart of time periods)
EXAMPLE_SECONDS = 5.0

# what the facts of a thing are read for here: only which predicates it has
OWN_FACTS = BrowseLimits(values=1, linking=1, passages=False, seconds=1.0)

# minimum probability of the reading of an example
SURE = 0.5


def find_example_questions(graph: Graph, wanted: int = 3, seconds: float = EXAMPLE_SECONDS) -> list[str]:
    """Up to `wanted` questions of different kinds; each was understood and ran with a useful answer. No further one is
    tried after so many `seconds`.

    For an attached graph they only mention classes and properties and are not run, to spare the endpoint.
    """
    return [draft.question for draft, _ in islice(_answered_drafts(graph, seconds), wanted)]


def known_questions(graph: Graph, wanted: int, seconds: float) -> list[tuple[str, list[Value]]]:
    """As `find_example_questions`, of a graph that is stored, each with the values of its answer; several of a kind."""
    found = islice(_answered_drafts(graph, seconds), wanted)
    return [(draft.question, list(verbalise_rows(table).values)) for draft, table in found]


def _answered_drafts(graph: Graph, seconds: float) -> Iterator[tuple["QuestionDraft", Table]]:
    """Each draft that is understood and answered, and its answer; one of each kind, then more of each. Of a kind those
    about classes with the fewest questions so far come first."""
    found: set[str] = set()
    kinds: Counter[str] = Counter()
    about: Counter[str] = Counter()
    others: list[tuple[int, QuestionDraft]] = []
    # the first answer may load what understands questions, which takes none of the time of the others
    deadline = math.inf
    for draft in draft_questions(graph, about):
        if time.monotonic() > deadline:
            return
        if draft.kind in kinds:
            kinds[draft.kind] += 1
            others.append((kinds[draft.kind], draft))
        elif (table := _answer(graph, draft)) is not None:
            deadline = min(deadline, time.monotonic() + seconds)
            kinds[draft.kind] += 1
            found.add(draft.question)
            about[draft.about] += 1
            yield draft, table
    # the second of each kind, then the third
    for _, draft in sorted(others, key=itemgetter(0)):
        if time.monotonic() > deadline:
            return
        if draft.question not in found and (table := _answer(graph, draft)) is not None:
            found.add(draft.question)
            yield draft, table


def find_follow_up_questions(
    graph: Graph, things: Sequence[str], asked: str, answered: str = "", wanted: int = 3, seconds: float = 2.0
) -> list[str]:
    """Up to `wanted` questions about these things (IRIs) and their kind, each of which was understood and ran; no
    further one is tried after so many `seconds`. Questions whose answer stands in what was `asked` and `answered` are
    left out."""
    if graph.stored is None:
        return []
    said = fold(asked)
    found: list[str] = []
    kinds: set[str] = set()
    known = _spaced(f"{asked} {answered}")
    deadline = time.monotonic() + seconds
    for draft in islice(follow_up_drafts(graph, things, said), MOST_TRIED):
        if len(found) == wanted or time.monotonic() > deadline:
            break
        if draft.kind not in kinds and fold(draft.question) != said and _answer(graph, draft, known) is not None:
            kinds.add(draft.kind)
            found.append(draft.question)
    return found


# maximum number of classes, of properties, of examined members, and of items in a list
MOST_CLASSES, MOST_PROPERTIES, MOST_MEMBERS, LONGEST_LIST = 6, 4, 500, 30


class QuestionDraft(NamedTuple):
    """A question, its kind, the minimum and maximum of a useful answer (of the number for a count, else of rows), and
    the class that it is about."""

    kind: str
    question: str
    least: int = 1
    most: int = LONGEST_LIST
    about: str = ""


class Wording(NamedTuple):
    """How questions about a graph are worded. `code` is the language of most labels, which stand as they are in its
    forms of questions; "" for English."""

    schema: Schema
    code: str

    def noun(self, p: Predicate) -> str:
        """The noun for a property in a question."""
        return _UNIT.sub("", p.label).rstrip() if self.code else predicate_label(p.iri, self.schema).one

    def ask(self, form: str, c: Class | None = None, p: Predicate | None = None, name: str = "") -> str:
        """A question by the name of its form."""
        noun = self.noun(p) if p is not None else ""
        if self.code:
            kind = c.label if c is not None and reads_well(c.label) else ""
            return translated_question(form, kind, noun, name, self.code)
        if c is not None and form != "value" and not reads_well(c.label):
            return ANY_FORMS.get(form, "").format(property=noun, value=name)
        one, many = class_nouns(c) if c is not None else ("", "")
        verb = "are" if is_plural(noun) else "is"
        return ENGLISH_FORMS[form].format(one=one, many=many, property=noun, value=name, verb=verb)

    def is_plain(self, p: Predicate) -> bool:
        """Whether a noun consists of words of the language, without additions such as "in dollars"."""
        words = self.noun(p).lower().split()
        known = (known_part(w, self.code) if self.code else is_known(w, lang=ENGLISH) for w in words)
        return all(known) and not (set(words) - {"of"}) & word_list("wording", "prepositions")


ENGLISH_FORMS = {
    "most": "Which {one} has the highest {property}?",
    "average": "What is the average {property} of the {many}?",
    "list": "Which {many} have the {property} {value}?",
    "count": "How many {many} have the {property} {value}?",
    "value": "What {verb} the {property} of {value}?",
    "all": "Which {many} are there?",
}


# of a table whose name is no noun, such as "loans 2025"
ANY_FORMS = {"average": "What is the average {property}?", "count": "How many have the {property} {value}?"}


def wording_of(graph: Graph) -> Wording:
    """English, unless most labels are in another language that has forms of questions."""
    return Wording(graph.schema, main_language(graph.lexicon))


def follow_up_drafts(graph: Graph, things: Sequence[str], said: str) -> Iterator[QuestionDraft]:
    """Properties of each thing that were not `said` yet, then comparisons with its class."""
    schema, wording = graph.schema, wording_of(graph)
    known = [(iri, thing) for iri in things if (thing := graph.lexicon.thing(iri)) is not None]
    for iri, thing in known[:MOST_THINGS]:
        classes = next((g.classes for g in schema.groups if g.relation == thing.relation), ())
        own = min((schema.class_of[c] for c in classes if c in schema.class_of), key=lambda c: c.count, default=None)
        if own is None or not reads_well(own.label) or len(thing.label) > MAX_SPOKEN_NAME:
            continue
        usual = question_properties(wording, own)
        # a property of its class that the thing has no value of is read as one of the things that name it
        has = _own_predicates(graph, iri)
        unsaid = [p for p in usual if p.iri in has and fold(wording.noun(p)) not in said]
        for n, p in enumerate(unsaid[:MOST_PROPERTIES]):
            yield QuestionDraft(f"of, {n % 2}", wording.ask("value", p=p, name=thing.label), most=MOST_FIRST)
        for p in [p for p in measure_properties(wording, own, usual) if fold(wording.noun(p)) not in said]:
            if has_named_members(graph, own):
                yield QuestionDraft("most", wording.ask("most", own, p), most=1)
            yield QuestionDraft("average", wording.ask("average", own, p))
        for p, value in conditions(wording, usual):
            yield QuestionDraft("count", wording.ask("count", own, p, value), 2, own.count - 1)


def _own_predicates(graph: Graph, iri: str) -> frozenset[str]:
    """The predicates that a thing is the subject of."""
    seen = local_thing(graph, iri, OWN_FACTS)
    return frozenset(facts.predicate for facts in seen.facts) if seen is not None else frozenset()


def _spaced(text: str) -> str:
    """The words of a text, each between spaces.

    >>> _spaced("Signal Box.")
    ' signal box '
    """
    return f" {' '.join(token.norm for token in tokenize(text))} "


def _answer(graph: Graph, draft: QuestionDraft, known: str = "") -> Table | None:
    """The answer of a question that is understood, if it fits the draft and is not `known`; an empty table for an
    attached graph, which is not asked."""
    if not draft.question:
        return None
    if code := wording_of(graph).code:
        glossed = gloss_question(draft.question, graph.lexicon, code)
        rewrite = Rewrite(glossed, language=code, own=draft.question, gloss=code)
    else:
        rewrite = Rewrite(draft.question)
    understood = understand(rewrite, graph.schema, graph.lexicon)
    if not understood.readings:
        return None
    reading = understood.readings[0]
    if reading.covered < 0.99 or (reading.probability or 0.0) < SURE or reading.doubts:
        return None
    if graph.stored is None:
        return Table((), ())
    table, _, _ = run_plan(reading.plan, graph.tables, round=1)
    return table if table is not None and _fits(table, draft, known) else None


def _fits(table: Table, draft: QuestionDraft, known: str) -> bool:
    """Whether an answer is a useful one for the draft."""
    cells = [row[-1] for row in table.rows if row[-1] is not None]
    if draft.kind == "count":
        return len(cells) == 1 and isinstance(cells[0], int) and draft.least <= cells[0] <= draft.most
    # unnamed nodes and addresses are no readable answers
    if known and cells and all(_spaced(str(cell)) in known for cell in cells):
        return False
    telling = all("://" not in text and text != UNNAMED for text in map(str, cells)) and len({*cells}) == len(cells)
    return telling and draft.least <= len(cells) <= draft.most


MAX_SPOKEN_NAME = 40

# maximum number of values and members that are tried for a question
MAX_TRIED = 2

# maximum number of things in first place; minimum number of members for a ranking
MOST_FIRST, LEAST_RANKED = 3, 3

# minimum share of members with a property
MIN_PROPERTY_SHARE = 0.5

# minimum share of members with distinctive names
MIN_NAMED_SHARE = 0.8

# classes of vocabularies, which do not say what a graph is about
_FORMAL = EMPTY_TYPES | {SKOS + n for n in ("Concept", "ConceptScheme", "Collection")} | {OWL + "Class"}

_UNIT = re.compile(r"\([^()]*\)$")

_SLUG = re.compile(r"[^\W_A-Z]+([-_][^\W_A-Z]+)+")

_LAST = re.compile(r"(?:(?<![\W_])[\W_]++|(?<![\W_\d]))\d++$")

# three letters, not all of them capitals
_WORD = re.compile(r"(?=.*[^\W\d_]{3})(?=.*[^\W\dA-Z_])[^\W_].*")

# marks of codes, lists and addresses
_NO_NAME = ("_", ",", "://", "@")


def draft_questions(graph: Graph, about: Counter[str]) -> Iterator[QuestionDraft]:
    """Questions about the central classes, the most useful kinds first; of a kind those about classes with the fewest
    questions so far, by IRI in `about`."""
    wording, latest = wording_of(graph), _latest_table(graph)
    central = [(c, question_properties(wording, c), has_named_members(graph, c)) for c in _central(graph, latest)]
    named = [(c, usual) for c, usual, named in central if named]

    def is_later(each: Sequence[Any]) -> bool:
        # the table that was read last comes first unless a question is about it
        return each[0].label != latest or about[each[0].iri] > 0

    def fewest(each: Sequence[Any]) -> tuple[bool, int]:
        return is_later(each), about[each[0].iri]

    for c, usual in named:
        for p in measure_properties(wording, c, usual):
            yield QuestionDraft("most", wording.ask("most", c, p), most=1, about=c.iri)
    for c, usual in sorted(named, key=fewest):
        for p, value in conditions(wording, usual):
            most = min(LONGEST_LIST, c.count - 1)
            yield QuestionDraft("list", wording.ask("list", c, p, value), 2, most, about=c.iri)
    for c, usual in named:
        for p in usual[:MOST_PROPERTIES]:
            for name in _names(graph, c, p):
                yield QuestionDraft("lookup", wording.ask("value", c, p, name), most=MOST_FIRST, about=c.iri)
    for c, usual, _ in sorted(central, key=is_later):
        for p in measure_properties(wording, c, usual):
            yield QuestionDraft("average", wording.ask("average", c, p), about=c.iri)
    for c, usual, _ in sorted(central, key=fewest):
        said = list(conditions(wording, usual))
        # the first one is used by the list question
        for p, value in said[1:] + said[:1]:
            yield QuestionDraft("count", wording.ask("count", c, p, value), 2, c.count - 1, about=c.iri)
    for c, _ in sorted(named, key=fewest):
        if not wording.code:
            yield QuestionDraft("all", wording.ask("all", c), LEAST_RANKED, about=c.iri)


def question_properties(wording: Wording, c: Class) -> list[Predicate]:
    """The properties of a class that questions ask for: plain labels first, then the most frequent."""
    schema = wording.schema
    usual = [
        p
        for p in schema.shown_predicates
        if p.role == "fact" and p.domains.get(c.iri, 0) >= MIN_PROPERTY_SHARE * c.count
    ]
    # labels such as "public" are no nouns
    said = [
        p
        for p in usual
        if reads_well(wording.noun(p) if wording.code else p.label)
        and predicate_label(p.iri, schema).kind == "noun"
        and not is_boolean_predicate(p)
        and not _is_coordinate(p)
    ]
    said = [p for p in said if not p.iri.startswith(SKOS) and wording.noun(p) not in class_nouns(c)]
    # "the average attendance of X" asks for something else
    said = [p for p in said if not set(wording.noun(p).split()) & word_list("wording", "summarised")]
    # verbs such as "began" and "sold" are no nouns
    said = [
        p
        for p in said
        if wording.noun(p).split()[-1] not in word_list("wording", "intransitive") | word_list("wording", "participles")
    ]
    return sorted(said, key=lambda p: (not wording.is_plain(p), -p.domains[c.iri], p.iri))


def measure_properties(wording: Wording, c: Class, usual: list[Predicate]) -> list[Predicate]:
    """The first few properties with numbers that can be ranked and averaged."""
    found = [p for p in usual if _is_measure(p, wording)] if c.count >= LEAST_RANKED else []
    return found[:MOST_PROPERTIES]


def has_named_members(graph: Graph, c: Class) -> bool:
    """Whether the members of a class have names: "City Walker", not "row1" or "7"."""
    relation = graph.schema.relation_of.get(c.relation)
    if graph.stored is None or relation is None:
        return True
    sql = (
        f"SELECT e.label FROM (SELECT {quote_if_needed(relation.key)} AS id FROM {quote_if_needed(relation.name)}"
        f" LIMIT {MOST_MEMBERS}) r JOIN entity e ON e.id = r.id"
    )
    labels = [str(row[0]) for row in graph.tables.run(sql, limit=MOST_MEMBERS).rows]
    # the names without their numbers
    said = [text for text in labels if is_name(text) and not _SLUG.fullmatch(text)]
    telling = {text[: end.start()] if (end := _LAST.search(text)) else text for text in said}
    return len(telling) >= MIN_NAMED_SHARE * len(labels)


def is_name(text: str) -> bool:
    """Whether a text is usable as a name in a question.

    >>> is_name("Day Pack 18"), is_name("patient/2"), is_name("http://ex.org/a"), is_name("asian_art_depar")
    (True, False, False, False)
    """
    if len(text) > MAX_SPOKEN_NAME or not _WORD.fullmatch(text) or any(mark in text for mark in _NO_NAME):
        return False
    return " " in text or not text[-1].isdigit()


def reads_well(label: str) -> bool:
    """Whether a label consists of a few words."""
    words = split_name(label).split()
    return 0 < len(words) <= 4 and all(word.isalpha() and 1 < len(word) < 16 for word in words)


def class_nouns(c: Class) -> tuple[str, str]:
    """The singular and the plural noun for members of a class."""
    label = " ".join(w if w.isupper() else w.lower() for w in c.label.split())
    return singular(label), plural(label)


def _central(graph: Graph, latest: str) -> list[Class]:
    """The central classes: many members with many frequent properties; and the table that was read last."""
    schema, wording = graph.schema, wording_of(graph)

    def weight(c: Class) -> float:
        return math.log(1 + c.count) * len(question_properties(wording, c))

    found = [c for c in schema.shown_classes if c.count > 1 and c.iri not in _FORMAL]
    found = [c for c in found if reads_well(c.label)] or found
    if SKOS + "Concept" in schema.class_of and graph.stored is not None:
        # the name of a list or a collection is not a noun for its members, unless it is a plural
        found = [c for c in found if is_plural(c.label) or graph.lexicon.thing(c.iri) is None]
    found.sort(key=lambda c: (-weight(c), -c.count, c.iri))
    return found[:MOST_CLASSES] + [c for c in found[MOST_CLASSES:] if c.label == latest]


def _latest_table(graph: Graph) -> str:
    """The label of the table that was read last; "" without tables."""
    is_local = graph.stored is not None and graph.stored.is_local
    sheets = read_sheet_reports(graph.tables.path.parent) if is_local else ()
    return sheets[-1].label if sheets else ""


def _is_coordinate(p: Predicate) -> bool:
    """Whether a property has latitudes or longitudes, as its names say, or a sheet of "Breite"."""
    return not {"latitude", "longitude"}.isdisjoint((p.label.lower(), *p.alt_labels))


def _is_measure(p: Predicate, wording: Wording) -> bool:
    label = gloss_label(wording.noun(p), wording.code) if wording.code else wording.noun(p)
    words = set(label.split())
    return (
        p.minimum is not None
        and not _is_coordinate(p)
        and p.minimum != p.maximum
        and p.datatype in ("integer", "real")
        and is_amount(p.iri, wording.schema)
        and not words & word_list("wording", "unranked")
        and not is_plural(p.label)
        and wording.is_plain(p)
    )


def conditions(wording: Wording, usual: list[Predicate]) -> Iterator[tuple[Predicate, str]]:
    """Properties with a value, such as "the brand Acme": plain labels only, links before texts."""
    said = [p for p in usual if 1 < len(p.values) <= LONGEST_LIST and not is_plural(wording.noun(p))]
    barred = word_list("wording", "uncounted") | word_list("wording", "joining")
    said = [p for p in said if not set(wording.noun(p).split()) & barred and wording.is_plain(p)]
    for p in sorted(said, key=lambda p: not p.has_links)[:MOST_PROPERTIES]:
        for value in [text for text in p.values if is_name(text)][:MAX_TRIED]:
            yield p, value


def _names(graph: Graph, c: Class, p: Predicate) -> list[str]:
    """Members with the property and a usable name, short names first."""
    if graph.stored is None:
        return []
    relation = graph.schema.relation_of[c.relation]
    column = next((x for x in relation.columns if x.predicate == p.iri), None)
    if column is None:
        return []
    filled = quote_if_needed(column.value or column.link)
    sql = (
        f"SELECT e.label FROM (SELECT {quote_if_needed(relation.key)} AS id FROM {quote_if_needed(relation.name)}"
        f" WHERE {filled} IS NOT NULL LIMIT {MOST_MEMBERS}) r JOIN entity e ON e.id = r.id"
    )
    labels = {str(row[0]) for row in graph.tables.run(sql, limit=MOST_MEMBERS).rows}
    said = [text for text in labels if is_name(text)]
    return sorted(said, key=lambda text: (len(text), text))[:MAX_TRIED]


def translated_question(form: str, kind: str, noun: str, value: str, code: str) -> str:
    """A question by the name of its form, the class and the property that it is about; "" if labels don't fit it.

    >>> translated_question("list", "mühle", "steht in", "Aue", "de")
    'Welche Mühlen stehen in Aue?'
    """
    many, texts = translated_plural(kind, code), load_language_texts(f"{code}/answers.yaml")
    label = next((f"_{each}" for each in ("state", "participle", "verb") if is_form(noun, each, code)), "")
    parts = ("many_", "") if many else ("",) if kind else ("any_", "")
    names = (f"ask_{part}{form}{end}" for part in parts for end in (label, ""))
    name = next(each for each in names if each in texts)
    if not kind and "{kind}" in texts[name]:
        return ""
    if texts.get("capital_nouns"):
        if label:
            noun = noun[:1].lower() + noun[1:]
        elif any(word[:1].islower() for word in (noun, noun.split()[-1])):
            # a verb, such as "betrifft", or "gültig ab"
            return ""
        kind, many = (each[:1].upper() + each[1:] for each in (kind, many))
    pattern, several = texts.get("verbs", ("$", ""))
    verbs = re.sub(pattern, several, noun)
    pronouns = texts.get("whom", {"": ""})
    whom, of_kind = pronouns.get(noun.rpartition(" ")[2], pronouns[""]), many if "many" in name else kind
    text = fill_template(code, name, kind=of_kind, property=noun, verbs=verbs, value=value, whom=whom)
    return text[:1].upper() + text[1:]
