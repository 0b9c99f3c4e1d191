"""The branch `lexical`: the words of a text -> sentences of the passages that hold them."""

from nacre.records.evidence import BranchResult
from nacre.stores.search.lexical import LexicalIndex
from nacre.stores.sqlite.documents import Documents
from nacre.stores.sqlite.passages import Passages
from tools import passage_evidence as hits

BRANCH = "lexical"


def search(
    lexical: LexicalIndex,
    passages: Passages,
    text: str,
    question: str,
    *,
    round: int,
    limit: int,
    documents: Documents | None = None,
) -> BranchResult:
    """Sentences of the `limit` passages that hold the words of `text` best, the best for `question` first."""
    return hits.search_passages(
        BRANCH, lexical.search, passages, text, question, round=round, limit=limit, documents=documents
    )
