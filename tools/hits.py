"""Passages that a search found -> their sentences as evidence, the best for the question first."""

import time
from collections.abc import Callable, Sequence

from nacre.records.evidence import Found, Query, Sentence
from nacre.semantics.sentences import best
from nacre.stores.passages import Hit, Passages

MOST_WORDS = 300
MOST_SENTENCES = 24


def found(
    branch: str,
    search: Callable[[str, int], Sequence[Hit]],
    passages: Passages,
    text: str,
    question: str,
    *,
    round: int,
    limit: int,
) -> Found:
    """What `search(text, limit)` finds, as at most 24 sentences, those that answer `question` best first."""
    started = time.perf_counter()
    hits = search(text, limit)
    scores = {hit.id: hit.score for hit in hits}
    sentences = [
        Sentence(
            branch,
            round,
            text=sentence.text,
            title=passage.title,
            score=scores[passage.id],
            keys=(passage.key,),
            triples=(sentence.triple,) if sentence.triple else (),
            document=sentence.document,
            start=sentence.start,
            end=sentence.end,
        )
        for passage in passages.get([hit.id for hit in hits])
        for sentence in passage.sentences
    ]
    chosen = tuple(sentences[i] for i in best(question, sentences, MOST_WORDS)[:MOST_SENTENCES])
    query = Query(
        branch, round, text, words=f"passages like: {text}", rows=len(hits), seconds=time.perf_counter() - started
    )
    return Found(branch, chosen, (query,))
