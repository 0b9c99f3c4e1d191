"""The graph pattern of a select: its variables, edges and values -> the lines of a SPARQL group."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from nacre.plans.sparql.terms import XSD, format_iri, format_literal
from nacre.plans.sql.relations import variable_relation
from nacre.records.plan import Aggregate, Attribute, Filter, Select, Variable
from nacre.records.schema import Column, Predicate, Schema
from nacre.stores.sparql.oxigraph_store import PART, READINGS, READS
from nacre.stores.sqlite.triples import TYPE

_NUMBERS = frozenset({"integer", "real", "year", "boolean"})
# how many characters of a date say so much of it
_DATED = {"year": 4, "month": 7}
_FIRST = r'"^[^0-9-]*(-?[0-9]+\\.?[0-9]*).*$", "$1"'
_SECOND = r'"^[^0-9]*[0-9]+\\.?[0-9]*[^0-9.]+([0-9]+\\.?[0-9]*)[^0-9]*$", "$1"'
_NUMBER = r'"^[+-]?[0-9]+(\\.[0-9]*)?([eE][+-]?[0-9]+)?$"'


@dataclass(frozen=True)
class Vocabulary:
    """How a source says what a plan asks for: `readings` are the predicates whose literals it reads as numbers itself,
    `closed` whether it states the superclasses of everything, `dialect` whose SPARQL it speaks ("virtuoso", or ""),
    `factors`, by predicate, what brings numbers that end with another unit than its usual one to it."""

    schema: Schema
    readings: frozenset[str] = frozenset()
    closed: bool = False
    dialect: str = ""
    factors: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def members(self, class_: str) -> tuple[str, ...]:
        """The classes whose members are in a class: itself, and where they are not stated those below it."""
        found = [class_]
        if not self.closed:
            for each in found:
                found += [c.iri for c in self.schema.classes if each in c.parents and c.iri not in found]
        return tuple(found)

    def column(self, predicate: str) -> Column:
        """What there is of a predicate's values: of the tables, where there are any, else by what is known of it."""
        for relation in self.schema.relations:
            for column in relation.columns:
                if column.predicate == predicate:
                    return column
        known = self.schema.predicate_of[predicate]
        low, high = ("low", "high") if known.shape != "single" else ("", "")
        return Column(predicate, "value", low, high, "text" if known.unit or low else "")

    def may_lack(self, variable: Variable, predicate: str) -> bool:
        """Whether things without a value are shown, as they are where it has one value a thing."""
        if not self.schema.relations:
            return self.schema.predicate_of[predicate].functional
        columns = variable_relation(variable, self.schema).columns
        return any(c.predicate == predicate and (c.value or c.text) for c in columns)


@dataclass(frozen=True)
class ValueVariables:
    """The names that a predicate's value of one variable has in a query."""

    raw: str
    value: str
    low: str
    high: str


@dataclass
class GraphPattern:
    """The lines of one group; the names of a select within a select begin with a prefix of their own."""

    words: Vocabulary
    select: Select
    prefix: str = ""
    values: dict[tuple[str, str], ValueVariables] = field(default_factory=dict)
    dated: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.variables: Mapping[str, Variable] = {v.name: v for v in self.select.variables}
        self.names = {name: self._named(name, i) for i, name in enumerate(self.variables)}

    def _named(self, name: str, index: int) -> str:
        return f"?{self.prefix}{name if re.fullmatch('[a-zA-Z][a-zA-Z0-9]*', name) else f'n{index}'}"

    def value(self, attribute: Attribute) -> str:
        """The name of a value, or of an end of a range."""
        found = self._of(attribute)
        column = self.words.column(attribute.predicate)
        if attribute.part == "year" or attribute.part == "month":
            name = f"{found.value}{attribute.part[0]}"
            begins = f"SUBSTR(STR({found.value}), 1, {_DATED[attribute.part]})"
            self.dated[name] = f"<{XSD}integer>({begins})" if attribute.part == "year" else begins
            return name
        if attribute.part == "low" and column.low:
            return found.low
        return found.high if attribute.part == "high" and column.high else found.value

    def raw(self, attribute: Attribute) -> str:
        return self._of(attribute).raw

    def _of(self, attribute: Attribute) -> ValueVariables:
        key = attribute.variable, attribute.predicate
        if key not in self.values:
            base = f"{self.names[attribute.variable]}_{len(self.values)}"
            self.values[key] = ValueVariables(f"{base}r", base, f"{base}l", f"{base}h")
        return self.values[key]

    def lines(self, needed: Collection[tuple[str, str]], stated: Collection[tuple[str, str]]) -> Iterator[str]:
        """Things, links and all values that were named before; a value that is `needed` must read as what it is, one
        that is `stated` must be there."""
        for variable in self.select.variables:
            if variable.keys:
                name, keys = self.names[variable.name], " ".join(map(format_iri, variable.keys))
                whole = f"{name}_whole" if variable.below else name
                yield f"VALUES {whole} {{ {keys} }}"
                if variable.below:
                    ways = "|".join(
                        f"^{format_iri(p[1:])}" if p.startswith("^") else format_iri(p) for p in variable.below
                    )
                    yield f"{name} ({ways})* {whole} ."
        for edge in self.select.edges:
            yield f"{self.names[edge.subject]} {format_iri(edge.predicate)} {self.names[edge.object]} ."
            known = self.words.schema.predicate_of.get(edge.predicate)
            if known is not None and known.has_literals:
                yield f"FILTER(!isLiteral({self.names[edge.object]}))"
        bound = {end for edge in self.select.edges for end in (edge.subject, edge.object)}
        for variable in self.select.variables:
            yield from self._membership(variable, variable.name in bound)
        there = {key for key in self.values if key in needed or key in stated or not self._may_lack(*key)}
        for key in sorted(self.values, key=lambda each: each not in there):
            pattern = self._value_of(*key, needed=key in needed)
            yield pattern if key in there else f"OPTIONAL {{ {pattern} }}"
        for name, expression in self.dated.items():
            yield f"BIND({expression} AS {name})"

    def _may_lack(self, variable: str, predicate: str) -> bool:
        return self.words.may_lack(self.variables[variable], predicate)

    def _membership(self, variable: Variable, bound: bool) -> Iterator[str]:
        name = self.names[variable.name]
        for index, class_ in enumerate(variable.classes):
            members = self.words.members(class_)
            if len(members) == 1:
                yield f"{name} a {format_iri(class_)} ."
            else:
                yield f"VALUES {name}_c{index} {{ {' '.join(map(format_iri, members))} }} {name} a {name}_c{index} ."
        if not (variable.classes or variable.keys or bound):
            yield (
                f"{{ SELECT DISTINCT {name} {{ {{ {name} {name}_p {name}_o }} UNION "
                f"{{ {name}_s {name}_q {name} . FILTER(!isLiteral({name}) && {name}_q != {format_iri(TYPE)}) }} }} }}"
            )
        if variable.without:
            others = sorted({member for each in variable.without for member in self.words.members(each)})
            for other in others:
                yield f"FILTER NOT EXISTS {{ {name} a {format_iri(other)} }}"

    def _value_of(self, variable: str, predicate: str, *, needed: bool) -> str:
        found, known = self.values[variable, predicate], self.words.schema.predicate_of[predicate]
        text = f"{self.names[variable]} {format_iri(predicate)} {found.raw} ."
        if known.has_links:
            text += f" FILTER(isLiteral({found.raw}))"
        ranged = bool(self.words.column(predicate).low)
        if predicate not in self.words.readings:
            reader = _Reader(known, self.words.dialect, self.words.factors.get(predicate, {}))
            ends = reader.ends(found) if ranged else [(found.value, reader.value(found.raw))]
            return text + "".join(f" BIND({expression} AS {name})" for name, expression in ends)
        parts = [("value", found.value), *((("low", found.low), ("high", found.high)) if ranged else ())]
        node = f"{found.value}n"
        said = " ; ".join(f"{format_iri(PART + part)} {name}" for part, name in parts)
        reading = f"GRAPH {format_iri(READINGS)} {{ {node} {format_iri(READS + predicate)} {found.raw} ; {said} }}"
        return f"{text} {reading if needed else f'OPTIONAL {{ {reading} }}'}"


