"""Check what a sentence claims against the evidence it cites: sentence -> unsupported claims."""

import re
from collections.abc import Callable, Iterator, Sequence

import simplemma

from nacre.checking.evidence_index import EvidenceIndex
from nacre.checking.numbers import miscalculated_words, unsupported_numbers
from nacre.checking.sentence_match import MatchedSpan, SentenceMatch
from nacre.language.detect_language import ENGLISH, detect_language
from nacre.language.quantities.amounts import canonical_unit, find_amounts
from nacre.language.thesaurus import function_words
from nacre.language.tokens import tokenize
from nacre.records.evidence import Evidence

# the stretches of a list of words that name something of the graph, as (first, after the last)
FindGraphNames = Callable[[Sequence[str]], list[tuple[int, int]]]

_DATE = re.compile(r"(?<![\w-])\d{4}-\d{2}-\d{2}(?![\w-])")
_FIGURE = re.compile(r"[\d.,]+|against|difference|higher|lower|equal|average|mean|total|sum|number|first|in|all")
# parts of a compound word have so many letters at least
_HALF = 4
# between two cells of a row that is said
_PARTED = re.compile(r"[:,;] | \(")
_STOPPED = re.compile(r"[.!?]['\"”’)]*\s+$")
_GATHERED = re.compile(r"\b(average|mean|total|sum|number)\b(?= (?:\w+ ){0,4}(?:of|is|are|was)\b)", re.I)


def no_graph_names(words: Sequence[str]) -> list[tuple[int, int]]:
    """For evidence of no graph: no word is a name."""
    return []


def unsupported_claims(
    sentence: str,
    evidence: Sequence[Evidence] | EvidenceIndex,
    known: FindGraphNames = no_graph_names,
    language: str = ENGLISH,
) -> list[str]:
    """The numbers, dates, names and yes or no of a sentence (without its [n]) that its evidence does not hold.

    A number may be rounded, formatted, converted to another unit, count the rows, or follow from the others by simple
    arithmetic; a name is what is capitalised, has digits in it, is no English word, or is `known` in the graph. Names
    and numbers that stand in different rows must not be joined anew. A sentence may be in `language` too.

    >>> from nacre.records.evidence import EvidenceSentence
    >>> dal = EvidenceSentence("lexical", 1, "The dal cooks for 35 min.")
    >>> unsupported_claims("The dal cooks for 2100 s.", [dal]), unsupported_claims("The dal cooks for 25 min.", [dal])
    ([], ['25 min'])
    """
    held = evidence if isinstance(evidence, EvidenceIndex) else EvidenceIndex(evidence)
    said = SentenceMatch(sentence, held, language)
    numbers, placed = unsupported_numbers(said)
    missing = [
        *_truth(said),
        *miscalculated_words(said),
        *_gathered(said),
        *_dates(said),
        *numbers,
        *_names(said, known),
    ]
    of_one = [each for each in placed if not any(row in held.unnamed for row, _ in each.places)]
    if not missing and said.labels and not _aligned([*said.labels, *of_one], held):
        missing.append("what belongs to what")
    if not missing and not _related(said):
        missing.append(said.text.strip())
    return missing


def is_bare_answer(sentence: str, held: EvidenceIndex) -> bool:
    """Whether the sentence is a yes or no, or only names of the evidence: its words do not tell what it answers."""
    if SentenceMatch(sentence, held).yes_no:
        return True
    return all(w.norm in function_words() or w.norm[0].isdigit() or w.norm in held.named for w in tokenize(sentence))


def _truth(said: SentenceMatch) -> list[str]:
    """The yes or no, and what is denied."""
    truth = said.held.truth
    if truth is None:
        return []
    if said.yes_no and (said.yes_no.casefold() == "yes") != truth:
        return [said.yes_no]
    # what was asked for may be denied itself: "animals that are not seals"
    if truth and said.denial and said.denial.casefold() not in said.held.words:
        return [said.denial]
    if not truth and not said.yes_no and not said.denial and said.held.empty:
        return [said.text.strip()]
    return []


def _gathered(said: SentenceMatch) -> list[str]:
    """ "The average is 5", where a sentence says 5 of one thing."""
    found = _GATHERED.search(said.text)
    if found is None or said.held.tables or found[1].casefold() in said.held.words:
        return []
    return [found[1]]


def _dates(said: SentenceMatch) -> list[str]:
    """The dates that no date of the evidence lies in, and those that there are not."""
    places = [
        (day.start, day.end) for day in said.dated if not (said.held.day(day) or _is_copied(said, day.start, day.end))
    ]
    read = {day.start for day in said.dated}
    places += [match.span() for match in _DATE.finditer(said.text) if match.start() not in read]
    return [said.text[start:end] for start, end in places]


def _is_copied(said: SentenceMatch, start: int, end: int) -> bool:
    """Whether a stretch of the text stands in the evidence, word by word."""
    inside = [i for i, w in enumerate(said.words) if start <= w.start < end]
    return bool(inside) and said.held.run(said.norms[inside[0] : inside[-1] + 1])


