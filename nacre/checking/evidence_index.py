"""Index the words, numbers and dates of evidence, so that claims can be looked up: Evidence -> EvidenceIndex."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import takewhile
from math import isnan
from typing import NamedTuple

from nacre.language.data import pattern, word_list
from nacre.language.quantities import Amount, canonical_unit, find_amounts, is_same_amount, near_values
from nacre.language.thesaurus import function_words, synonyms
from nacre.language.tokens import Token, fold, lemma, name_tokens, tokenize
from nacre.language.values import Period, find_periods, key_year
from nacre.records.evidence import Evidence, EvidenceSentence, Rows, Table

_DAY_TIME = re.compile(r"(?<=\d{4}-\d\d-\d\d)T(?=\d)")
_LITERAL = re.compile(r"'((?:[^']|'')*)'|(?<![\w.\"])(\d+(?:\.\d+)?)(?![\w\"])")

# a cell with so many spaces is a sentence
_SENTENCE_SPACES = 5

# letters of a name before its ending
_MIN_STEM = 5

# the years that a number without a unit may be
_FIRST_YEAR, _LAST_YEAR = 1000, 2999

# characters of a cell that are compared, as many as a model is shown; the first ones that find a longer one; values
# that an amount is compared with (given)
MAX_CELL, _KEY, _MAX_NEAR = 500, 32, 1000

# row and column; a sentence is a row
CellPosition = tuple[int, int]


class EvidenceNumber(NamedTuple):
    """A number of the evidence, with its unit as written and its row and column."""

    value: float
    unit: str
    place: CellPosition


class EvidenceIndex:
    """The words, numbers, dates and yes or no of evidence. A sentence is a row, with its title in column 0."""

    def __init__(self, evidence: Sequence[Evidence]) -> None:
        self.numbers: list[EvidenceNumber] = []
        self.conditions: list[tuple[float, str]] = []
        self.counts: set[float] = {float(len(evidence))} if len(evidence) > 1 else set()
        self.columns: list[tuple[list[float], str]] = []
        self.days: list[Period] = []
        self.labels: dict[str, set[CellPosition]] = defaultdict(set)
        # names of columns, which may contain shorter names; of columns of numbers the rows and place
        self.headings: set[str] = set()
        self.measures: dict[str, list[tuple[range, int]]] = defaultdict(list)
        self.truth: bool | None = None
        self.is_empty = False
        self.rows = 0
        # rows of numbers over a whole group, which belong to no name
        self.unnamed_rows: set[int] = set()
        self.table_count = sum(isinstance(each, Rows) for each in evidence)
        self._texts: list[str] = []
        # by their first characters
        self._long_cells: dict[str, set[str]] = {}
        for each in evidence:
            if isinstance(each, Rows):
                self._add_table(each)
            else:
                self._add_sentence(each)
        self.text = f"|{'|'.join(self._texts)}|"

    @cached_property
    def words(self) -> frozenset[str]:
        """All words, with their dictionary forms and synonyms."""
        found = {word for text in self._texts for word in text.split()}
        return frozenset(found.union(*(_senses(word) for word in found)))

    @cached_property
    def name_words(self) -> frozenset[str]:
        """The words of cells and titles."""
        return frozenset(word for label in self.labels for word in label.split())

    @cached_property
    def name_stems(self) -> frozenset[str]:
        """The words of cells and titles without the English endings of adjectives: "devon" of "Devonian"."""
        endings = word_list("checking", "adjective_endings")
        stems = (
            name.removesuffix(each) for name in map(fold, self.name_words) for each in endings if name.endswith(each)
        )
        return frozenset(stem for stem in stems if len(stem) >= _MIN_STEM)

    def contains_words(self, words: Sequence[str]) -> bool:
        """Whether these words stand together, in this order, in one text: "district Elm" in "the district of Elm"."""
        wanted = f" {' '.join(words)} "
        return wanted in self.text or wanted in self._text_without_of

    @cached_property
    def _text_without_of(self) -> str:
        return self.text.replace(" of the ", " ").replace(" of ", " ")

    def matching_numbers(self, amount: Amount) -> list[EvidenceNumber]:
        """The numbers that an amount may state."""
        return [
            own
            for unit, (values, numbers) in self._numbers_by_unit.items()
            for value in near_values(amount, values, unit)[:_MAX_NEAR]
            if is_same_amount(amount, value, unit, self.words)
            for own in numbers[value]
        ]

    @cached_property
    def _numbers_by_unit(self) -> dict[str, tuple[list[float], dict[float, list[EvidenceNumber]]]]:
        """The values of each unit in ascending order, and the numbers of each value: a text may have thousands."""
        found: dict[str, dict[float, list[EvidenceNumber]]] = {}
        for own in sorted({each for each in self.numbers if not isnan(each.value)}):
            found.setdefault(own.unit, {}).setdefault(own.value, []).append(own)
        return {unit: (list(numbers), numbers) for unit, numbers in found.items()}

    def has_condition(self, amount: Amount) -> bool:
        """Whether a condition of the query states this amount."""
        return any(is_same_amount(amount, value, unit, self.words) for value, unit in self.conditions)

    def covers_period(self, period: Period) -> bool:
        """Whether a date lies in a period; in a decade and before Christ also a year without a unit."""
        values, _ = self._numbers_by_unit.get("", ([], {}))
        if period.value <= 0 and period.value in values:
            return True
        days = self._days[bisect_left(self._days, (period.first,)) :]
        if any(after <= period.after for _, after in takewhile(lambda day: day[0] <= period.after, days)):
            return True
        first, after = key_year(period.first), key_year(period.after)
        years = values[bisect_left(values, max(first, _FIRST_YEAR)) :][:1] if after - first == 10 else []
        return any(year < min(after, _LAST_YEAR + 1) for year in years)

    @cached_property
    def _days(self) -> list[tuple[str, str]]:
        """The first day of each date, and the day after it, in order."""
        return sorted({(day.first, day.after) for day in self.days})

    def shorten(self, sentence: str) -> str:
        """The sentence with the beginnings of the long cells that it quotes, which are all that is compared."""
        if len(sentence) <= MAX_CELL or not self._long_cells:
            return sentence
        parts, after, place = list[str](), 0, 0
        while place < len(sentence):
            cells = self._long_cells.get(sentence[place : place + _KEY], ())
            if cell := next((each for each in cells if sentence.startswith(each, place)), ""):
                parts += [sentence[after:place], cell[:MAX_CELL]]
                after = place + len(cell)
            place = max(place + 1, after)
        return "".join([*parts, sentence[after:]])

    def _add_words(self, text: str) -> None:
        words = name_tokens(text)
        if words:
            self._texts.append(f" {' '.join(words)} ")

    def _add_sentence(self, found: EvidenceSentence) -> None:
        row, self.rows = self.rows, self.rows + 1
        for text in (found.text, found.title, *(triple[2] for triple in found.triples)):
            self._add_words(text)
        if len(found.keys) > 1:
            self.counts.add(float(len(found.keys)))
        title = " ".join(name_tokens(found.title))
        if title:
            self.labels[title].add((row, 0))
        if found.text:
            # the number in "Platform 9" is part of a name
            named = found.title if any(map(str.isalpha, found.title)) else ""
            self._add_numbers(found.text.replace(named, " ") if named else found.text, (row, 1))
        own = not word_list("checking", "negations") & set(name_tokens(found.text))
        self.truth = own if self.truth is None else self.truth and own

    def _add_numbers(self, text: str, place: CellPosition, unit: str = "") -> None:
        text = _DAY_TIME.sub(" ", text)
        dated = find_periods(text)
        self.days += dated
        for amount in find_amounts(blank_periods(text, dated)):
            written = amount.unit or (amount.after if amount.after in unit else "")
            self.numbers.append(EvidenceNumber(amount.value, written or unit, place))
        self.numbers += [EvidenceNumber(day.value, "", place) for day in dated]

    def _add_table(self, found: Rows) -> None:
        table = found.table
        first, self.rows = self.rows, self.rows + len(table.rows)
        if len(table.rows) == 1 and not any(isinstance(cell, str) for cell in table.rows[0]):
            self.unnamed_rows.add(first)
        given = table.units or ("",) * len(table.columns)
        units = tuple(unit or header_unit(column) for unit, column in zip(given, table.columns, strict=False))
        for text in (found.words, found.meaning, found.title, *table.columns):
            self._add_words(text)
        self.headings |= {" ".join(name_tokens(column)) for column in table.columns}
        for at, (heading, cells) in enumerate(zip(table.columns, zip(*table.rows, strict=False), strict=False)):
            if heading != "yes" and any(isinstance(cell, int | float) for cell in cells):
                self.measures[" ".join(name_tokens(heading))].append((range(first, self.rows), at))
        for unit in (*units, table.measured_name, table.measured_unit):
            self._add_words(unit)
        self._add_query(found)
        for number, row in enumerate(table.rows, first):
            for column, (cell, unit) in enumerate(zip(row, units, strict=False)):
                if isinstance(cell, str):
                    self._add_cell(cell, unit, (number, column))
                elif cell is not None and table.columns[column] != "yes":
                    self.numbers.append(EvidenceNumber(float(cell), unit, (number, column)))
        for number, cell in enumerate(table.measured, first):
            place = (number, len(table.columns))
            if isinstance(cell, str):
                self._add_cell(cell, table.measured_unit, place)
            elif cell is not None:
                self.numbers.append(EvidenceNumber(float(cell), table.measured_unit, place))
        self._add_counts(table)
        says = _truth(table)
        if says is not None:
            self.truth = says
        self.is_empty |= not table.rows or all(cell is None for row in table.rows for cell in row)

    def _add_cell(self, cell: str, unit: str, place: CellPosition) -> None:
        if len(cell) > MAX_CELL:
            self._long_cells.setdefault(cell[:_KEY], set()).add(cell)
            cell = cell[:MAX_CELL]
        self._add_words(cell)
        self.labels[" ".join(name_tokens(cell))].add(place)
        # the number in "Platform 9" is part of a name
        if cell.lstrip("-−€$£~ ")[:1].isdigit() or cell.count(" ") >= _SENTENCE_SPACES:
            self._add_numbers(cell, place, unit)

    def _add_counts(self, table: Table) -> None:
        if table.contributing is not None:
            self.counts.add(float(table.contributing))
        self.counts |= {float(kind.count) for kind in table.kinds}
        self.counts |= {float(each.count) for each in table.spellings if each.count}
        for kind in table.kinds:
            self._add_words(kind.label)
        for each in table.spellings:
            self._add_words(each.other)
        labelled = any(isinstance(cell, str) for row in table.rows[:1] for cell in row)
        if not table.truncated and (labelled or len(table.rows) > 1):
            self.counts.add(float(len(table.rows)))
            self.counts |= {float(len(set(column))) for column in zip(*table.rows, strict=False)}
        for column, unit in zip(zip(*table.rows, strict=False), table.units or [""] * len(table.columns), strict=False):
            numbers = [float(cell) for cell in column if isinstance(cell, int | float)]
            if 1 < len(numbers) == len(column) and not table.truncated:
                self.columns.append((numbers, unit))

    def _add_query(self, found: Rows) -> None:
        """The conditions of the query, which hold for its result."""
        for text in (found.words, found.meaning):
            self.days += find_periods(text)
            self.conditions += [(amount.value, amount.unit or amount.after) for amount in find_amounts(text)]
        if found.query is None:
            return
        for value in found.query.params:
            self._add_condition(value)
        if found.query.by == "model":
            for text, number in _LITERAL.findall(found.query.text):
                self._add_condition(text.strip("%") if text else float(number or 0))

    def _add_condition(self, value: object) -> None:
        if isinstance(value, str):
            self._add_words(value.rpartition("/")[2] if "://" in value else value)
            self.days += find_periods(value)
        elif isinstance(value, int | float):
            self.conditions.append((float(value), ""))


def header_unit(column: str) -> str:
    """The unit that a column's name ends with, "" where it names none."""
    _, said, last = column.rpartition(" in ")
    return last if said and " " not in last and canonical_unit(last) else ""


