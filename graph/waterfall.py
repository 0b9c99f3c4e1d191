"""How far down a waterfall goes: TurnView -> the branches below, none where it is settled (PolyRAG, section 4)."""

from collections.abc import Callable, Sequence

from agents.answering.select_answer import content_words, is_covered_by, row_probability, select_answer_rows
from agents.tool_selector import LAYERS
from agents.turn_view import TurnView
from graph.branches import WATERFALL_PASSAGES
from nacre.records.evidence import EvidenceSentence
from nacre.stores.catalog import Graph
from nacre.understanding.ranking.weights import load_weights

TextsMayAnswer = Callable[[Sequence[str]], bool]

# rows that are likelier right than not stay the answer whatever sentences say, where no word is left out (given)
SETTLED = 0.5
TRIPLES = LAYERS[1][0]


def lower_layers(view: TurnView, told: TextsMayAnswer) -> tuple[str, ...]:
    """The enabled branches that were not visited; none where what they may bring would not change the answer.

    Triples may know better than rows that are not likely enough to be given as the answer. Sentences never take the
    place of rows but for words that these leave out; `told` says whether texts may answer with those.
    """
    left = tuple(name for name in view.enabled if name not in view.visited)
    if not left:
        return ()
    asked_next = TRIPLES in left
    bar = load_weights().threshold if asked_next else SETTLED
    left_out = _left_out(view, bar)
    if left_out is None:
        return left
    return left if left_out and (asked_next or told(left_out)) else ()


def _left_out(view: TurnView, bar: float) -> list[str] | None:
    """The words that the answer so far leaves out; None where there is none that is as likely as `bar`."""
    understanding = view.understanding
    unknown = [word for word, _ in understanding.unknown]
    if understanding.expected == "prose":
        return unknown if any(each.round and each.branch in LAYERS[0] for each in view.evidence) else None
    found = select_answer_rows(understanding, view.evidence)
    if found is None or row_probability(understanding, found[1]) < bar:
        return None
    reading = found[1].reading
    return unknown + list(understanding.readings[reading].unused if reading is not None else ())


def texts_may_answer(question: str, graph: Graph, left_out: Sequence[str]) -> bool:
    """Whether one of the passages nearest by words, of a document, holds all words that were left out and covers the
    question: what rows give way to when an answer is put together. True where there is no index of words to ask."""
    if graph.lexical is None or graph.passages is None:
        return True
    wanted = content_words(" ".join(left_out))
    for passage in graph.passages.get([hit.id for hit in graph.lexical.search(question, WATERFALL_PASSAGES)]):
        told = [EvidenceSentence("lexical", 1, each.text, passage.title) for each in passage.sentences if each.document]
        said = content_words(" ".join([passage.title, *(each.text for each in told)]))
        if told and wanted <= said and is_covered_by(question, told):
            return True
    return False
