"""The graph pattern of a select: its variables, edges and values -> the lines of a SPARQL group."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from nacre.plans.sparql.derived import (
    TracedPattern,
    class_pattern,
    derived_patterns,
    path_of,
    trace_membership,
    trace_statement,
    write_membership,
    write_statement,
)
from nacre.plans.sparql.literal_values import LiteralReader
from nacre.plans.sparql.terms import XSD, format_iri
from nacre.plans.sparql.vocabulary import Vocabulary
from nacre.records.plan import Aggregate, Attribute, Filter, Select, Variable
from nacre.stores.sparql.oxigraph_store import PART, READINGS, READS
from nacre.stores.sqlite.triples import TYPE

# the number of characters of an ISO date that give a part of it
_DATE_PARTS = {"year": 4, "month": 7}

# a variable of the select and a predicate
ValueKey = tuple[str, str]


@dataclass(frozen=True)
class ValueVariables:
    """The SPARQL variables of one predicate's value: the literal, its value, and the ends of a range."""

    raw: str
    value: str
    low: str
    high: str


class GraphPattern:
    """Names the values that a query uses, then writes the lines of its group.

    The names of a select within a select begin with a `prefix` of their own.
    """

    def __init__(self, vocabulary: Vocabulary, select: Select, prefix: str = "", *, is_traced: bool = False) -> None:
        # what derived classes and properties read, by the thing they are of; only if `is_traced`
        self.traced: list[tuple[str, TracedPattern]] = []
        self._is_traced = is_traced
        self.values: dict[ValueKey, ValueVariables] = {}
        self._vocabulary, self._select = vocabulary, select
        self._date_parts: dict[str, str] = {}
        self._variables: Mapping[str, Variable] = {v.name: v for v in select.variables}
        self.names = {name: _variable_name(name, prefix, i) for i, name in enumerate(self._variables)}

    def value(self, attribute: Attribute) -> str:
        """The variable of a value, of an end of a range, or of a part of a date."""
        found = self._value_variables(attribute)
        column = self._vocabulary.column(attribute.predicate)
        if attribute.part == "year" or attribute.part == "month":
            name = f"{found.value}{attribute.part[0]}"
            start = f"SUBSTR(STR({found.value}), 1, {_DATE_PARTS[attribute.part]})"
            self._date_parts[name] = f"<{XSD}integer>({start})" if attribute.part == "year" else start
            return name
        if attribute.part == "low" and column.low:
            return found.low
        return found.high if attribute.part == "high" and column.high else found.value

    def raw(self, attribute: Attribute) -> str:
        """The variable of the literal that a value is read from."""
        return self._value_variables(attribute).raw

    def lines(self, required: Collection[ValueKey], stated: Collection[ValueKey]) -> Iterator[str]:
        """Things, links and all values that were named before.

        A `required` value must be readable, a `stated` one must have a literal; other values are optional if things
        without them are shown.
        """
        for variable in self._select.variables:
            yield from self._named_things(variable)
        self.traced.clear()
        for number, edge in enumerate(self._select.edges):
            subject, target = self.names[edge.subject], self.names[edge.object]
            yield self._statement(edge.predicate, subject, target, f"{subject}_{target[1:]}_e{number}")
            known = self._vocabulary.schema.predicate_of.get(edge.predicate)
            if known is not None and known.has_literals:
                yield f"FILTER(!isLiteral({self.names[edge.object]}))"
        linked = {end for edge in self._select.edges for end in (edge.subject, edge.object)}
        for variable in self._select.variables:
            yield from self._memberships(variable, is_linked=variable.name in linked)
        present = {key for key in self.values if key in required or key in stated or not self._may_lack(*key)}
        for key in sorted(self.values, key=lambda each: each not in present):
            pattern = self._value_pattern(*key, is_required=key in required)
            yield pattern if key in present else f"OPTIONAL {{ {pattern} }}"
        for name, expression in self._date_parts.items():
            yield f"BIND({expression} AS {name})"

    def _value_variables(self, attribute: Attribute) -> ValueVariables:
        key = attribute.variable, attribute.predicate
        if key not in self.values:
            base = f"{self.names[attribute.variable]}_{len(self.values)}"
            self.values[key] = ValueVariables(f"{base}r", base, f"{base}l", f"{base}h")
        return self.values[key]

    def _may_lack(self, variable: str, predicate: str) -> bool:
        return self._vocabulary.may_lack(self._variables[variable], predicate)

    def _named_things(self, variable: Variable) -> Iterator[str]:
        """The IRIs of a variable with known things; with `below` also all parts of these things."""
        if not variable.keys:
            return
        name, keys = self.names[variable.name], " ".join(map(format_iri, variable.keys))
        whole = f"{name}_whole" if variable.below else name
        yield f"VALUES {whole} {{ {keys} }}"
        if variable.below:
            steps = [f"^{self._step(p[1:])}" if p.startswith("^") else self._step(p) for p in variable.below]
            yield f"{name} ({'|'.join(steps)})* {whole} ."

    def _memberships(self, variable: Variable, *, is_linked: bool) -> Iterator[str]:
        name = self.names[variable.name]
        for index, class_ in enumerate(variable.classes):
            members = self._vocabulary.members(class_)
            if len(members) == 1:
                yield self._membership(class_, name, f"{name}_d{index}")
            else:
                yield f"VALUES {name}_c{index} {{ {' '.join(map(format_iri, members))} }} {name} a {name}_c{index} ."
        if variable.any_of:
            yield " UNION ".join(
                f"{{ {self._membership(each, name, f'{name}_u{i}').removesuffix(' .')} }}"
                for i, each in enumerate(dict.fromkeys(m for c in variable.any_of for m in self._vocabulary.members(c)))
            )
        if not (variable.classes or variable.keys or variable.any_of or is_linked):
            yield (
                f"{{ SELECT DISTINCT {name} {{ {{ {name} {name}_p {name}_o }} UNION "
                f"{{ {name}_s {name}_q {name} . FILTER(!isLiteral({name}) && {name}_q != {format_iri(TYPE)}) }} }} }}"
            )
        others = sorted({member for each in variable.without for member in self._vocabulary.members(each)})
        for number, other in enumerate(others):
            pattern = write_membership(self._vocabulary.schema, other, name, f"{name}_x{number}")
            yield f"FILTER NOT EXISTS {{ {pattern.removesuffix(' .')} }}"

    def _membership(self, class_: str, name: str, prefix: str) -> str:
        schema = self._vocabulary.schema
        if not self._is_traced or not class_pattern(schema, class_):
            return write_membership(schema, class_, name, prefix)
        found = trace_membership(schema, class_, name, prefix)
        self.traced.append((name, found))
        return found.text

    def _statement(self, predicate: str, subject: str, value: str, prefix: str) -> str:
        schema = self._vocabulary.schema
        if not self._is_traced or not derived_patterns(schema, predicate):
            return write_statement(schema, predicate, subject, value, prefix)
        found = trace_statement(schema, predicate, subject, value, prefix)
        self.traced.append((subject, found))
        return found.text

    def _step(self, predicate: str) -> str:
        """A property as a step of a path; a derived one as its path, if it has one."""
        paths = [found[1] for each in derived_patterns(self._vocabulary.schema, predicate) if (found := path_of(each))]
        return f"({'|'.join(paths)})" if paths else format_iri(predicate)

    def _value_pattern(self, variable: str, predicate: str, *, is_required: bool) -> str:
        found, known = self.values[variable, predicate], self._vocabulary.schema.predicate_of[predicate]
        text = self._statement(predicate, self.names[variable], found.raw, found.raw)
        if known.has_links:
            text += f" FILTER(isLiteral({found.raw}))"
        is_range = bool(self._vocabulary.column(predicate).low)
        if predicate in self._vocabulary.readings:
            reading = _stored_reading(predicate, found, is_range=is_range)
            return f"{text} {reading if is_required else f'OPTIONAL {{ {reading} }}'}"
        factors = self._vocabulary.factors.get(predicate, {})
        bindings = _read_literal(LiteralReader(known, self._vocabulary.dialect, factors), found, is_range=is_range)
        return text + "".join(f" BIND({expression} AS {name})" for name, expression in bindings)


