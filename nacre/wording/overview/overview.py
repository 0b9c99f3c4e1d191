"""A graph as a whole, as far as a turn wants it: Schema + GraphOverview -> sentences, in the order of the answer."""

from collections.abc import Iterator
from dataclasses import replace

from nacre.language.forms.nouns import join_names
from nacre.language.orientation import intents
from nacre.plans.run import Engine
from nacre.records.evidence import EvidenceSentence, GraphOverview
from nacre.records.schema import Schema
from nacre.wording.labels.predicate_labels import predicate_label
from nacre.wording.overview.highlights import TITLE, find_highlights, is_measure, spans_sentence
from nacre.wording.overview.kinds import about_sentence, kinds_sentence, main_kinds, subjects
from nacre.wording.overview.links import links_sentence, properties_sentence
from nacre.wording.overview.origin import origin_sentence

# Questions that are offered, and remarkable facts in an overview (given).
MAX_EXAMPLES, MAX_FACTS = 3, 2
# The title of the sentence that offers questions; it is no statement of the graph.
EXAMPLES = "example questions"


def overview_sentences(wanted: str, engine: Engine, round: int) -> tuple[EvidenceSentence, ...]:
    """The sentences of an answer to `wanted`, an intent; none for small talk."""
    if wanted in intents("small_talk"):
        return ()
    schema = engine.schema
    prepared = graph_overview(engine)
    texts = list(_texts(wanted, schema))
    whole = [EvidenceSentence(engine.tool, round, text=text, title=TITLE) for text in texts if text]
    if wanted == "interesting":
        sentences = [*(prepared.highlights or prepared.spans), *whole]
    elif wanted == "contents":
        origin = origin_sentence(engine)
        sentences = [*whole, *prepared.spans, *prepared.highlights[:MAX_FACTS], *([origin] if origin else [])]
    else:
        sentences = whole
    offered = [EvidenceSentence(engine.tool, round, text=text, title=EXAMPLES) for text in _offer(prepared, schema)]
    return tuple(_placed(place, each, engine.tool, round) for place, each in enumerate([*sentences, *offered]))


def graph_overview(engine: Engine) -> GraphOverview:
    """What the ingest prepared; else what a few bounded queries find, once for an open graph. Nothing is asked of a
    remote graph."""
    if engine.tables is None:
        spans = spans_sentence(engine.schema)
        return GraphOverview(spans=(spans,) if spans else ())
    tables = engine.tables
    if tables.overview is not None:
        return tables.overview
    return engine.schema.cache.get(graph_overview, lambda: find_highlights(tables, is_bounded=True))


def _texts(wanted: str, schema: Schema) -> Iterator[str]:
    yield kinds_sentence(schema) if wanted in intents("about_graph") else about_sentence(schema)
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
    """Questions that any graph with these kinds answers."""
    for subject in subjects(schema):
        best = next((p for p in subject.usual if is_measure(p, schema)), None)
        if best is not None:
            yield f"Which {subject.noun} has the highest {predicate_label(best.iri, schema).one}?"
        yield f"How many {subject.many} are there?"
    for subject in subjects(schema):
        yield f"Which {subject.many} are there?"


def _placed(place: int, sentence: EvidenceSentence, branch: str, round: int) -> EvidenceSentence:
    return replace(sentence, branch=branch, round=round, score=1.0 - place / 100)
