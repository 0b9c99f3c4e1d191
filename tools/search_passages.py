"""The branches `lexical` and `vector`: a text -> sentences of the passages with its words, or nearest in meaning."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from nacre.language.thesaurus import rank_sentences
from nacre.records.evidence import BranchResult, EvidenceSentence, Passage, Query
from nacre.stores.sqlite.passages import Documents, PassageHit, Passages

LEXICAL, VECTOR = "lexical", "vector"

MOST_WORDS = 300
MOST_SENTENCES = 24


class PassageIndex(Protocol):
    """An index that finds passages for a text."""

    def search(self, text: str, limit: int) -> Sequence[PassageHit]:
        """At most `limit` passages, the best first."""
        ...


class SentenceSearch(Protocol):
    """A branch over one index of passages: `retrieve_sentences` with its stores bound."""

    def __call__(
        self, text: str, question: str, *, round: int, limit: int, documents: Documents | None = None
    ) -> BranchResult: ...


def retrieve_sentences(
    branch: str,
    index: PassageIndex,
    passages: Passages,
    text: str,
    question: str,
    *,
    round: int,
    limit: int,
    documents: Documents | None = None,
) -> BranchResult:
    """At most 24 sentences of the `limit` passages that the index finds for `text`, those that answer `question` best
    first. `documents` knows the things that sentences of documents name; their IRIs become keys of the sentence."""
    started = time.perf_counter()
    hits = index.search(text, limit)
    scores = {hit.id: hit.score for hit in hits}
    found = passages.get([hit.id for hit in hits])
    sentences = [each for passage in found for each in found_sentences(passage, branch, round, scores[passage.id])]
    chosen = tuple(sentences[i] for i in rank_sentences(question, sentences, MOST_WORDS)[:MOST_SENTENCES])
    places = [(each.document, each.start, each.end) for each in chosen if each.document]
    if documents is not None and places:
        named = documents.mentioned_in(places)
        chosen = tuple(
            replace(each, keys=(*each.keys, *named.get((each.document or "", each.start, each.end), ())))
            for each in chosen
        )
    query = Query(
        branch, round, text, words=f"passages like: {text}", rows=len(hits), seconds=time.perf_counter() - started
    )
    return BranchResult(branch, chosen, (query,))


def found_sentences(passage: Passage, branch: str, round: int, score: float = 0.0) -> Iterator[EvidenceSentence]:
    """The sentences of a passage as evidence."""
    for each in passage.sentences:
        triples = (each.triple,) if each.triple else ()
        found = branch, round, each.text, passage.title, score, (passage.key,), triples
        yield EvidenceSentence(*found, each.document, each.start, each.end)
