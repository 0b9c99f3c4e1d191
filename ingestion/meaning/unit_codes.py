"""Symbols of units by their codes: "KGM" (UN/CEFACT) or "KiloGM" (QUDT) -> "kg"."""

from functools import cache

from nacre.language.base import word_list, word_map


def unit_symbol(code: str) -> str:
    """The symbol of a unit; an unknown code stays as it is, and the code of a dimensionless number gives "".

    >>> unit_symbol("KGM"), unit_symbol("KiloM-PER-HR"), unit_symbol("bar"), unit_symbol("C62")
    ('kg', 'km/h', 'bar', '')
    """
    return "" if code in word_list("ingestion", "dimensionless_codes") else _symbols().get(code, code)


@cache
def _symbols() -> dict[str, str]:
    """The symbol of each code."""
    return {code: symbol for symbol, codes in word_map("ingestion", "unit_codes").items() for code in codes.split()}
