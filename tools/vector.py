"""The branch `vector`: a text -> sentences of the passages that are nearest in meaning."""

from nacre.records.evidence import BranchResult
from nacre.stores.search.vectors import Vectors
from nacre.stores.sqlite.documents import Documents
from nacre.stores.sqlite.passages import Passages
from tools.passages import retrieve_sentences

BRANCH = "vector"


def search(
    index: Vectors,
    passages: Passages,
    text: str,
    question: str,
    *,
    round: int,
    limit: int,
    documents: Documents | None = None,
) -> BranchResult:
    """Sentences of the `limit` passages nearest to `text`, the best for `question` first."""
    return retrieve_sentences(BRANCH, index, passages, text, question, round=round, limit=limit, documents=documents)