def blank_periods(text: str, taken: Iterable[Period]) -> str:
    """The text with the stretches of the periods, which are in order, blank."""
    parts, after = list[str](), 0
    for each in taken:
        parts += [text[after : each.start], " " * (each.end - each.start)]
        after = each.end
    return "".join([*parts, text[after:]])


def _truth(table: Table) -> bool | None:
    """The answer of a table to a yes-or-no question: its single number, or whether it has rows."""
    if table.columns[:1] == ("yes",) and table.rows:
        return bool(table.rows[0][0])
    if not table.rows:
        return False
    numbers = [cell for cell in table.rows[0] if isinstance(cell, int | float)]
    return bool(numbers[0]) if len(table.rows) == 1 and len(numbers) == 1 and not any(table.units) else True


@lru_cache(maxsize=65536)
def _senses(word: str) -> frozenset[str]:
    return synonyms(lemma(word)) | {lemma(word)}


class MatchedSpan(NamedTuple):
    """A name or number of the sentence and where its evidence has it."""

    start: int
    end: int
    places: frozenset[CellPosition]


class SentenceMatch:
    """One sentence and the evidence it may rest on."""

    def __init__(self, text: str, evidence: EvidenceIndex, language: str = "en") -> None:
        self.text = text
        self.language = language
        self.evidence = evidence
        self.words = tokenize(text)
        self.norms = [word.norm for word in self.words]
        self.periods = find_periods(text, foreign=language != "en")
        self.amounts = find_amounts(text)
        found = pattern("checking", "yes_no").match(text)
        self.yes_no = found[1] if found else ""

    @cached_property
    def run_lengths(self) -> list[int]:
        """For each word the length of the longest stretch of evidence, word by word, that it stands in."""
        lengths = [0] * len(self.norms)
        after = 0
        for first in range(len(self.norms)):
            # a part of a stretch stands in the evidence as well
            after = max(after, first)
            while after < len(self.norms) and self.evidence.contains_words(self.norms[first : after + 1]):
                after += 1
            for i in range(first, after):
                lengths[i] = max(lengths[i], after - first)
        return lengths

    @cached_property
    def labels(self) -> list[MatchedSpan]:
        """Whole cells and titles in the sentence, unless they are part of a longer one or of a column's name."""
        if self.evidence.rows < 2:
            return []
        words = f" {' '.join(self.norms)} "
        found: list[tuple[int, int, frozenset[CellPosition]]] = []
        headings = dict.fromkeys(self.evidence.headings - self.evidence.labels.keys(), frozenset[CellPosition]())
        for label, places in (*self.evidence.labels.items(), *headings.items()):
            at = words.find(f" {label} ") if label else -1
            while at >= 0:
                found.append((at, at + len(label), frozenset(places)))
                at = words.find(f" {label} ", at + 1)
        longest, reach = list[tuple[int, int, frozenset[CellPosition]]](), -1
        for each in sorted(found, key=lambda span: (span[0], -span[1])):
            longest += [each] if each[1] > reach else []
            reach = max(reach, each[1])
        # from a place among the joined words to a place in the text
        text_place, place = dict[int, int](), 0
        for i, norm in enumerate(self.norms):
            text_place[place], text_place[place + len(norm)] = self.words[i].start, self.words[i].end
            place += len(norm) + 1
        return [MatchedSpan(text_place[at], text_place[after], places) for at, after, places in longest if places]

    def copies_amount(self, amount: Amount) -> bool:
        """Whether the number is part of a longer stretch that the evidence has word by word."""
        inside = [i for i, word in enumerate(self.words) if word.start < amount.end and amount.start < word.end]
        return bool(inside) and all(self.run_lengths[i] > len(inside) for i in inside)

    def knows_word(self, word: Token) -> bool:
        """Whether the evidence has the word, another form of it, or a synonym. Foreign nouns have English plurals."""
        forms = {word.norm, word.lemma}
        if word.text.islower():
            forms |= {word.norm.removesuffix("s"), word.norm.removesuffix("es"), f"{word.norm}s", f"{word.norm}es"}
        return not forms.isdisjoint(self.evidence.words)

    @cached_property
    def denial(self) -> str:
        """The word that denies the sentence after its yes or no, but for "not long" after a comma; else ""."""
        negations, verbs = word_list("checking", "negations"), word_list("checking", "auxiliary_verbs")
        for i in range(1 if self.yes_no else 0, len(self.words)):
            word = self.norms[i]
            if self.run_lengths[i] > 1:
                continue
            # later in a sentence, "without" or "none of the others" does not deny it
            may_deny = i == 0 or self.norms[i - 1] in verbs or word in word_list("checking", "strong_negations")
            if word.endswith("n't") or (word in negations and may_deny):
                return self.words[i].text
        return ""

    @property
    def is_negative(self) -> bool:
        """Whether the sentence has a negation anywhere: "the list names no mill"."""
        return bool(self.denial) or not word_list("checking", "negations").isdisjoint(self.norms)

    @cached_property
    def content(self) -> list[int]:
        """The positions of the words that carry meaning."""
        return [i for i, word in enumerate(self.words) if word.norm not in function_words()]
