"""Analyse a question: text -> Question with tokens, cues, numbers and quotations (stage `analyse_question`)."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from nacre.language.base import language
from nacre.language.dates import Period, find_periods
from nacre.language.quantities.quantity import find_quantities
from nacre.language.thesaurus import english_data, function_words, gradable_adjective, unit_words
from nacre.language.tokens import Token, tokenize
from nacre.understanding.question.bounds import find_bounds
from nacre.understanding.question.trailing_clause import trailing_clause_start
from nacre.understanding.question.types import Cue, Number, Question

# a longer question is read to here only
MAX_TOKENS = 120
MOST_NUMBERS = 40
_MOMENT = re.compile(r"\b\d{4}-\d{2}-\d{2}[ T]\d{1,2}:\d{2}(?::\d{2})?\b")
# a telephone number, an address of a machine, a version: digits in at least three parts
_CODE = re.compile(r"(?<![\w.,:+\-])\+?\d+(?:[.\-]\d+){2,}(?![\w\-]|[.:,]\d)")
_QUOTED = re.compile(
    r"\"([^\"]{1,80})\"|“([^”]{1,80})”|(?<![\w])'([^']{1,80})'(?![\w])|``([^`']{1,80})''|`([^`']{1,80})[`']"
)


_PLACING = ("superlative", "most")
# words of "from the most expensive to the least expensive"
_LONGEST_SPAN = 8
# how far behind a comparative its "than" stands at most
MOST_BEFORE_THAN = 6
# units of time, in which something may have to be computed
_TIMES = frozenset(("s", "min", "h", "day", "week", "month", "year"))


def analyse_question(text: str) -> Question:
    """The question as immutable parts; cues that overlap are all kept, the parser chooses."""
    words = tuple(tokenize(text)[:MAX_TOKENS])
    cues = _cues(words)
    second = trailing_clause_start(text, words, cues)
    if second is not None:
        words = words[:second]
        cues = _cues(words)
    text = text[: words[-1].end + 1] if words else text
    quoted = _quotations(text, words)
    light = (function_words() | language().words["filler"]) - language().words["telling"]
    units = _units(words)
    inside = {i for start, end in quoted for i in range(start, end)} | units
    numbers = _numbers(text, words)
    return Question(
        text,
        words,
        tuple(c for c in cues if not inside & set(range(c.start, c.end)) and not _is_part(c, cues, numbers)),
        numbers,
        quoted,
        frozenset(i for i, t in enumerate(words) if _is_light(t, light, text) or i in units),
        wants_measure=second is not None,
    )


def _is_light(token: Token, light: Collection[str], text: str) -> bool:
    """Whether a word carries no meaning; "US" and "IT" do, among words in small letters, and so does a letter alone
    that is no part of a word ("it's", "Ph.D.")."""
    alone = token.start > 0 and (text[token.start - 1].isspace() or text[token.start - 1] in '"“‘(')
    if len(token.text) == 1 and alone and token.norm not in language().words["letters"]:
        return False
    acronym = token.norm in language().words["acronyms"] and token.text.isupper() and not text.isupper()
    return not acronym and (token.norm in light or token.lemma in light)


def _units(words: Sequence[Token]) -> frozenset[int]:
    """The words that only say how a number is to be told: "in miles per hour", "how many kilos does it weigh"."""
    known = unit_words()

    def measures(t: Token) -> bool:
        return len(t.norm) > 1 and bool({t.norm, t.lemma} & known)

    found: set[int] = set()
    for i, token in enumerate(words[1:], 1):
        if words[i - 1].norm != "in" or not measures(token):
            continue
        joined = language().words["rate"] | language().words["of_units"]
        end = next((j for j in range(i, len(words)) if not (measures(words[j]) or words[j].norm in joined)), len(words))
        if end == len(words) or words[end].norm in function_words():
            found |= set(range(i, end))
    asked = [t.norm for t in words[:5]]
    said = language().words
    if len(asked) > 3 and asked[0] in said["degree"] and asked[1] in said["how_much"] and measures(words[2]):
        unit = english_data()["units"].get(words[2].norm) or english_data()["units"].get(words[2].lemma)
        # "how many metres high is ..."
        high = gradable_adjective(words[3])
        if unit is not None and unit not in _TIMES and high is not None and high.degree == "positive":
            found |= {0, 1, 2}
    return frozenset(found)


def question_of_tokens(words: Sequence[Token]) -> Question:
    """A question without cues and numbers, of which only names matter."""
    light = function_words()
    text = " ".join(t.text for t in words)
    return Question(text, tuple(words), (), (), (), frozenset(i for i, t in enumerate(words) if t.norm in light))


def _quotations(text: str, words: tuple[Token, ...]) -> tuple[tuple[int, int], ...]:
    """What stands in quotation marks, and codes of digits, which mean themselves as much."""
    found = []
    for match in _QUOTED.finditer(text):
        inside = [i for i, t in enumerate(words) if match.start() < t.start and t.end < match.end() + 1]
        if inside:
            found.append((inside[0], inside[-1] + 1))
    codes = list(_CODE.finditer(text))
    dated = [(p.start, p.end) for p in find_periods(text, any_year=True)] if codes else []
    dated += [m.span() for m in _MOMENT.finditer(text)]
    for match in codes:
        inside = [i for i, t in enumerate(words) if match.start() <= t.start and t.end <= match.end()]
        taken = any(a < match.end() and match.start() < b for a, b in dated)
        if inside and not taken and not any(a <= inside[0] < b for a, b in found):
            found.append((inside[0], inside[-1] + 1))
    return tuple(sorted(found))


# cues whose words are no cues by themselves
_WHOLE = ("now", "distinct")


def _is_part(cue: Cue, cues: Sequence[Cue], numbers: Sequence[Number]) -> bool:
    """Whether a word is part of what compares a number, and says nothing else: "no more than 3", "at least one"."""
    if any(c.kind in _WHOLE and c.start <= cue.start and cue.end <= c.end and c is not cue for c in cues):
        # "no longer", "without duplicates"
        return True
    if cue.kind not in ("negation", "most"):
        return False
    comparing = [(n.start, n.end) for n in numbers if n.op] + [(c.start, c.end) for c in cues if c.kind == "compare"]
    return any(start <= cue.start and cue.end <= end and cue.end - cue.start < end - start for start, end in comparing)


def _cues(words: tuple[Token, ...]) -> list[Cue]:
    known = language().cues
    found: list[Cue] = []
    norms = [t.norm for t in words]
    more, fewer, numbered, locating = (language().words[name] for name in ("more", "fewer", "numbered", "locating"))
    for i, word in enumerate(norms):
        longest: dict[str, int] = {}
        for said, kind, value in known.get(word, ()):
            if tuple(norms[i : i + len(said)]) == said and longest.get(kind, 0) <= len(said):
                if kind == "count" and i and norms[i - 1] in numbered:
                    # "the phone number of" tells phones apart
                    continue
                if kind == "group" and i and _stands_in(words, i + len(said)) and norms[i - 1] not in locating:
                    # "the year each one was built"
                    continue
                longest[kind] = len(said)
                found.append(Cue(i, i + len(said), kind, value))
        own = gradable_adjective(words[i])
        asked = gradable_adjective(words[i + 1]) if word in language().words["degree"] and i + 1 < len(words) else None
        if asked is not None and asked.degree == "positive":
            found.append(Cue(i, i + 2, "degree", "|".join(asked.concepts)))
        if own is not None and own.degree == "superlative":
            found.append(Cue(i, i + 1, "superlative", ("up " if own.descending else "down ") + "|".join(own.concepts)))
        elif own is not None and own.degree == "comparative" and i + 1 < len(norms) and norms[i + 1] == "than":
            found.append(Cue(i, i + 2, "comparative", (">" if own.descending else "<") + " " + "|".join(own.concepts)))
        elif own is not None and own.degree == "comparative":
            op = ">" if own.descending else "<"
            found.append(Cue(i, i + 1, "compared", f"{op} {'|'.join(own.concepts)}"))
            if "compare" not in longest and "than" in norms[i + 2 : i + MOST_BEFORE_THAN]:
                # "a bigger budget than"
                found.append(Cue(i, i + 1, "compare", op))
            if _is_choice(norms, i):
                # "which of them is cheaper?"
                value = ("up " if own.descending else "down ") + "|".join(own.concepts)
                found.append(Cue(i, i + 1, "superlative", value))
        elif word in more | fewer and i + 1 < len(norms) and _is_choice(norms, len(norms) - 1):
            # "which of them has more shelves?"
            found.append(Cue(i, i + 1, "most", "up" if word in more else "down"))
        elif word in english_data()["at_end"] and (0 < i == len(words) - 1 or _is_first_of(words, i)):
            # "who joined last?", "the first concert"
            last = gradable_adjective(
                words[i]._replace(norm=english_data()["at_end"][word], lemma=english_data()["at_end"][word])
            )
            if last is not None:
                value = ("up " if last.descending else "down ") + "|".join(last.concepts)
                found.append(Cue(i, i + 1, "superlative", value))
        elif i + 1 < len(words) and word in ("most", "least"):
            following = gradable_adjective(words[i + 1])
            if following is not None and following.degree == "positive":
                up = following.descending == (word == "most")
                value = ("up " if up else "down ") + "|".join(following.concepts)
                found.append(Cue(i, i + 2, "superlative", value))
        elif i + 1 < len(words) and word in ("more", "less"):
            following = gradable_adjective(words[i + 1])
            if following is not None and following.degree == "positive":
                up = following.descending == (word == "more")
                value = (">" if up else "<") + " " + "|".join(following.concepts)
                than = norms[i + 2 : i + 3] == ["than"]
                found.append(Cue(i, i + 3, "comparative", value) if than else Cue(i, i + 2, "compared", value))
    if norms and norms[-1] in language().words["summed_up"] and not any(c.end == len(words) for c in found):
        # "what did they cost together?"
        found.append(Cue(len(words) - 1, len(words), "sum", ""))
    found += [*_from_to(words), *_both_ends(words), *_valued(words)]
    # "highest first" is a direction, and no superlative
    directed = [(c.start, c.end) for c in found if c.kind in ("direction", "ordered") and c.end - c.start > 1]
    return [c for c in found if c.kind not in _PLACING or not any(s <= c.start and c.end <= e for s, e in directed)]


def _valued(words: Sequence[Token]) -> Iterator[Cue]:
    """ "worth more than", "which is worth the least": what is said of a measure by a word that is no adjective."""
    said, known = language().words, english_data()["as_measure"]
    for i, word in enumerate(words):
        after = [(j, w.norm) for j, w in enumerate(words[i + 1 : i + 3], i + 1) if w.norm not in said["article"]][:1]
        if word.norm not in known or not after:
            continue
        j, how = after[0]
        meant = gradable_adjective(word._replace(norm=known[word.norm], lemma=known[word.norm]))
        if meant is None:
            continue
        concepts, than = "|".join(meant.concepts), [w.norm for w in words[j + 1 : j + 2]] == ["than"]
        if how in said["more"] | said["fewer"]:
            value = f"{'>' if how in said['more'] else '<'} {concepts}"
            yield Cue(i, j + 2, "comparative", value) if than else Cue(i, j + 1, "compared", value)
        elif how in said["most"] | said["least"]:
            yield Cue(i, j + 1, "superlative", f"{'down' if how in said['least'] else 'up'} {concepts}")


def _from_to(words: Sequence[Token]) -> Iterator[Cue]:
    """ "from the tallest to the shortest": both ends of one measure."""
    known = language().words
    for i, word in enumerate(words):
        if word.norm not in known["from"]:
            continue
        said = words[i + 1 : i + _LONGEST_SPAN]
        ends = [j for j, w in enumerate(said, i + 1) if w.norm not in known["article"] | known["most"]][:3]
        if len(ends) < 3 or words[ends[1]].norm != "to":
            continue
        first, last = gradable_adjective(words[ends[0]]), gradable_adjective(words[ends[2]])
        if first is None or last is None:
            continue
        # what is new has a late date, and what is old an early one
        one, other = ({concept.lstrip("-") for concept in each.concepts} for each in (first, last))
        if one & other:
            down = first.descending != (words[ends[0] - 1].norm in known["least"])
            yield Cue(i, ends[2] + 1, "ordered", ("down " if down else "up ") + "|".join(first.concepts))


def _both_ends(words: Sequence[Token]) -> Iterator[Cue]:
    """ "the highest and lowest price", "the lowest price and the average price": numbers over all, and no things."""
    known = language().words
    ends = {**dict.fromkeys(known["highest"], "max"), **dict.fromkeys(known["lowest"], "min")}
    ends.update(dict.fromkeys(known["middle"], ""))
    placed = [i for i, word in enumerate(words) if word.norm in ends]
    paired: set[int] = set()
    for i, j in pairwise(placed):
        between = [w.norm for w in words[i + 1 : j] if w.norm not in known["article"] | known["joining"]]
        again = [w.norm for w in words[j + 1 : j + 1 + len(between)]]
        # "the highest average price" is one number, "the highest, average and lowest" are three
        apart = j > i + 1 or words[j].start > words[i].end + 1
        if apart and between == again and ends[words[i].norm] != ends[words[j].norm]:
            paired |= {i, j}
    for i in sorted(paired):
        if ends[words[i].norm]:
            yield Cue(i, i + 1, ends[words[i].norm])


def _is_first_of(words: Sequence[Token], at: int) -> bool:
    """Whether "first" places a thing of a kind, and neither a number of them nor a part of a name or of time."""
    known = language().words
    before, after = words[:at], words[at + 1 :]
    if not after or (before and before[-1].norm not in known["article"] | known["whose_own"]):
        return False
    other = function_words() | known["naming"] | known["given"] | known["family"] | known["first_of_no_kind"]
    numbers = english_data()["numbers"], english_data()["ordinals"], english_data()["units"]
    said = {after[0].norm, after[0].lemma}
    return not said & other and not after[0].norm[0].isdigit() and not any(said & set(each) for each in numbers)


def _is_choice(norms: Sequence[str], at: int) -> bool:
    """Whether a comparative at the end of a question chooses among things that it compares with nothing else."""
    known = language().words
    parted = (known["than"] | known["either"]) & set(norms)
    return not parted and norms[0] in known["choosing"] and set(norms[at + 1 :]) <= function_words() | known["stand_in"]


def _numbers(text: str, words: tuple[Token, ...]) -> tuple[Number, ...]:
    """Numbers and dates with what they are compared by; each number once."""
    starts = {t.start: i for i, t in enumerate(words)}
    found: list[Number] = []
    bound = find_bounds(text, words)[:MOST_NUMBERS]
    moments = {m.start(): m for m in _MOMENT.finditer(text)}
    for b in bound:
        inside = _covering(words, b.quantity.start, b.quantity.end)
        if inside is None:
            continue
        concepts = b.measure.concepts if b.measure else ()
        first, after = (b.period.first, b.period.after) if b.period else ("", "")
        start = min(b.start, inside[0])
        if b.quantity.start in moments:
            moment = moments[b.quantity.start]
            first = moment[0].replace("T", " ")
            inside = _covering(words, moment.start(), moment.end()) or inside
        elif any(m.start() < b.quantity.start < m.end() for m in moments.values()):
            continue
        number = Number(start, inside[1], b.op, b.quantity.value, b.quantity.unit, concepts, False, first, after)
        found.append(_through(number._replace(until=b.until, multiplier=b.quantity.many), b.period))
    taken = {i for n in found for i in range(n.start, n.end)}
    for p in find_periods(text, any_year=True)[:MOST_NUMBERS]:
        inside = _covering(words, p.start, p.end)
        if inside and not taken & set(range(*inside)):
            found.append(_through(Number(*inside, "", p.value, "", (), False, p.first, p.after), p))
            taken |= set(range(*inside))
    for q in find_quantities(text)[:MOST_NUMBERS]:
        inside = _covering(words, q.start, q.end)
        if any(m.start() < q.start < m.end() for m in moments.values()):
            continue
        if inside and q.start in starts and not taken & set(range(*inside)):
            found.append(Number(*inside, "", q.value, q.unit, multiplier=q.many))
            taken |= set(range(*inside))
    numbers = english_data()["numbers"]
    for i, t in enumerate(words):
        if i not in taken and t.norm in numbers and not _stands_in(words, i):
            found.append(Number(i, i + 1, "", float(numbers[t.norm])))
    typed = [words[n.end - 1].text for n in found]
    return tuple(sorted(n._replace(digits=t if t.isdigit() else "") for n, t in zip(found, typed, strict=True)))


def _through(number: Number, period: Period | None) -> Number:
    """The number with the last year of a period of several: "in the 1990s" is from 1990 to 1999."""
    if period is None or period.last is None or number.until is not None:
        return number
    if number.op in (">", "<="):
        return number._replace(value=period.last)
    return number._replace(op=">=", until=period.last) if number.op in ("", "=") else number


def _stands_in(words: Sequence[Token], at: int) -> bool:
    """Whether a word of number only stands for a thing: "the year each one was founded"."""
    known = language().words
    return 0 < at < len(words) and words[at].norm in known["stand_in"] and words[at - 1].norm in known["before_one"]


def _covering(words: tuple[Token, ...], start: int, end: int) -> tuple[int, int] | None:
    inside = [i for i, t in enumerate(words) if t.start < end and start < t.end]
    return (inside[0], inside[-1] + 1) if inside else None