def _names(said: SentenceMatch, known: FindGraphNames) -> list[str]:
    """The names that no text of the evidence has as one."""
    foreign = _foreign(said)
    missing = [said.words[i].text for i in range(len(said.words)) if _is_strange(said, i, foreign)]
    checked = [(a.start, a.end) for a in find_amounts(said.text)] + [(day.start, day.end) for day in said.dated]
    for first, after in known(said.norms):
        begin, end = said.words[first].start, said.words[after - 1].end
        if any(a <= begin and end <= b for a, b in checked):
            # "325 kW" is checked as a number, "September" of a date with it
            continue
        held = all(said.held.run(part) or "".join(part).isdigit() for part in _parts(said, first, after))
        if not held and not _is_said_otherwise(said, first, after):
            missing.append(said.text[begin:end])
    return missing


def _parts(said: SentenceMatch, first: int, after: int) -> Iterator[list[str]]:
    """The words of a name, or of what punctuation parts: "Ann: Bell" are two cells of a row, and not Ann Bell."""
    begin = first
    for i in range(first + 1, after + 1):
        if i == after or _PARTED.search(said.text[said.words[i - 1].end : said.words[i].start]):
            yield said.norms[begin:i]
            begin = i


def _is_strange(said: SentenceMatch, i: int, foreign: str) -> bool:
    """Whether a word names something that the evidence does not name."""
    word = said.words[i]
    if said.runs[i] or word.norm[0].isdigit() or word.norm in function_words() or said.means(word):
        return False
    # the words of a date, and the option of a command
    if any(day.start <= word.start < day.end for day in said.dated) or said.text[: word.start].endswith("--"):
        return False
    if any(map(str.isdigit, word.norm)):
        return True
    if word.text == "UTC" and any(map(str.isdigit, said.text)):
        # of a time
        return False
    if word.text[0].isupper():
        # the first word of a sentence is capitalised anyway
        if foreign and _is_foreign_word(word.text, foreign):
            # other languages may capitalise what is no name
            return False
        first = not said.text[: word.start].strip() or _STOPPED.search(said.text[: word.start])
        return not first or not simplemma.is_known(word.text.lower(), lang="en")
    return len(word.norm) > 3 and not foreign and not simplemma.is_known(word.text, lang="en")


def _foreign(said: SentenceMatch) -> str:
    """The language of a sentence most of which is not in English; "" of an English one."""
    free = [w for i, w in enumerate(said.words) if not said.runs[i] and w.text.isalpha()]
    share = sum(simplemma.is_known(w.text.lower(), lang="en") for w in free)
    if said.language != ENGLISH and (share < len(free) or not free):
        # asked for in that language, and not all of it is English
        return said.language
    if 2 * share >= len(free):
        return ""
    language = detect_language(said.text, fewest=1)
    return "" if language == ENGLISH else language


def _is_foreign_word(word: str, language: str) -> bool:
    """Whether a language has a word, or puts it together from two that it has ("Ladeleistung")."""
    if simplemma.is_known(word, lang=language):
        return True
    halves = ((word[:cut], word[cut:]) for cut in range(_HALF, len(word) - _HALF + 1))
    return any(
        simplemma.is_known(end.capitalize(), lang=language)
        and any(
            simplemma.is_known(form, lang=language)
            for form in (first, first.removesuffix("s"), f"{first}n", f"{first}en")
        )
        for first, end in halves
    )


def _is_said_otherwise(said: SentenceMatch, first: int, after: int) -> bool:
    """Whether a name is part of a longer one of the evidence, or a word for what it says."""
    if all(said.runs[i] > after - first for i in range(first, after)):
        return True
    words = said.words[first:after]
    # "the music festival" of the evidence's "music festivals"
    return all(map(said.means, words)) and (len(words) == 1 or all(w.text.islower() for w in words))


def _aligned(placed: Sequence[MatchedSpan], held: EvidenceIndex) -> bool:
    """Whether names and numbers of different columns can be read as pairs of one row each, in either direction."""
    said = sorted(placed, key=lambda s: s.start)
    if held.rows < 2 or len(said) < 2:
        return True
    return any(_paired(order, column) for order in (said, said[::-1]) for column in {c for _, c in order[0].places})


def _paired(said: Sequence[MatchedSpan], column: int) -> bool:
    """Whether all that is not of this column shares a row with the names of it that go right before."""
    rows: set[int] = set()
    listing = False
    for each in said:
        own = {row for row, c in each.places if c == column}
        if own:
            rows = rows | own if listing else own
            listing = True
            continue
        listing = False
        if rows and not rows & {row for row, _ in each.places}:
            return False
    return True


def _related(said: SentenceMatch) -> bool:
    """Whether the evidence has half of the sentence's words, or a third where it also has its numbers: what claims no
    number or name may still be made up."""
    if 2 * sum(run > 2 for run in said.runs) >= len(said.runs):
        # most of it is copied
        return True
    if _foreign(said):
        # its words can't be those of the evidence: what it names must be
        return any(said.runs)
    words = said.content[1:] if said.yes_no else said.content
    # numbers, units, dates and what is computed from them are checked as such
    words = [i for i in words if not (_FIGURE.fullmatch(said.norms[i]) or canonical_unit(said.norms[i]))]
    words = [i for i in words if not any(day.start <= said.words[i].start < day.end for day in said.dated)]
    held = sum(said.runs[i] > 0 or said.means(said.words[i]) for i in words)
    return (3 if any(map(str.isdigit, said.text)) else 2) * held >= len(words)
