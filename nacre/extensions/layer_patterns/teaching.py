"""Teach a word: a word of a question that names nothing + an open graph -> the classes, properties, values and things
that it may mean, each with what the question would give: it is read and run with the word as a name, in memory."""

from __future__ import annotations

import copy
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, FastAPI, Query
from pydantic import BaseModel, Field

from agents.answering.answer_record import TAKEN_SCORE
from ingestion.layer.apply import MAX_NAME, MAX_WORDS, Meaning, Named, with_further_name
from nacre.access.likeness import (
    KIND_GAIN,
    TELLING_ROLES,
    asked_forms,
    engine_of,
    is_of_kind,
    likenesses,
    requested_kind,
    text_forms,
    word_likenesses,
)
from nacre.access.open_graph import lexicon_for
from nacre.errors import ConfigError
from nacre.language.data import WORDS
from nacre.language.sanitize import quote_line
from nacre.language.thesaurus import function_words
from nacre.language.tokens import fold, lemma, name_tokens, tokenize
from nacre.language.translation import GLOSSED_LANGUAGES
from nacre.language.word_forms import is_plural, singular
from nacre.plans.selects import plan_elements, plan_parts
from nacre.records.evidence import Rows
from nacre.records.plan import Body, Variable
from nacre.records.schema import Class, Predicate, Schema
from nacre.records.threads import raise_if_cancelled
from nacre.records.turn import Mention, Reading, Rewrite, Understanding
from nacre.serving.http.dependencies import ERROR_RESPONSES, GraphLookUp, GraphLookUpDep
from nacre.serving.http.layer import MAX_QUESTION, WRITE, GraphNames, require_names_right, signed_layers, start_change
from nacre.serving.page.pages import PageFiles
from nacre.stores.catalog import Graph
from nacre.stores.sqlite.lexicon import Lexicon, LexiconEntry, LexiconWord
from nacre.understanding.glossing import gloss_question, glossed_lexicon, question_language
from nacre.understanding.linking.link_mentions import link_mentions, linker_of
from nacre.understanding.mentions import reword
from nacre.understanding.question.analyse import analyse_question
from nacre.understanding.understand import understand
from nacre.wording.answer import verbalise_result
from nacre.wording.translations import translate_result
from tools.sql import run_reading

# what is proposed, is tried with the question or found by a search, and is compared, at most (given)
MAX_PROPOSED, MAX_TRIED, MAX_TERMS = 3, 20, 400

# seconds for trying them; the rest is proposed without an answer (given)
TRYING_SECONDS = 4.0

# what adds to the likeness: the question is about things that have the property; a reading with score 1 (given)
NEAR_GAIN, SCORE_GAIN = 0.15, 1.0

# what adds for a term that fits the place of the word in the question, and what less a code or a text has (given)
SLOT_GAIN, CODE_LOSS = 0.3, 0.1

_LINK_KINDS = {"class": "the class", "property": "the property", "entity": "the thing", "value": "a value of"}

# a class, a property, or the entry of a value or thing
_Term = Class | Predicate | LexiconEntry

# characters of an answer, samples of a property, and characters of each (given)
MAX_ANSWER, MAX_SAMPLES, MAX_SAMPLE = 300, 3, 60


