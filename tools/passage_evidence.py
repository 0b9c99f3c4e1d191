"""Passages that a search found -> their sentences as evidence, the best for the question first."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from nacre.language.rank_sentences import rank_sentences
from nacre.records.evidence import BranchResult, EvidenceSentence, Query
from nacre.stores.sqlite.documents import Documents
from nacre.stores.sqlite.passages import PassageHit, Passages

MOST_WORDS = 300
MOST_SENTENCES = 24


def search_passages(
    branch: str,
    search: Callable[[str, int], Sequence[PassageHit]],
    passages: Passages,
    text: str,
    question: str,
    *,
    round: int,
    limit: int,
    documents: Documents | None = None,
) -> BranchResult:
    """What `search(text, limit)` finds, as at most 24 sentences, those that answer `question` best first; with the
    things that they name, where `documents` knows them."""
    started = time.perf_counter()
    hits = search(text, limit)
    scores = {hit.id: hit.score for hit in hits}
    sentences = [
        EvidenceSentence(
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
    chosen = tuple(sentences[i] for i in rank_sentences(question, sentences, MOST_WORDS)[:MOST_SENTENCES])
    if documents is not None:
        named = documents.named_in([(each.document, each.start, each.end) for each in chosen if each.document])
        chosen = tuple(
            replace(each, keys=(*each.keys, *named.get((each.document or "", each.start, each.end), ())))
            for each in chosen
        )
    query = Query(
        branch, round, text, words=f"passages like: {text}", rows=len(hits), seconds=time.perf_counter() - started
    )
    return BranchResult(branch, chosen, (query,))