def required_values(select: Select) -> set[tuple[str, str]]:
    """The values without which a row can't be in the result, as conditions and order compare them."""
    terms: list[object] = [select.order.by if select.order else None, *select.by]
    for condition in select.filters:
        if not isinstance(condition.left, Aggregate) and _compares(condition):
            terms += [condition.left, condition.right]
    return {(term.variable, term.predicate) for term in terms if isinstance(term, Attribute)}


def _compares(condition: Filter) -> bool:
    return condition.op not in ("known", "unknown") or (condition.op == "known") != condition.negated


def is_numeric(predicate: Predicate) -> bool:
    """Whether its values are compared as numbers."""
    return predicate.datatype in _NUMBERS


@dataclass(frozen=True)
class _Reader:
    """Writes how the literals of a predicate are read where the source has nothing but the literals."""

    known: Predicate
    dialect: str
    factors: Mapping[str, float]

    def value(self, raw: str) -> str:
        """A literal as the value that it stands for; without one it is left unbound."""
        if self.known.unit:
            return self._number(raw, _FIRST)
        if self.known.datatype in ("integer", "real"):
            kind, plain = {"integer": "integer", "real": "double"}[self.known.datatype], f'REPLACE(STR({raw}), ",", "")'
            if self.dialect == "virtuoso":
                return self._cast(kind, plain)
            return f"COALESCE({self._cast(kind, raw)}, {self._cast(kind, plain)})"
        if self.known.datatype == "boolean":
            return f'IF(LCASE(STR({raw})) IN ("true", "1"), 1, 0)'
        return self._cast("integer", f"STR({raw})") if self.known.datatype == "year" else f"STR({raw})"

    def ends(self, found: ValueVariables) -> list[tuple[str, str]]:
        """Both ends of a range and their middle; one number is both."""
        first, second = self._number(found.raw, _FIRST), self._number(found.raw, _SECOND)
        return [
            (found.low, first),
            (found.high, f"COALESCE({second}, {found.low})"),
            (found.value, f"({found.low} + {found.high}) / 2"),
        ]

    def _number(self, raw: str, pattern: str) -> str:
        number = self._cast("double", f'REPLACE(REPLACE(STR({raw}), ",", ""), {pattern})')
        for unit, factor in self.factors.items():
            ending = format_literal(f"[0-9] *{re.escape(unit)} *$")
            number += f" * IF(REGEX(STR({raw}), {ending}), {format_literal(float(factor))}, 1)"
        return f"({number})" if self.factors else number

    def _cast(self, kind: str, text: str) -> str:
        if self.dialect != "virtuoso":
            return f"<{XSD}{kind}>({text})"
        # its failed casts end the query, so what is no number is not cast (nothing binds ?none); it shows six digits of
        # a double, but all of a decimal
        return f"IF(REGEX({text}, {_NUMBER}), <{XSD}{kind.replace('double', 'decimal')}>({text}), ?none)"
