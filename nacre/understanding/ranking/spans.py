"""Where spans of a question lie: span + Links -> bool."""

from collections.abc import Iterable

from nacre.understanding.question.types import Link, token_mask


def is_inside_link(start: int, end: int, links: Iterable[Link]) -> bool:
    """Whether one link covers all tokens of a span."""
    mask = token_mask(start, end)
    return any(x.covered & mask == mask for x in links)


def overlaps_link(start: int, end: int, links: Iterable[Link]) -> bool:
    """Whether a link covers some token of a span."""
    mask = token_mask(start, end)
    return any(x.covered & mask for x in links)
