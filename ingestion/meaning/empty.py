"""Empty texts, as databases export what is missing: Draft -> Draft, where they are no values."""

import numpy as np

from ingestion.meaning.draft import Draft

REASON = "empty text"


def leave_out_empty(draft: Draft) -> None:
    """Keep texts without a letter, a digit or a sign aside: what has one lacks the property."""
    facts = draft.facts
    empty = [number for number, text in enumerate(facts.texts) if not text.strip()]
    literal = facts.is_literal[facts.object]
    draft.hide(np.flatnonzero(np.isin(facts.object, empty) & literal).tolist(), REASON)
