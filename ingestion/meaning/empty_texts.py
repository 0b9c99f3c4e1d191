"""Hide empty texts, which databases export for missing values: Draft -> Draft."""

import numpy as np

from ingestion.meaning.draft import Draft

REASON = "empty text"


def hide_empty_texts(draft: Draft) -> None:
    """Hide texts without a letter, a digit or a symbol: their subjects lack the property."""
    facts = draft.facts
    texts = facts.texts
    literals = np.flatnonzero(facts.is_literal).tolist()
    if all(map(str.strip, map(texts.__getitem__, literals))):
        return
    empty = [number for number in literals if not texts[number].strip()]
    draft.hide(np.flatnonzero(np.isin(facts.object, empty)).tolist(), REASON)