def require_teachable(word: str, graph: Graph, *, as_text: bool = False) -> None:
    """Raise ConfigError for a word that means something already, that questions are made of, or is too long. A text
    may stand for a further name, and for several words that questions are made of ("still out")."""
    tokens = tokenize(word)
    if not 0 < len(tokens) <= MAX_WORDS or len(word) > MAX_NAME:
        raise ConfigError(f"Teach 1 to {MAX_WORDS} words, at most {MAX_NAME} characters.")
    shown, question = quote_line(word), analyse_question(word)
    inside = question.stopwords.union(*(range(cue.start, cue.end) for cue in question.cues))
    content = set(range(len(question.tokens))) - inside
    linker = linker_of(lexicon_for(graph, word))
    for link in link_mentions(question, linker.index):
        # a guess by a thesaurus or by the beginning of a word is none
        is_name = link.match not in ("like", "link like", "nearly whole") and (link.exact or link.score >= TAKEN_SCORE)
        if is_name and content <= set(range(link.start, link.end)):
            ref, schema_graph = link.refs[0], linker.index.graph
            of = ref.predicate or ref.via
            label = link.label or (schema_graph.about(of).label if of else schema_graph.nodes[ref.node].label)
            if (
                as_text
                and link.kind != "entity"
                and not {token.lemma for token in tokens} <= {*map(lemma, name_tokens(label))}
            ):
                continue
            kind = _LINK_KINDS.get(link.kind, link.kind)
            raise ConfigError(f"“{shown}” means something here already: {kind} “{quote_line(label)}”.")
    if not content and not (as_text and len(tokens) > 1):
        raise ConfigError(f"“{shown}” is a word that questions are made of. It can't be a name.")


def find_meanings(word: str, question: str, graph: Graph, search: str = "") -> tuple[Meaning, ...]:
    """The likeliest meanings, best first: those that answer the question, then those with names like the word; with
    `search`, those with a name whose words begin so. Raises ConfigError as `require_teachable`."""
    require_teachable(word, graph, as_text=bool(search))
    found: list[tuple[float, Meaning]] = []
    near = [(0.0, each) for each in _called(search, graph)] if search else _nearest_terms(word, question, graph)
    deadline = time.monotonic() + TRYING_SECONDS
    for likeness, term in near[: MAX_TRIED if question or search else MAX_PROPOSED]:
        raise_if_cancelled()
        score, meaning = 0.0, _meaning(term, graph.schema)
        if question:
            is_late = time.monotonic() > deadline
            score, answer = (0.0, "") if is_late else _reading_with(word, term, question, graph)
            meaning = replace(meaning, answer=answer)
        found.append((likeness + SCORE_GAIN * score, meaning))
    ranked = [each for _, each in sorted(found, key=lambda each: (question != "" and not each[1].answer, -each[0]))]
    if search:
        return (*ranked, *_reworded(word, search.strip(), question, graph))
    # an answer that an earlier one gives already does not come from the word
    apart: dict[object, Meaning] = {}
    for each in ranked:
        apart.setdefault(each.answer if question and each.answer else (each.iri, each.value), each)
    return tuple(apart.values())[:MAX_PROPOSED]


def taught_meaning(word: str, name: str, graph: Graph, value: str = "", question: str = "") -> Meaning:
    """As `named_meaning`, of a word that can be taught, or else the text that it stands for. Raises ConfigError as
    `require_teachable`."""
    try:
        meaning = named_meaning(name, graph, value, word, question)
    except ConfigError:
        if value or not is_readable(name, graph, question):
            raise
        meaning = Meaning("rewording", name.strip(), name.strip())
    require_teachable(word, graph, as_text=meaning.kind == "rewording")
    return meaning


def is_readable(text: str, graph: Graph, asked: str = "") -> bool:
    """Whether a text of several words may stand for a word of a question: each of its words names something or is made
    for questions, and one names a class, a property, a value or a thing."""
    lexicon = lexicon_for(graph, text)
    if (code := question_language(asked or text, lexicon)) in GLOSSED_LANGUAGES:
        text, lexicon = gloss_question(text, lexicon, code), glossed_lexicon(lexicon, code)
    question = analyse_question(text)
    links = link_mentions(question, linker_of(lexicon).index)
    named = {i for each in links if each.exact or each.score >= TAKEN_SCORE for i in range(each.start, each.end)}
    numbers = {i for i, token in enumerate(question.tokens) if token.norm[0].isdigit()}
    read = named.union(numbers, question.stopwords, *(range(cue.start, cue.end) for cue in question.cues))
    is_short = len(question.tokens) > 1 and len(text.strip()) <= MAX_NAME
    return is_short and bool(named) and len(read) == len(question.tokens)