def required_values(select: Select) -> set[ValueKey]:
    """The values without which a row cannot be in the result: conditions, groups or the order compare them."""
    terms: list[object] = [select.order.by if select.order else None, *select.by]
    for condition in select.filters:
        if not isinstance(condition.left, Aggregate) and _needs_value(condition):
            terms += [condition.left, condition.right]
    return {(term.variable, term.predicate) for term in terms if isinstance(term, Attribute)}


def _needs_value(condition: Filter) -> bool:
    return condition.op not in ("known", "unknown") or (condition.op == "known") != condition.negated


def _variable_name(name: str, prefix: str, index: int) -> str:
    return f"?{prefix}{name if re.fullmatch('[a-zA-Z][a-zA-Z0-9]*', name) else f'n{index}'}"


def _stored_reading(predicate: str, found: ValueVariables, *, is_range: bool) -> str:
    """The value of a literal as an Oxigraph store keeps it beside the graph."""
    parts = [("value", found.value), *((("low", found.low), ("high", found.high)) if is_range else ())]
    values = " ; ".join(f"{format_iri(PART + part)} {name}" for part, name in parts)
    reads = format_iri(READS + predicate)
    return f"GRAPH {format_iri(READINGS)} {{ {found.value}n {reads} {found.raw} ; {values} }}"


def _read_literal(reader: LiteralReader, found: ValueVariables, *, is_range: bool) -> list[tuple[str, str]]:
    """Variables with the expressions that read a literal: its value, or both ends of a range and their middle."""
    if not is_range:
        return [(found.value, reader.value(found.raw))]
    low, high = reader.ends(found.raw)
    return [
        (found.low, low),
        (found.high, f"COALESCE({high}, {found.low})"),
        (found.value, f"({found.low} + {found.high}) / 2"),
    ]
