"""Find the words that shape a question: tokens -> Form (what is asked, superlatives, comparisons, negations)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from records.plan import Comparison, Function
from semantics.english import Measure, measure, resource
from semantics.units import Quantity, quantities
from semantics.words import Token

Asked = Literal["which", "count", "amount", "degree", "who", "where", "when", "yesno", "list", "prose", "fragment"]

_YES_NO = frozenset("is are was were does do did has have had can could will would isn't aren't doesn't don't".split())
_LIST = frozenset("name list show give display enumerate tell find".split())
_BEFORE_ASKING = frozenset("me us tell show give find list name in of from to on at by with for and".split())
_BEFORE_NUMBER = frozenset("the a total what is whats give me".split())
_AVERAGE = frozenset("average mean typical typically avg".split())
_TOTAL = frozenset("total combined altogether sum summed overall".split())
_NEGATIONS = frozenset("not no without except excluding isn't aren't doesn't don't didn't never neither".split())
_OPERATORS: tuple[tuple[str, Comparison], ...] = (
    (r"(?:more|greater|higher|larger|bigger|longer|over|above|older) than or equal to", ">="),
    (r"(?:less|fewer|lower|smaller|shorter) than or equal to", "<="),
    (r"at least|no less than|not less than|minimum of|from|>=|starting at", ">="),
    (r"at most|no more than|not more than|up to|maximum of|<=|within", "<="),
    (r"more than|greater than|higher than|larger than|bigger than|over|above|exceeding|exceeds?|beyond|after|>", ">"),
    (r"less than|fewer than|lower than|smaller than|under|below|beneath|before|cheaper than|<", "<"),
    (r"exactly|equal to|equals|of exactly|=", "="),
)
# "what makes the ...", "describe ...", "why would ...": nothing a row could answer
_PROSE = re.compile(
    r"\b(?:why|describe|characteri[sz]e[sd]?|explain|summari[sz]e|sum up|overview|feel for|who should|in general)\b"
    r"|^(?:tell me|talk)\b.*\babout\b|\bwhat makes?\b|\bshare\b.*\bwith\b|\bdifferences? between\b|\bcompare\b"
    r"|\bcompared (?:with|to)\b|\bwhat kind of\b[^?]*\b(?:would|get)\b"
    r"|\bwhat(?:'s| is| are| was| were)\b[^?]*\b(?:like|about|special|exciting|interesting|character|luxurious"
    r"|good at|known for|differences?)\b"
    r"|\bwhat (?:would|does|do|did|can|kind)\b[^?]*\b(?:offer|bring|add|convince|get|expect|provide|include"
    r"|stand for)\b"
)


@dataclass(frozen=True)
class Superlative:
    """A superlative: with a measure ("largest") or plain ("most"); `place` is 2 for "second largest"."""

    start: int
    end: int
    descending: bool
    measure: Measure | None
    place: int = 1
    limit: int = 1


@dataclass(frozen=True)
class Comparative:
    """ "longer than", "more expensive than", "more than" something that is no number."""

    start: int
    end: int
    descending: bool
    measure: Measure | None


@dataclass(frozen=True)
class Bound:
    """A number to compare with: "over 4.8 m", "longer than 5 m" (with its measure); "between 3 and 5" gives two."""

    start: int
    end: int
    op: Comparison
    quantity: Quantity
    measure: Measure | None = None


@dataclass(frozen=True)
class Form:
    """The shape of a question, in token positions. `focus` is where the thing asked for may begin."""

    asked: Asked
    focus: int
    superlatives: tuple[Superlative, ...]
    comparatives: tuple[Comparative, ...]
    bounds: tuple[Bound, ...]
    aggregates: tuple[tuple[int, Function], ...]
    negations: tuple[int, ...]
    degree: Measure | None
    taken: frozenset[int]
    fixed: frozenset[int] = frozenset()


def form(question: str, tokens: Sequence[Token]) -> Form:
    """The shape of a question."""
    words = [t.norm for t in tokens]
    asked, focus = _asked(question.casefold(), words, tokens)
    bounds = _bounds(question, tokens)
    numeric = {i for b in bounds for i in range(b.start, b.end)}
    supers = tuple(s for s in _superlatives(tokens) if s.start not in numeric)
    comparatives = tuple(c for c in _comparatives(tokens) if c.start not in numeric)
    if asked in ("which", "who") and "than" not in words:
        # "which of the two is older": the one that is most so
        supers += tuple(Superlative(c.start, c.end, c.descending, c.measure) for c in comparatives if c.measure)
        comparatives = ()
    aggregates: list[tuple[int, Function]] = []
    for i, word in enumerate(words):
        if word in _AVERAGE:
            aggregates.append((i, "avg"))
        elif word in _TOTAL and asked in ("which", "amount", "fragment", "degree", "list"):
            aggregates.append((i, "sum"))
        elif word in ("maximum", "minimum") and i not in numeric:
            aggregates.append((i, "max" if word == "maximum" else "min"))
    degree = measure(tokens[focus]) if asked == "degree" and focus < len(tokens) else None
    measured = {i for s in supers if s.measure for i in range(s.start, s.end)}
    taken = (
        numeric
        | {i for s in supers for i in range(s.start, s.end)}
        | {i for c in comparatives for i in range(c.start, c.end)}
    )
    taken |= {i for i, _ in aggregates}
    if degree:
        taken.add(focus)
    negations = tuple(i for i, w in enumerate(words) if w in _NEGATIONS and i not in numeric)
    return Form(
        asked,
        focus,
        supers,
        comparatives,
        bounds,
        tuple(aggregates),
        negations,
        degree,
        frozenset(taken),
        frozenset(numeric | measured),
    )


def _asked(question: str, words: list[str], tokens: Sequence[Token]) -> tuple[Asked, int]:
    if _PROSE.search(question):
        return "prose", 0
    listing = words[0] in _LIST if words else False
    for i, word in enumerate(words):
        following = words[i + 1] if i + 1 < len(words) else ""
        if listing and i > 0 and words[i - 1] not in _BEFORE_ASKING:
            # "name a player who ...": the question word only begins a relative clause
            continue
        if word == "how" and following == "many":
            return "count", i + 2
        if word == "how" and following == "much":
            return "amount", i + 2
        if word == "how" and following and measure(tokens[i + 1]):
            return "degree", i + 1
        if word in ("number", "count") and following == "of" and i < 5 and (i == 0 or words[i - 1] in _BEFORE_NUMBER):
            return "count", i + 2
        if word in ("which", "what", "whats"):
            return "which", i + 1
        if word in ("who", "whom", "whose"):
            return "who", i + 1
        if word == "where":
            return "where", i + 1
        if word == "when":
            return "when", i + 1
    if (
        words
        and words[0] in _YES_NO
        and not (len(words) > 1 and words[0] in ("can", "could", "would", "will") and words[1] in ("you", "i"))
    ):
        return "yesno", 1
    for i, word in enumerate(words[:5]):
        if word in _LIST:
            return "list", i + 1
    return "fragment", 0


def _superlatives(tokens: Sequence[Token]) -> list[Superlative]:
    ordinals, numbers = resource()["ordinals"], resource()["numbers"]
    found = []
    for i, token in enumerate(tokens):
        start, place, limit = i, 1, 1
        if i and tokens[i - 1].norm in ordinals:
            place, start = ordinals[tokens[i - 1].norm], i - 1
        elif (
            i
            and (tokens[i - 1].norm in numbers or tokens[i - 1].norm.isdigit())
            and not (i > 1 and tokens[i - 2].norm == "at")
        ):
            limit, start = int(numbers.get(tokens[i - 1].norm) or int(tokens[i - 1].norm)), i - 1
        if i + 1 < len(tokens) and tokens[i + 1].norm.isdigit() and token.norm in ("top", "first"):
            found.append(Superlative(i, i + 2, True, None, 1, int(tokens[i + 1].norm)))
            continue
        own = measure(token)
        if own and own.degree == "superlative":
            found.append(Superlative(start, i + 1, own.descending, own, place, max(1, limit)))
        elif token.norm in ("most", "least", "fewest") and not (i and tokens[i - 1].norm == "at"):
            next_ = measure(tokens[i + 1]) if i + 1 < len(tokens) else None
            if next_ and next_.degree == "positive":
                up = next_.descending if token.norm == "most" else not next_.descending
                found.append(Superlative(start, i + 2, up, next_, place, max(1, limit)))
            else:
                found.append(Superlative(start, i + 1, token.norm == "most", None, place, max(1, limit)))
    return found


def _comparatives(tokens: Sequence[Token]) -> list[Comparative]:
    found = []
    for i, token in enumerate(tokens):
        own = measure(token)
        if own and own.degree == "comparative":
            found.append(Comparative(i, i + 1, own.descending, own))
        elif token.norm in ("more", "less") and i + 1 < len(tokens):
            next_ = measure(tokens[i + 1])
            if next_ and next_.degree == "positive":
                up = next_.descending if token.norm == "more" else not next_.descending
                found.append(Comparative(i, i + 2, up, next_))
            else:
                found.append(Comparative(i, i + 1, token.norm == "more", None))
    return found


def _bounds(question: str, tokens: Sequence[Token]) -> tuple[Bound, ...]:
    found: list[Bound] = []
    lowered = question.casefold()
    numbers = quantities(question)
    words = resource()["numbers"]
    for i, token in enumerate(tokens):
        if token.norm in words and token.norm not in ("one", "zero"):
            numbers.append(Quantity(float(words[token.norm]), "", token.start, token.end))
        elif token.norm == "one" and i and tokens[i - 1].norm == "least":
            numbers.append(Quantity(1.0, "", token.start, token.end))
    for number in sorted(numbers, key=lambda q: q.start):
        before = lowered[: number.start].rstrip(" £€$")
        if re.search(r"\bfrom(?:\s\S+)? to$|\bfrom$", before) and re.search(
            r"\bfrom\s\S+(?:\s[a-z/]+)? to \d", lowered
        ):
            # "from 0 to 60" names a course, it bounds nothing
            continue
        between = re.search(r"between\s+\S+(?:\s+\S+)??\s+and$", before)
        if before.endswith("between"):
            found.append(_bound(tokens, len(before) - 7, number, ">="))
            continue
        if between:
            found.append(_bound(tokens, number.start, number, "<="))
            continue
        for pattern, op in _OPERATORS:
            match = re.search(rf"(?:^|[\s,(])(?P<op>{pattern})\s*(?:the\s|a\s|an\s)?$", before + " ")
            if match:
                found.append(_bound(tokens, match.start("op"), number, op))
                break
        else:
            match = re.search(r"(?P<word>[\w]+)\s+than$", before)
            position = next((i for i, t in enumerate(tokens) if match and t.start == match.start("word")), None)
            own = measure(tokens[position]) if position is not None else None
            if match and own:
                found.append(_bound(tokens, match.start("word"), number, ">" if own.descending else "<", own))
            elif re.search(r"\b(?:of|is|are|was|were|equals?|exactly|in|from|since|has|have|=)$", before):
                found.append(_bound(tokens, number.start, number, "="))
    return tuple(found)


def _bound(tokens: Sequence[Token], start: int, number: Quantity, op: Comparison, own: Measure | None = None) -> Bound:
    inside = [i for i, t in enumerate(tokens) if t.end > start and t.start < number.end]
    if own is None and inside and inside[0] < len(tokens):
        first = measure(tokens[inside[0]])
        own = first if first and first.degree == "comparative" else None
    return Bound(inside[0] if inside else 0, inside[-1] + 1 if inside else 0, op, number, own)
