"""Whether a text near the question may say what its rows leave out: question + Graph + words -> yes or no."""

from collections.abc import Sequence

from agents.answering.trust import content_words, covers
from graph.branches import WATERFALL_TEXTS
from nacre.records.evidence import Sentence
from nacre.stores.catalog import Graph


def texts_may_answer(question: str, graph: Graph, left_out: Sequence[str]) -> bool:
    """Whether one of the passages nearest by words, of a document, holds all words that were left out and covers the
    question: what rows give way to when an answer is put together. True where there is no index of words to ask."""
    if graph.lexical is None or graph.passages is None:
        return True
    wanted = content_words(" ".join(left_out))
    for passage in graph.passages.get([hit.id for hit in graph.lexical.search(question, WATERFALL_TEXTS)]):
        told = [Sentence("lexical", 1, each.text, passage.title) for each in passage.sentences if each.document]
        said = content_words(" ".join([passage.title, *(each.text for each in told)]))
        if told and wanted <= said and covers(question, told):
            return True
    return False
