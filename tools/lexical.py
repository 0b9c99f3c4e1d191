"""The branch `lexical`: a text -> sentences of the passages that contain its words."""

from nacre.records.evidence import BranchResult
from nacre.stores.search.lexical import LexicalIndex
from nacre.stores.sqlite.documents import Documents
from nacre.stores.sqlite.passages import Passages
from tools.passages import retrieve_sentences

BRANCH = "lexical"


def search(
    index: LexicalIndex,
    passages: Passages,
    text: str,
    question: str,
    *,
    round: int,
    limit: int,
    documents: Documents | None = None,
) -> BranchResult:
    """Sentences of the `limit` passages that match the words of `text` best, the best for `question` first."""
    return retrieve_sentences(BRANCH, index, passages, text, question, round=round, limit=limit, documents=documents)
