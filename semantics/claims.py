"""Check what a sentence claims against the evidence it cites: sentence -> unsupported claims."""

from collections.abc import Sequence

from records.evidence import Evidence


def unsupported(sentence: str, evidence: Sequence[Evidence]) -> list[str]:
    """The numbers and names of the sentence that its evidence does not hold."""
    return []