def named_meaning(name: str, graph: Graph, value: str = "", word: str = "", question: str = "") -> Meaning:
    """The class, property, value or thing with this IRI or name, or the `value` of that property. Of a class and
    properties of one name, a `word` that asks for things means the class. Raises ConfigError unless just one has it."""
    schema, wanted = graph.schema, fold(name.strip()).removeprefix("the ")
    terms: list[_Term] = [*schema.classes]
    terms += (each for each in schema.predicates if each.role not in ("type", "schema"))
    found = [each for each in terms if name.strip() in _targets(each)[:1]]
    found = found or [each for each in terms if wanted in (fold(each.label), _in_words(each, schema))]
    found = found or [each for each in terms if wanted in map(fold, getattr(each, "alt_labels", ()))]
    if value:
        of = {each.iri for each in found if isinstance(each, Predicate)}
        found = [each for each in _values(graph) if each.target == value and each.predicate in of]
    elif not found and not graph.attached:
        if (thing := graph.lexicon.thing(name.strip())) is not None:
            return Meaning("thing", name.strip(), thing.label)
        things = {each.target: each for each in graph.lexicon.exact(name_tokens(name)) if each.kind == "entity"}
        others: list[_Term] = [*_values(graph), *things.values()]
        found = [each for each in others if wanted in (fold(each.label), _in_words(each, schema))]
    classes = [each for each in found if isinstance(each, Class)]
    if len(classes) == 1 and (is_plural(word) or _slot(word, question, Understanding(question)) in ("class", "count")):
        found = [*classes]
    if len(found) == 1:
        return _meaning(found[0], schema)
    if found:
        several = [f"the {_in_words(each, schema)}" for each in found]
        pairs = zip(several, map(_targets, found), strict=True)
        shown = (text if several.count(text) == 1 else target for text, (target, *_) in pairs)
        raise ConfigError(f"Several are called “{quote_line(name)}”: {', '.join(shown)}. Give one of these.")
    raise ConfigError(f"Nothing is called “{quote_line(name)}”. Leave it out to see the likeliest.")


def _in_words(term: _Term, schema: Schema) -> str:
    """The folded name of a term with what it is: "class tool", "property tool of hire", "value gas of heating"."""
    meaning = _meaning(term, schema)
    domains = [schema.class_of[i].label for i in getattr(term, "domains", ()) if i in schema.class_of]
    of = [meaning.of] if meaning.of else domains[:1]
    return fold(" of ".join((f"{meaning.kind} {meaning.name}", *of)))


def _reading_with(word: str, term: _Term, question: str, graph: Graph) -> tuple[float, str]:
    """The score of the likeliest reading with the word, and what it gives; "" also if it does without the word."""
    lexicon = _taught_lexicon(lexicon_for(graph, question), word, term)
    rewrite = _standalone(question, lexicon)
    understood = understand(rewrite, lexicon.schema, lexicon)
    best = next(iter(understood.readings), None)
    if best is None or not _uses(word, term, best.plan.body, understood.mentions):
        return 0.0, ""
    answer = _answer(best, graph, question, rewrite.gloss)
    return (best.probability or 0.0, answer) if answer else (0.0, "")


def _answer(reading: Reading, graph: Graph, question: str, gloss: str) -> str:
    """What a reading gives, in words; "" for nothing."""
    for rows in run_reading(reading, 0, engine_of(graph), round=0).evidence:
        if isinstance(rows, Rows):
            result = verbalise_result(reading.plan, rows.table, graph.schema, question)
            if gloss:
                result = translate_result(result, reading.plan, rows, graph.schema, question, gloss)
            text = quote_line(result.text)
            return text if len(text) <= MAX_ANSWER else f"{text[:MAX_ANSWER]} …"
    return ""


def _reworded(word: str, text: str, question: str, graph: Graph) -> Iterator[Meaning]:
    """The word as standing for the text, if that can be read."""
    if question and is_readable(text, graph, question):
        schema = replace(graph.schema, rewordings=(*graph.schema.rewordings, (word, text)))
        lexicon = lexicon_for(graph, reworded := reword(question, schema))
        rewrite = _standalone(reworded, lexicon)
        best = next(iter(understand(rewrite, lexicon.schema, lexicon).readings), None)
        yield Meaning("rewording", text, text, _answer(best, graph, reworded, rewrite.gloss) if best else "")


