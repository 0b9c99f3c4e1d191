"""Decide whether an answer is right: a question with its gold answer + an answer record -> yes or no."""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from nacre.evaluation.questions import GoldQuestion, is_answerable
from nacre.language.quantities.quantity import find_quantities
from nacre.language.quantities.units import convert_unit
from nacre.records.answer import Answer, Value

_CITATION = re.compile(r"\[\d+(?:\s*[,;]\s*\d+)*\]")
_CLOCK = re.compile(r"(?<![\d:])(\d{1,2}):([0-5]\d)(?![\d:])(?:\s*h\b)?")


def is_right(gold: GoldQuestion, record: Answer) -> bool:
    """Whether a record answers its question: by its values exactly, or in prose if the gold answer is prose.

    >>> is_right({"id": 1, "question": "?", "answers": [4]}, {"status": "answered", "values": [4], "answer": "4."})
    True
    """
    if record["status"] == "failed":
        return False
    if "must_include" in gold or "nuggets" in gold:
        return _is_right_prose(gold, record)
    golds = [gold.get("answers") or [], *(gold.get("alt_answers") or [])]
    return any(_is_exact(answers, gold, record["values"]) for answers in golds)


def status_is_right(gold: GoldQuestion, record: Answer) -> bool:
    """Whether the status agrees with the file on whether there is an answer."""
    return record["status"] in ("answered", "clarify") if is_answerable(gold) else is_refusal(record)


def is_refusal(record: Answer) -> bool:
    """Whether an answer states that the graph has none: by its status, or because it cites only empty results."""
    rows = {query["i"]: query["rows"] for query in record["queries"]}
    empty = bool(record["citations"]) and all(
        citation["query"] is not None and rows[citation["query"]] == 0 for citation in record["citations"]
    )
    return not record["values"] and (record["status"] == "not_in_graph" or empty)


def gold_items(
    answers: Sequence[Value], others: Sequence[Value | list[Value]]
) -> tuple[list[list[Value]], list[Value]]:
    """The gold items with their alternative names, and the alternative names that fit no item."""
    items: list[list[Value]] = [[answer] for answer in answers]
    unassigned: list[Value] = []
    for other in (name for names in others for name in (names if isinstance(names, list) else [names])):
        fits = [item for item in items if f" {normalise_words(str(other))} " in f" {normalise_words(str(item[0]))} "]
        if fits or len(items) == 1:
            min(fits or items, key=lambda item: len(str(item[0]))).append(other)
        else:
            unassigned.append(other)
    return items, unassigned


def same_value(gold: Value, value: Value, tolerance: float) -> bool:
    """Whether a value equals a gold item: names by their words, numbers within a relative tolerance."""
    if isinstance(value, bool) or isinstance(gold, bool):
        return _truth(gold) is _truth(value) is not None
    if isinstance(gold, int | float):
        return isinstance(value, int | float) and _near(gold, value, tolerance)
    # an empty cell of a table
    return value is None if gold is None else normalise_words(gold) == normalise_words(str(value))


def normalise_words(text: str) -> str:
    """The words of a text without case, accents, punctuation (except in numbers) and a leading article.

    >>> normalise_words("The  Café-Bar, No. 5.5")
    'cafe bar no 5.5'
    """
    decomposed = unicodedata.normalize("NFKD", text)
    bare = "".join(c for c in decomposed if not unicodedata.combining(c)).casefold()
    words = " ".join(re.findall(r"\d+(?:[.,]\d+)+|[^\W_]+", bare))
    return words.removeprefix("the ")


def _is_exact(answers: Sequence[Value], gold: GoldQuestion, values: Sequence[Value]) -> bool:
    """Whether every value is a gold item, and every gold item is among the values, under any of its names."""
    tolerance = gold.get("tolerance") or 0.0
    items, unassigned = gold_items(answers, gold.get("answers_alt") or [])
    matched_items, matched_names = set(), set()
    for value in values:
        own = {i for i, names in enumerate(items) if any(same_value(name, value, tolerance) for name in names)}
        other = {i for i, name in enumerate(unassigned) if same_value(name, value, tolerance)} if not own else set()
        if not own and not other:
            return False
        matched_items |= own
        matched_names |= other
    if gold.get("match") == "any":
        return bool(matched_items or matched_names)
    return len(matched_items) + len(matched_names) >= len(items)


