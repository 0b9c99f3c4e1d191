"""Values as one language writes them: texts of a grid -> texts in that language."""

import re
from datetime import date

from nacre.language.base import load_language_texts
from nacre.language.format_values import append_unit, format_value
from nacre.language.translation.templates import fill_template
from nacre.records.answer import Value
from nacre.wording.answers.grid import GridColumn

_TRUE = frozenset(("true", "1"))
_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:T00:00(?::00(?:\.0+)?)?Z?)?")


def translated_texts(column: GridColumn, code: str) -> list[str]:
    """The texts of a column in a language, row by row."""
    return [_translated(text, data, code) for text, data in zip(column.texts, column.data, strict=True)]


def translated_number(number: int | float, code: str, unit: str = "", *, counted: bool = True) -> str:
    """A number with the separators of a language, unless it is a year or code.

    >>> translated_number(12345.5, "de", "m")
    '12.345,5 m'
    """
    return _separated(format_value(number, unit, counted=counted), code)


def translated_literal(text: str, code: str, unit: str = "", *, is_boolean: bool = False) -> str:
    """A literal as it is written in the data, in a language.

    >>> translated_literal("2009-05-03", "de"), translated_literal("14.0", "fr", "m")
    ('3. Mai 2009', '14 m')
    >>> translated_literal("0", "de", is_boolean=True)
    'nein'
    """
    if is_boolean:
        return fill_template(code, "yes_value" if text in _TRUE else "no_value")
    day = _DAY.fullmatch(text)
    if day is not None:
        return _day_words(text, code, day)
    is_number = text.replace(".", "", 1).isdigit()
    return _separated(append_unit(text.removesuffix(".0"), unit), code) if is_number else text


def _translated(text: str, data: tuple[Value, ...], code: str) -> str:
    value = data[0] if len(data) == 1 else None
    if isinstance(value, bool):
        return fill_template(code, "yes_value" if value else "no_value")
    if isinstance(value, str):
        day = _DAY.fullmatch(value)
        return _day_words(text, code, day) if day is not None else text
    is_range = len(data) > 1 and not any(isinstance(each, str) for each in data)
    text = text.replace(" to ", f" {fill_template(code, 'to')} ") if is_range else text
    return _separated(text, code) if data and not isinstance(data[0], str) else text


def _day_words(text: str, code: str, found: re.Match[str]) -> str:
    year, month, day = map(int, found.groups())
    try:
        date(year, month, day)
    except ValueError:
        return text
    months = fill_template(code, "months").split()
    return fill_template(code, "date", day=day, month=months[month - 1], year=year)


def _separated(text: str, code: str) -> str:
    """A number in English with the separators of a language."""
    data = load_language_texts(f"{code}/answers.yaml")
    number, space, unit = text.partition(" ")
    text = f"{number}{space}{data['units'].get(unit, unit)}"
    thousands, decimal = data["separators"].split(" ")
    return re.sub(r"(?<=\d)[,.](?=\d)", lambda m: thousands if m[0] == "," else decimal, text)
