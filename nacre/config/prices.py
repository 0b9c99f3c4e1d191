"""Prices of models: `prices.yaml` or the user's table -> the Price of a model, or None if unknown."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import yaml

TABLE = Path(__file__).with_name("prices.yaml")


class Price(NamedTuple):
    """US dollars for a million tokens: read, read from the server's cache, written."""

    input: float
    cached: float
    output: float


def prices(file: Path = TABLE) -> dict[str, Price]:
    """The prices of a file by name, in order; raises ValueError with the file and the name of the invalid entry."""
    try:
        table = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ValueError(f"The prices in {file} can't be read: {' '.join(str(error).split())}") from None
    if not isinstance(table, dict):
        raise ValueError(f"{file} must name models with their prices, as in: openai:gpt-4o: [2.50, 1.25, 10.00]")
    found = {}
    for name, price in table.items():
        if not (isinstance(price, list) and len(price) == 3 and all(_is_price(each) for each in price)):
            raise ValueError(f"{file}: {name} must have three prices (read, cached, written), not {price!r}.")
        found[str(name)] = Price(*map(float, price))
    return found


def price_of(model: str, table: Mapping[str, Price]) -> Price | None:
    """The price of the first matching name.

    >>> table = {"openai:small*": Price(1, 0.5, 2), "ollama:*": Price(0, 0, 0)}
    >>> price_of("openai:small-2", table), price_of("openai:large", table)
    (Price(input=1, cached=0.5, output=2), None)
    """
    return next((price for name, price in table.items() if fnmatchcase(model, name)), None)


def _is_price(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
