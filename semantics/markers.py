"""Find the words that shape a question: tokens -> Form (what is asked, superlatives, comparisons, negations)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from records.plan import Function
from semantics.bounds import Bound, find_bounds
from semantics.english import Measure, measure, resource
from semantics.words import Token

Asked = Literal["which", "count", "amount", "degree", "who", "where", "when", "yesno", "list", "prose", "fragment"]

_NOT = "isn't aren't wasn't weren't doesn't don't didn't hasn't haven't hadn't can't".split()
# people leave the apostrophe out
_NOT += [word.replace("'", "") for word in _NOT]
_YES_NO = frozenset("is are was were does do did has have can could will would".split()) | frozenset(_NOT)
_LIST = frozenset("name list show give display enumerate tell find".split())
_BEFORE_ASKING = frozenset("me us tell show give find list name in of from to on at by with for and".split())
_BEFORE_ORDINAL = frozenset("the a an his her its their our my of at to and in on since for".split())
_POLITE = frozenset("please you to can could just me and then".split())
_BEFORE_NUMBER = frozenset("the a total what is was whats give tell show find me".split())
_AVERAGE = frozenset("average mean typical typically avg".split())
_TOTAL = frozenset("total combined altogether together sum summed overall".split())
_NEGATIONS = frozenset(["not", "no", "without", "except", "excluding", "never", "neither", "cannot", *_NOT])
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


# of one property, which rows can answer
_DIFFERENCE = re.compile(
    r"\bdifference (?:in|of) [\w -]+? between\b"
    r"|\b(?!(?:the|a|an|any|main|what|whats|is) )[\w-]+ difference between\b(?! the two)"
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
    unit: str = ""


def form(question: str, tokens: Sequence[Token]) -> Form:
    """The shape of a question."""
    words = [t.norm for t in tokens]
    asked, focus = _asked(question.casefold(), words, tokens)
    bounds = find_bounds(question, tokens)
    numeric = {i for b in bounds for i in range(b.start, b.end)}
    supers = tuple(s for s in _superlatives(tokens) if s.start not in numeric)
    comparatives = tuple(c for c in _comparatives(tokens) if c.start not in numeric)
    if asked in ("which", "who") and "than" not in words:
        # "which of the two is older": the one that is most so
        supers += tuple(Superlative(c.start, c.end, c.descending, c.measure) for c in comparatives)
        comparatives = ()
    aggregates: list[tuple[int, Function]] = []
    for i, word in enumerate(words):
        if word in _AVERAGE:
            aggregates.append((i, "avg"))
        elif (word in _TOTAL and asked not in ("yesno", "prose", "who", "where")) or (
            word in ("add", "adds", "sum") and words[i + 1 : i + 2] == ["up"]
        ):
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
    taken |= {i for i, w in enumerate(words) if w in _TOTAL} | {i for i, _ in aggregates}
    if degree:
        taken.add(focus)
    units = resource()["units"]
    # "the power in kW", "how many minutes" name the unit wanted
    wanted = [i for i in range(1, len(words)) if tokens[i].lemma in units and words[i - 1] in ("in", "many")]
    unit = units[tokens[wanted[0]].lemma] if wanted else ""
    taken |= set(wanted)
    if asked == "count" and focus in wanted:
        asked = "amount"
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
        unit,
    )


def _asked(question: str, words: list[str], tokens: Sequence[Token]) -> tuple[Asked, int]:
    if _DIFFERENCE.search(question):
        return "amount", 0
    if _PROSE.search(question):
        return "prose", 0
    listing = words[0] in _LIST if words else False
    for i, word in enumerate(words[:7]):
        # "what is the number of", "give me the number of"
        counted = word == "number" and words[i + 1 : i + 2] == ["of"] and words[max(0, i - 1)] in ("the", "total")
        if counted and all(w in _BEFORE_NUMBER or w in _POLITE for w in words[:i]):
            return "count", i + 2
    for i, word in enumerate(words):
        following = words[i + 1] if i + 1 < len(words) else ""
        if i > 1 and words[i - 1] == "and" and words[i - 2] not in _LIST:
            # "<things> and who made them": asked beside the things
            continue
        if listing and i > 0 and words[i - 1] not in _BEFORE_ASKING:
            # "name a player who ...": the question word only begins a relative clause
            continue
        if word == "how" and following == "many":
            more = words[i + 2] if i + 2 < len(words) else ""
            return ("amount" if more in ("more", "fewer") and "than" in words else "count"), i + 2
        if word == "how" and following == "much":
            return "amount", i + 2
        if word == "how" and following and measure(tokens[i + 1]):
            return "degree", i + 1
        if word in ("number", "count") and following == "of" and i < 5 and (i == 0 or words[i - 1] in _BEFORE_NUMBER):
            return "count", i + 2
        after = words[i + 2] if i + 2 < len(words) else ""
        if word in ("which", "what") and following in ("day", "date") and after in _YES_NO:
            return "when", i + 2
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
        if word in _LIST and (i == 0 or words[i - 1] in _POLITE):
            return "list", i + 1
    for i in range(1, len(words)):
        # a clause before it only says why: the question begins at the verb
        between = question[tokens[i - 1].end : tokens[i].start]
        if words[i] in _YES_NO and any(c in between for c in ",.;:!?-"):
            return "yesno", i + 1
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
        ends = i + 1 == len(tokens) or tokens[i + 1].start - token.end > 1
        if token.norm in ("first", "last") and i and tokens[i - 1].norm not in _BEFORE_ORDINAL and ends:
            # "who was born last", "which opened first"
            own = measure(tokens[i]._replace(norm="latest" if token.norm == "last" else "earliest"))
            found.append(Superlative(i, i + 1, token.norm == "last", own))
        elif own and own.degree == "superlative":
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
