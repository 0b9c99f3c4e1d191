"""Make a turn stand alone by the turns before it: question + earlier turns -> Rewrite."""

from records.schema import Schema
from records.turn import Earlier, Rewrite
from stores.lexicon import Lexicon


def rewrite(question: str, earlier: tuple[Earlier, ...], schema: Schema, lexicon: Lexicon) -> Rewrite:
    """The standalone question; independent questions come back unchanged."""
    return Rewrite(standalone=question)
