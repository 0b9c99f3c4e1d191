"""Join facts of a graph and sentences of texts: a question that needs both -> the thing it describes, and the answer.

A phrase that describes a thing ("the ship that has a library", "the longest ship") is answered by the texts or by the
graph; the question with the thing's name in the place of the phrase is then answered by the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from agents.answering.calibrate_rows import MOST_RUN, weighed
from agents.answering.select_answer import chance, is_empty
from agents.turn_view import TurnView
from nacre.access.text_lexicon import names_for
from nacre.language.tokens import name_tokens, tokens
from nacre.records.evidence import Evidence, Found, Joined, Query, Rows, Sentence
from nacre.records.turn import Rewrite, Understanding
from nacre.texts.answer import named as described_by
from nacre.texts.measures import Span
from nacre.understanding.question.descriptive_phrases import Described, described
from nacre.understanding.understand import understand
from tools import lexical, sql

if TYPE_CHECKING:
    from nacre.stores.catalog import Graph
    from nacre.stores.sqlite.lexicon import Lexicon

# phrases of a question that are tried
MOST_PHRASES = 3
# what is less likely than this one in ten is right is no basis (as of rows: agents.answering.trust.DECLINED)
LEAST = 0.1


def may_join(view: TurnView, graph: Graph) -> bool:
    """Whether there are texts and facts, and the graph alone does not account for the question."""
    if graph.documents is None or not graph.documents.count or graph.lexical is None or not graph.schema.classes:
        return False
    if view.rewrite.chosen is not None:
        return False
    return not _is_accounted(view.understanding)


def joined(understanding: Understanding, graph: Graph, *, round: int, limit: int) -> Found:
    """Rows that rest on a sentence, and sentences that rest on rows: each with a `Joined` that says on what."""
    names = names_for(graph, understanding.standalone)
    evidence: list[Evidence] = []
    queries: list[Query] = []
    for phrase in described(understanding.standalone, names)[:MOST_PHRASES]:
        for found in (_by_text(phrase, graph, names, round, limit), _by_graph(phrase, graph, names, round, limit)):
            evidence += found.evidence
            queries += found.queries
    return Found(sql.BRANCH, tuple(evidence), tuple(queries))


def _by_text(phrase: Described, graph: Graph, names: Lexicon, round: int, limit: int) -> Found:
    """The texts say which thing is described, the graph answers."""
    found = _search(phrase.question, graph, round, limit)
    told = [each for each in found.evidence if isinstance(each, Sentence) and each.document is not None]
    spans = [list(_things(each, phrase, names)) for each in told]
    # of which kind a thing is the graph knows, a sentence need not say it
    clause = phrase.clause if phrase.relations else phrase.question.removeprefix("which ")
    answer = next(iter(described_by(clause, told, spans)), None)
    if answer is None or answer.probability < LEAST:
        return Found(sql.BRANCH)
    thing = names.thing(str(answer.value))
    label = thing.label if thing is not None else ""
    rows, queries = _rows(phrase.asking(label), graph, names, round, about=str(answer.value))
    if rows is None or not label:
        return Found(sql.BRANCH)
    join = Joined(phrase.asking(label), label, round_chance(answer.probability))
    probability = round_chance((rows.probability or 0.0) * answer.probability)
    basis = replace(told[answer.sentence], joined=replace(join, basis=True))
    return Found(sql.BRANCH, (replace(rows, probability=probability, joined=join), basis), queries)


def _by_graph(phrase: Described, graph: Graph, names: Lexicon, round: int, limit: int) -> Found:
    """The graph says which thing is described, the texts answer."""
    rows, queries = _rows(phrase.question, graph, names, round)
    things = list(dict.fromkeys(key for row in rows.table.keys for key in row[:1])) if rows is not None else []
    if rows is None or len(things) != 1 or (thing := names.thing(things[0])) is None:
        return Found(sql.BRANCH)
    if phrase.relations and thing.relation not in phrase.relations:
        return Found(sql.BRANCH)
    question = phrase.asking(thing.label)
    join = Joined(question, thing.label, round_chance(rows.probability or 0.0))
    found = _search(question, graph, round, limit)
    told = [
        replace(each, joined=join)
        for each in found.evidence
        if isinstance(each, Sentence) and each.document is not None
    ]
    if not told:
        return Found(sql.BRANCH)
    basis = replace(rows, joined=replace(join, basis=True))
    return Found(sql.BRANCH, (basis, *told), queries)


def round_chance(value: float) -> float:
    """A probability as records keep it."""
    return round(value, 4)


def _search(text: str, graph: Graph, round: int, limit: int) -> Found:
    if graph.lexical is None or graph.passages is None:
        return Found(lexical.BRANCH)
    return lexical.search(
        graph.lexical, graph.passages, text, text, round=round, limit=limit, documents=graph.documents
    )


def _rows(
    question: str, graph: Graph, names: Lexicon, round: int, about: str = ""
) -> tuple[Rows | None, tuple[Query, ...]]:
    """The likeliest rows of a question that the graph accounts for wholly, or that names the thing it is `about`;
    without the place of their reading."""
    understanding = understand(Rewrite(question), graph.schema, names)
    is_about = bool(about) and any(mention.target == about for mention in understanding.mentions)
    if not is_about and not _is_accounted(understanding):
        return None, ()
    ran = sql.run_readings(understanding.readings[:MOST_RUN], graph.tables, round=round)
    found = [rows for each in weighed(understanding, ran) for rows in each.rows if not is_empty(rows.table)]
    best = max(found, key=lambda rows: chance(understanding, rows), default=None)
    if best is None or best.reading is None or (understanding.readings[best.reading].unused and not is_about):
        return None, ()
    plan = understanding.readings[best.reading].plan
    queries = (best.query, *best.beside) if best.query is not None else best.beside
    return replace(best, reading=None, plan=plan, probability=chance(understanding, best)), queries


def _is_accounted(understanding: Understanding) -> bool:
    """Whether the best reading leaves no word out and nothing is unknown."""
    return bool(understanding.readings) and not understanding.readings[0].unused and not understanding.unknown


def _things(sentence: Sentence, phrase: Described, names: Lexicon) -> Iterator[Span]:
    """Where a sentence names things that may be the one described; their value is the IRI."""
    said = tokens(sentence.text)
    for iri in sentence.keys[1:]:
        thing = names.thing(iri)
        if thing is None or (phrase.relations and thing.relation not in phrase.relations):
            continue
        label = name_tokens(thing.label)
        for i in range(len(said) - len(label) + 1):
            if tuple(token.norm for token in said[i : i + len(label)]) == label:
                yield Span(said[i].start, said[i + len(label) - 1].end, "thing", iri)
                break
