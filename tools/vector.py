"""The branch `vector`: a text -> sentences of the passages nearest in meaning."""

from nacre.records.evidence import BranchResult
from nacre.stores.search.vectors import Vectors
from nacre.stores.sqlite.documents import Documents
from nacre.stores.sqlite.passages import Passages
from tools import passage_evidence as hits

BRANCH = "vector"


def search(
    vectors: Vectors,
    passages: Passages,
    text: str,
    question: str,
    *,
    round: int,
    limit: int,
    documents: Documents | None = None,
) -> BranchResult:
    """Sentences of the `limit` passages nearest to `text`, the best for `question` first."""
    return hits.search_passages(
        BRANCH, vectors.search, passages, text, question, round=round, limit=limit, documents=documents
    )
