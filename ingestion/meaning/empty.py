"""Empty texts, as databases export what is missing: Draft -> Draft, where they are no values."""

import numpy as np

from ingestion.meaning.draft import Draft

REASON = "empty text"


def leave_out_empty(draft: Draft) -> None:
    """Keep texts without a letter, a digit or a sign aside: what has one lacks the property."""
    facts = draft.facts
    empty = np.fromiter((not text or text.isspace() for text in facts.texts), dtype=bool, count=len(facts.texts))
    empty &= facts.is_literal
    if empty.any():
        draft.hide(np.flatnonzero(empty[facts.object]).tolist(), REASON)