def _standalone(question: str, lexicon: Lexicon) -> Rewrite:
    """A question that refers to no other, as `understand` reads it."""
    code = question_language(question, lexicon)
    gloss = code if code in GLOSSED_LANGUAGES else ""
    return Rewrite(gloss_question(question, lexicon, code), own=question, gloss=gloss) if gloss else Rewrite(question)


def _uses(word: str, term: _Term, body: Body, mentions: Sequence[Mention]) -> bool:
    """Not as the class of a named thing, nor through another word; mentions of classes have no target."""
    target = term.target if isinstance(term, LexiconEntry) else term.iri
    named = {c for each in plan_parts(body) if isinstance(each, Variable) and each.keys for c in each.classes}
    having = [fold(word) in fold(each.text) for each in mentions if each.target in (target, "")]
    others = [each for each in mentions if each.target == target and fold(word) not in fold(each.text)]
    is_used = isinstance(term, LexiconEntry) or target in plan_elements(body) - named
    return is_used and any(having) and not others


def _nearest_terms(word: str, question: str, graph: Graph) -> list[tuple[float, _Term]]:
    """The classes, properties and values that may be meant, with their likeness, the likeliest first; none that another
    word of the question means."""
    schema, lexicon = graph.schema, lexicon_for(graph, question or word)
    understood = understand(_standalone(question or word, lexicon), schema, lexicon)
    best = next(iter(understood.readings), None)
    guessed = plan_elements(best.plan.body) if best else frozenset()
    classes = guessed.union(*(plan_elements(each.everything.plan.body) for each in understood.named))
    others = [each for each in understood.mentions if each.score >= TAKEN_SCORE and fold(each.text) not in fold(word)]
    taken = {name for each in others for name in (each.target, singular(fold(each.text)))}
    properties = [each for each in schema.shown_predicates if each.role in TELLING_ROLES]
    own = [each for each in properties if classes.intersection(each.domains)]
    every: list[_Term] = [*own, *schema.shown_classes, *(p for p in properties if p not in own), *_values(graph)]
    terms = [each for each in every if taken.isdisjoint(_targets(each))][:MAX_TERMS]
    texts = [f"{each.label}. {comment}" if (comment := getattr(each, "comment", "")) else each.label for each in terms]
    by_words = word_likenesses(asked_forms(word), [text_forms(each) for each in texts])
    near, slot = likenesses(word, texts, by_words, graph.lexicon), _slot(word, question, understood)
    kind = requested_kind(question)
    found = [
        likeness
        + NEAR_GAIN * (each in own)
        + NEAR_GAIN * (best.score if best and not guessed.isdisjoint(_targets(each)) else 0)
        + KIND_GAIN * (kind != "number" and isinstance(each, Predicate) and is_of_kind(each, kind, schema))
        + SLOT_GAIN * _fit(each, slot, schema)
        - CODE_LOSS * (isinstance(each, Predicate) and each.role != "fact")
        for each, likeness in zip(terms, near, strict=True)
    ]
    return sorted(zip(found, terms, strict=True), key=lambda each: -each[0])


def _targets(term: _Term) -> tuple[str, ...]:
    """What mentions of a term have as a target, or as the text of a class."""
    if isinstance(term, LexiconEntry):
        return (term.target,)
    return (
        (term.iri, *(singular(fold(each)) for each in (term.label, *term.alt_labels)))
        if isinstance(term, Class)
        else (term.iri,)
    )


_Slot = Literal["", "class", "count", "amount", "date", "property", "state", "value"]


