"""Whether texts may answer what rows leave out: question + words + Graph -> yes or no, by the nearest passages."""

from collections.abc import Sequence

from agents.answering.selection.word_cover import content_words, is_covered_by
from nacre.records.evidence import EvidenceSentence
from nacre.stores.catalog import Graph

# passages that the last layer of a waterfall looks at (PolyRAG, section 5.1)
WATERFALL_PASSAGES = 5


def may_texts_answer(question: str, graph: Graph, left_out: Sequence[str]) -> bool:
    """Whether one of the passages of documents that are nearest by words contains all words that were left out and
    covers the question: the fuser prefers such a text to rows. True if the graph has no index of words."""
    if graph.lexical is None or graph.passages is None:
        return True
    missing = content_words(" ".join(left_out))
    for passage in graph.passages.get([hit.id for hit in graph.lexical.search(question, WATERFALL_PASSAGES)]):
        sentences = [
            EvidenceSentence("lexical", 1, each.text, passage.title) for each in passage.sentences if each.document
        ]
        words = content_words(" ".join([passage.title, *(each.text for each in sentences)]))
        if sentences and missing <= words and is_covered_by(question, sentences):
            return True
    return False
