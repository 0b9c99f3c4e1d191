"""Whether an answer is right: a question with its gold answer + an answer record -> yes or no."""

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
    """Whether a record answers its question: exactly by its values, or in prose where the question asks for words.

    >>> is_right({"id": 1, "question": "?", "answers": [4]}, {"status": "answered", "values": [4], "answer": "4."})
    True
    """
    if record["status"] == "failed":
        return False
    if "must_include" in gold or "nuggets" in gold:
        return _told(gold, record)
    golds = [gold.get("answers") or [], *(gold.get("alt_answers") or [])]
    return any(_exact(answers, gold, record["values"]) for answers in golds)


def status_is_right(gold: GoldQuestion, record: Answer) -> bool:
    """Whether the status says what the file tells: that there is an answer, or that the graph has none."""
    return record["status"] in ("answered", "clarify") if is_answerable(gold) else is_refusal(record)


def is_refusal(record: Answer) -> bool:
    """Whether an answer says that there is nothing: not in the graph, or nothing but queries that found no row."""
    rows = {query["i"]: query["rows"] for query in record["queries"]}
    empty = bool(record["citations"]) and all(
        citation["query"] is not None and rows[citation["query"]] == 0 for citation in record["citations"]
    )
    return not record["values"] and (record["status"] == "not_in_graph" or empty)


def _exact(answers: Sequence[Value], gold: GoldQuestion, values: Sequence[Value]) -> bool:
    """Every value is a gold item and every gold item is there, under any of its names."""
    tolerance = gold.get("tolerance") or 0.0
    items, loose = gold_items(answers, gold.get("answers_alt") or [])
    hit, spare = set(), set()
    for value in values:
        found = {i for i, names in enumerate(items) if any(same_value(name, value, tolerance) for name in names)}
        other = {i for i, name in enumerate(loose) if same_value(name, value, tolerance)} if not found else set()
        if not found and not other:
            return False
        hit |= found
        spare |= other
    if gold.get("match") == "any":
        return bool(hit or spare)
    return len(hit) + len(spare) >= len(items)


def gold_items(
    answers: Sequence[Value], others: Sequence[Value | list[Value]]
) -> tuple[list[list[Value]], list[Value]]:
    """The gold items with the other names that hold one of their words, and the other names that fit none."""
    items: list[list[Value]] = [[answer] for answer in answers]
    loose: list[Value] = []
    for other in (name for names in others for name in (names if isinstance(names, list) else [names])):
        fits = [item for item in items if f" {normalise_words(str(other))} " in f" {normalise_words(str(item[0]))} "]
        if fits or len(items) == 1:
            min(fits or items, key=lambda item: len(str(item[0]))).append(other)
        else:
            loose.append(other)
    return items, loose


def same_value(gold: Value, value: Value, tolerance: float) -> bool:
    """Whether a value is a gold item: names by their words, numbers within a share of them."""
    if isinstance(value, bool) or isinstance(gold, bool):
        return _truth(gold) is _truth(value) is not None
    if isinstance(gold, int | float):
        return isinstance(value, int | float) and _near(gold, value, tolerance)
    # a cell of a table that holds nothing
    return value is None if gold is None else normalise_words(gold) == normalise_words(str(value))


def _truth(value: Value) -> bool | None:
    return value if isinstance(value, bool) else {"yes": True, "no": False}.get(str(value))


def _near(gold: float, value: float, tolerance: float) -> bool:
    # a gold number with decimals may be said rounded to two
    slack = 0.0051 if gold % 1 and abs(gold) >= 1 else 1e-9
    return abs(gold - value) <= max(tolerance * abs(gold), slack)


def _told(gold: GoldQuestion, record: Answer) -> bool:
    said = normalise_words(_CITATION.sub(" ", record["answer"]))
    answers, names = [gold.get("answers") or [], *(gold.get("alt_answers") or [])], gold.get("must_include") or []
    if not is_answerable(gold):
        return is_refusal(record) and not any(_places(said, name) for name in gold.get("must_not_include") or [])
    return (
        any(_said(wanted, gold, record) for wanted in answers if wanted or not any(answers))
        and _count(said, names) == len(names)
        and _first(said, gold)
        and not any(_places(said, name) for name in gold.get("must_not_include") or [])
        and not any(_places(said, name) for name in gold.get("forbidden") or [])
        and _count(said, gold.get("nuggets") or []) >= (gold.get("min_nuggets") or 0)
    )


def _said(wanted: Sequence[Value], gold: GoldQuestion, record: Answer) -> bool:
    """Whether all wanted numbers are among those of the prose, and yes or no is what the values say."""
    tolerance, unit = gold.get("tolerance") or 0.0, gold.get("unit") or ""
    told = list(_numbers(record["answer"], unit))
    for value in wanted:
        if isinstance(value, int | float) and not isinstance(value, bool):
            if not any(_near(value, number, tolerance) for number in told):
                return False
        elif not any(same_value(value, own, tolerance) for own in record["values"]):
            return False
    return True


def _numbers(answer: str, unit: str) -> Iterator[float]:
    """The numbers of a prose answer, in a unit where they name another; "3:36 h" is a time."""
    text = _CITATION.sub(" ", answer)
    for match in _CLOCK.finditer(text):
        yield convert_unit(int(match[1]) + int(match[2]) / 60, "h", unit) or 0.0
    unit = {"euro": "currency", "gbp": "currency", "kw": "kW", "kwh": "kWh"}.get(unit, unit)
    for found in find_quantities(text):
        number = convert_unit(found.value, found.unit, unit)
        if number is not None:
            yield number


def _count(said: str, groups: Sequence[Sequence[str]]) -> int:
    """How many groups find a stretch of text of their own ("Ann Lee" does not also name Ann); long names go first."""
    found = [sorted({p for name in names for p in _places(said, name)}, key=lambda p: p[0] - p[1]) for names in groups]
    taken: list[tuple[int, int]] = []
    for places in sorted(found, key=lambda places: -max((end - start for start, end in places), default=0)):
        free = next((p for p in places if all(p[1] <= start or end <= p[0] for start, end in taken)), None)
        if free is not None:
            taken.append(free)
    return len(taken)


def _first(said: str, gold: GoldQuestion) -> bool:
    """Whether none of the competitors is named before the right one."""
    rivals, right = gold.get("competitors") or [], [n for names in gold.get("must_include") or [] for n in names]
    places = [(start, -end, name in right) for name in (*rivals, *right) for start, end in _places(said, name)]
    return not rivals or not places or min(places)[2]


def _places(said: str, name: str) -> list[tuple[int, int]]:
    return [m.span() for m in re.finditer(rf"(?<!\S){re.escape(normalise_words(name))}(?:e?s)?(?!\S)", said)]


def normalise_words(text: str) -> str:
    """Words alone: no case, accents or punctuation but in numbers, no leading article.

    >>> normalise_words("The  Café-Bar, No. 5.5")
    'cafe bar no 5.5'
    """
    decomposed = unicodedata.normalize("NFKD", text)
    bare = "".join(c for c in decomposed if not unicodedata.combining(c)).casefold()
    words = " ".join(re.findall(r"\d+(?:[.,]\d+)+|[^\W_]+", bare))
    return words.removeprefix("the ")