def _slot(word: str, question: str, understood: Understanding) -> _Slot:
    """What the place of a word in its question asks for."""
    asked, words = analyse_question(question), name_tokens(word)
    norms = tuple(token.norm for token in asked.tokens)
    lemmas, sought = [token.lemma for token in asked.tokens], [*map(lemma, words)]
    start = next((i for i in range(len(norms)) if lemmas[i : i + len(words)] == sought), None)
    if start is None:
        return ""
    end, before = start + len(words), norms[start - 1] if start else ""
    led = {cue.kind for cue in asked.cues if cue.end == start}
    if "sum" in led or any(number.end == start for number in asked.numbers):
        return "amount"
    if "count" in led:
        return "amount" if understood.named else "count"
    if requested_kind(question) == "date":
        return "date"
    # "which zorb", "the Kirton zorb"
    ends = [question[each.end :].lstrip() for each in understood.mentions if each.kind == "value"]
    if "open" in led or any(each.startswith(asked.tokens[start].text) for each in ends):
        return "class"
    if not function_words().isdisjoint(words) or before in WORDS["been"] - WORDS["being"]:
        return "state"
    if end == len(norms) and before in WORDS["being"] | WORDS["describing_prepositions"]:
        return "value"
    led_by = WORDS["being"] | WORDS["question_words"]
    is_asked_for = before in WORDS["article"] and not led_by.isdisjoint(norms[max(start - 2, 0) : start - 1])
    return "class" if is_plural(norms[end - 1]) and not is_asked_for else "property"


def _fit(term: _Term, slot: _Slot, schema: Schema) -> float:
    """How well a term fits a slot, 0 to 1."""
    if isinstance(term, LexiconEntry):
        return slot == "value"
    if isinstance(term, Class):
        return {"class": 1.0, "count": 1.0, "amount": 0.5, "value": 0.5}.get(slot, 0.0)
    if slot in ("amount", "count"):
        return is_of_kind(term, "number", schema) * (1.0 if slot == "amount" else 0.5)
    if slot in ("date", "state"):
        return is_of_kind(term, "date", schema) or (slot == "state" and term.datatype == "boolean")
    return 1.0 if slot == "property" else 0.5 * (slot == "class" and term.datatype == "text")


def _called(search: str, graph: Graph) -> list[_Term]:
    """The classes and properties, values and things that have a name with words that begin like these."""
    words = [token.norm for token in tokenize(search)]

    def is_called(*names: str) -> bool:
        own = [name_tokens(name) for name in names]
        return any(all(any(each.startswith(word) for each in name) for word in words) for name in own)

    shown: list[Class | Predicate] = [*graph.schema.shown_classes, *graph.schema.shown_predicates]
    found: list[_Term] = [each for each in shown if is_called(each.label, *each.alt_labels)]
    found += (each for each in _values(graph) if is_called(each.label))
    parts = [] if graph.attached else [graph.lexicon.beginning(word) for word in words]
    things = {each.target: each for each in graph.lexicon.find_containing(parts, MAX_TERMS) if each.kind == "entity"}
    return [*found, *things.values()]


def _values(graph: Graph) -> Collection[LexiconEntry]:
    """The values of an ingested graph that have names; those of another graph can't have further ones."""
    entries = () if graph.attached else graph.lexicon.schema_entries
    return {(each.predicate, each.target): each for each in entries if each.kind == "value"}.values()


def _taught_lexicon(lexicon: Lexicon, word: str, term: _Term) -> Lexicon:
    """The lexicon with one more name, as a layer gives it. It shares the files of the lexicon."""
    taught, tokens, known_word, known = copy.copy(lexicon), name_tokens(word), lexicon.word, lexicon.exact
    iri = "" if isinstance(term, LexiconEntry) else term.iri
    entries = [each for each in lexicon.schema_entries if each.target == iri and each.kind != "value"]
    own = {each._replace(tokens=tokens) for each in ([term] if isinstance(term, LexiconEntry) else entries)}

    def look_up(text: str) -> LexiconWord | None:
        own = LexiconWord(-1, text, lemma(text), 1, 0, len(tokens) == 1, len(tokens)) if text in tokens else None
        return known_word(text) or own

    taught.__dict__["word"] = look_up
    taught.__dict__["exact"] = lambda words: [*known(words), *(own if tuple(words) == tokens else ())]
    if lexicon.of_schema is not lexicon:
        taught.__dict__["_of_schema"] = _taught_lexicon(lexicon.of_schema, word, term)
        taught.schema, taught.schema_entries = taught.of_schema.schema, taught.of_schema.schema_entries
        return taught
    schema = lexicon.schema
    taught.schema = replace(
        schema,
        classes=tuple(replace(c, alt_labels=(*c.alt_labels, word)) if c.iri == iri else c for c in schema.classes),
        predicates=tuple(
            replace(p, alt_labels=(*p.alt_labels, word), phrases=(*p.phrases, word)) if p.iri == iri else p
            for p in schema.predicates
        ),
    )
    taught.schema_entries = tuple(sorted({*lexicon.schema_entries, *own}))
    return taught