def _truth(value: Value) -> bool | None:
    return value if isinstance(value, bool) else {"yes": True, "no": False}.get(str(value))


def _near(gold: float, value: float, tolerance: float) -> bool:
    # a gold number with decimals may be rounded to two in the answer
    slack = 0.0051 if gold % 1 and abs(gold) >= 1 else 1e-9
    return abs(gold - value) <= max(tolerance * abs(gold), slack)


def _is_right_prose(gold: GoldQuestion, record: Answer) -> bool:
    prose = normalise_words(_CITATION.sub(" ", record["answer"]))
    answers, names = [gold.get("answers") or [], *(gold.get("alt_answers") or [])], gold.get("must_include") or []
    names_excluded = any(_find_name(prose, name) for name in gold.get("must_not_include") or [])
    if not is_answerable(gold):
        return is_refusal(record) and not names_excluded
    return (
        any(_states_values(values, gold, record) for values in answers if values or not any(answers))
        and _count_named(prose, names) == len(names)
        and _names_right_one_first(prose, gold)
        and not names_excluded
        and not any(_find_name(prose, name) for name in gold.get("forbidden") or [])
        and _count_named(prose, gold.get("nuggets") or []) >= (gold.get("min_nuggets") or 0)
    )


def _states_values(gold_values: Sequence[Value], gold: GoldQuestion, record: Answer) -> bool:
    """Whether all gold numbers are in the prose, and all other gold values among the values of the record."""
    tolerance, unit = gold.get("tolerance") or 0.0, gold.get("unit") or ""
    numbers = list(_numbers(record["answer"], unit))
    for value in gold_values:
        if isinstance(value, int | float) and not isinstance(value, bool):
            if not any(_near(value, number, tolerance) for number in numbers):
                return False
        elif not any(same_value(value, own, tolerance) for own in record["values"]):
            return False
    return True


def _numbers(answer: str, unit: str) -> Iterator[float]:
    """The numbers of a prose answer converted to a unit; "3:36 h" is a duration."""
    text = _CITATION.sub(" ", answer)
    for match in _CLOCK.finditer(text):
        yield convert_unit(int(match[1]) + int(match[2]) / 60, "h", unit) or 0.0
    unit = {"euro": "currency", "gbp": "currency", "kw": "kW", "kwh": "kWh"}.get(unit, unit)
    for quantity in find_quantities(text):
        number = convert_unit(quantity.value, quantity.unit, unit)
        if number is not None:
            yield number


def _count_named(prose: str, groups: Sequence[Sequence[str]]) -> int:
    """How many groups of names occur, each in its own place: "Ann Lee" does not also name Ann; long names go first."""
    occurrences = [
        sorted({place for name in names for place in _find_name(prose, name)}, key=lambda place: place[0] - place[1])
        for names in groups
    ]
    taken: list[tuple[int, int]] = []
    for places in sorted(occurrences, key=lambda places: -max((end - start for start, end in places), default=0)):
        free = next((p for p in places if all(p[1] <= start or end <= p[0] for start, end in taken)), None)
        if free is not None:
            taken.append(free)
    return len(taken)


def _names_right_one_first(prose: str, gold: GoldQuestion) -> bool:
    """Whether no competitor is named before the right answer."""
    competitors = gold.get("competitors") or []
    right = [name for names in gold.get("must_include") or [] for name in names]
    places = [(start, -end, name in right) for name in (*competitors, *right) for start, end in _find_name(prose, name)]
    return not competitors or not places or min(places)[2]


def _find_name(prose: str, name: str) -> list[tuple[int, int]]:
    return [m.span() for m in re.finditer(rf"(?<!\S){re.escape(normalise_words(name))}(?:e?s)?(?!\S)", prose)]
