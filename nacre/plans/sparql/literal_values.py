"""Read literals as values in SPARQL: Predicate + dialect -> expressions over the variable of a literal."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from nacre.plans.sparql.terms import XSD, format_literal
from nacre.records.schema import Predicate

_NUMERIC = frozenset({"integer", "real", "year", "boolean"})
# arguments of REPLACE: the first number of a text, the second one, and the form of a whole number
_FIRST_NUMBER = r'"^[^0-9-]*(-?[0-9]+\\.?[0-9]*).*$", "$1"'
_SECOND_NUMBER = r'"^[^0-9]*[0-9]+\\.?[0-9]*[^0-9.]+([0-9]+\\.?[0-9]*)[^0-9]*$", "$1"'
_NUMBER = r'"^[+-]?[0-9]+(\\.[0-9]*)?([eE][+-]?[0-9]+)?$"'


def is_numeric(predicate: Predicate) -> bool:
    """Whether the values of a predicate are compared as numbers."""
    return predicate.datatype in _NUMERIC


@dataclass(frozen=True)
class LiteralReader:
    """Writes how the literals of a predicate are read by a source that has only the literals."""

    predicate: Predicate
    dialect: str
    factors: Mapping[str, float]

    def value(self, literal: str) -> str:
        """The value of a literal; an error, and so unbound, for a literal that has none."""
        if self.predicate.unit:
            return self._number(literal, _FIRST_NUMBER)
        if self.predicate.datatype in ("integer", "real"):
            datatype = {"integer": "integer", "real": "double"}[self.predicate.datatype]
            plain = f'REPLACE(STR({literal}), ",", "")'
            if self.dialect == "virtuoso":
                return self._cast(datatype, plain)
            return f"COALESCE({self._cast(datatype, literal)}, {self._cast(datatype, plain)})"
        if self.predicate.datatype == "boolean":
            return f'IF(LCASE(STR({literal})) IN ("true", "1"), 1, 0)'
        return self._cast("integer", f"STR({literal})") if self.predicate.datatype == "year" else f"STR({literal})"

    def ends(self, literal: str) -> tuple[str, str]:
        """The lower and the upper end of a range; the upper end is an error for a single number."""
        return self._number(literal, _FIRST_NUMBER), self._number(literal, _SECOND_NUMBER)

    def _number(self, literal: str, expression: str) -> str:
        number = self._cast("double", f'REPLACE(REPLACE(STR({literal}), ",", ""), {expression})')
        for unit, factor in self.factors.items():
            ending = format_literal(f"[0-9] *{re.escape(unit)} *$")
            number += f" * IF(REGEX(STR({literal}), {ending}), {format_literal(float(factor))}, 1)"
        return f"({number})" if self.factors else number

    def _cast(self, datatype: str, text: str) -> str:
        if self.dialect != "virtuoso":
            return f"<{XSD}{datatype}>({text})"
        # A failed cast ends the query in Virtuoso, so only numbers are cast; nothing binds ?none. Virtuoso shows six
        # digits of a double, but all digits of a decimal.
        return f"IF(REGEX({text}, {_NUMBER}), <{XSD}{datatype.replace('double', 'decimal')}>({text}), ?none)"