def _meaning(term: _Term, schema: Schema) -> Meaning:
    if isinstance(term, Class):
        return Meaning("class", term.iri, term.label, f"{term.count:,} {'thing' if term.count == 1 else 'things'}")
    if isinstance(term, Predicate):
        samples = (quote_line(each)[:MAX_SAMPLE] for each in (term.values or term.samples)[:MAX_SAMPLES])
        return Meaning("property", term.iri, term.label, ", ".join(samples))
    if term.predicate:
        of = schema.predicate_of[term.predicate].label
        return Meaning("value", term.predicate, term.label, value=term.target, of=of)
    of = next((each.label for each in schema.classes if each.relation == term.relation), "")
    return Meaning("thing", term.target, term.label, of=of)


@dataclass(frozen=True)
class WordMeanings:
    """What a word may mean, the likeliest first. `problem` says why it can't be taught, `may_write` whether this caller
    may teach it."""

    graph: str
    word: str
    question: str
    meanings: tuple[Meaning, ...]
    problem: str
    may_write: bool


class WordMeaning(BaseModel):
    """A word and what it means: a class, property, value or thing by IRI or name, a value of the property, or words
    that it stands for."""

    word: str = Field(min_length=1, max_length=MAX_NAME)
    meaning: str = Field(min_length=1, max_length=2000)
    value: str = Field("", max_length=2000)


router = APIRouter(prefix="/api/graphs", tags=["graphs"], responses=ERROR_RESPONSES)


@router.get("/{graph}/layer/words", summary="Propose what a word may mean")
def word_meanings(
    look_up: GraphLookUpDep,
    word: Annotated[str, Query(min_length=1, max_length=MAX_NAME)],
    question: Annotated[str, Query(max_length=MAX_QUESTION)] = "",
    search: Annotated[str, Query(max_length=MAX_NAME)] = "",
) -> WordMeanings:
    """The likeliest classes, properties and values, or of all, also the things, those whose names begin like `search`.
    Each comes with what the question would give if the word meant that."""
    meanings: tuple[Meaning, ...] = ()
    problem = ""
    try:
        with look_up.open() as opened:
            meanings = find_meanings(word, question, opened, search)
    except ConfigError as error:
        problem = str(error)
    return WordMeanings(look_up.graph, word, question, meanings, problem, WRITE in look_up.caller.may)


@router.post("/{graph}/layer/words", summary="Teach a word", status_code=202)
def teach_word(look_up: GraphLookUpDep, body: WordMeaning) -> GraphNames:
    """Add a word that names nothing to the other names of a class, property, value or thing, and apply it. Needs a key
    with the right `write`."""
    return teach_meaning(look_up, body.word, body.meaning, body.value)


def teach_meaning(look_up: GraphLookUp, word: str, meaning: str, value: str = "", question: str = "") -> GraphNames:
    """As the route. Raises Forbidden, ConfigError, IngestionError."""
    require_names_right(look_up)
    with look_up.open() as opened:
        found = taught_meaning(word, meaning, opened, value, question)
        layers, sign = signed_layers(look_up, opened)
    return start_change(look_up, with_further_name(layers, Named(found.kind, found.iri, found.value), word, **sign))


def add_teaching(app: FastAPI, *, alone: bool) -> None:
    """Add the routes, and the part of the page that asks for them."""
    app.state.teaches = True
    app.include_router(router)
    app.mount("/teaching/files", PageFiles(directory=str(Path(__file__).with_name("static"))))
