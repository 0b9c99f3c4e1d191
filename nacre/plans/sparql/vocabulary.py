"""What a SPARQL source states and how it is asked: Schema + properties of the source -> Vocabulary."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from nacre.plans.sparql.derived import class_pattern
from nacre.plans.sql.relations import variable_relation
from nacre.records.plan import Variable
from nacre.records.schema import Column, Schema


@dataclass(frozen=True)
class Vocabulary:
    """How a source states what a plan asks for.

    `readings`: predicates whose literals the source has as numbers of its own. `closed`: the source states all
    superclasses. `dialect`: "virtuoso", or "" for standard SPARQL. `factors`: for each predicate the factors that
    convert numbers with another unit than the usual one, by that unit.
    """

    schema: Schema
    readings: frozenset[str] = frozenset()
    closed: bool = False
    dialect: str = ""
    factors: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def members(self, class_: str) -> tuple[str, ...]:
        """The classes whose members belong to a class: itself and, unless superclasses are stated, its subclasses."""
        found = [class_]
        if not self.closed and not class_pattern(self.schema, class_):
            for each in found:
                found += [c.iri for c in self.schema.classes if each in c.parents and c.iri not in found]
        # the members of derived subclasses are members of stored ones
        return tuple(each for each in found if each == class_ or not class_pattern(self.schema, each))

    def column(self, predicate: str) -> Column:
        """The parts of a predicate's values: from the tables, or without tables from the predicate's datatype."""
        for relation in self.schema.relations:
            for column in relation.columns:
                if column.predicate == predicate:
                    return column
        known = self.schema.predicate_of[predicate]
        low, high = ("low", "high") if known.shape != "single" else ("", "")
        return Column(predicate, "value", low, high, "text" if known.unit or low else "")

    def may_lack(self, variable: Variable, predicate: str) -> bool:
        """Whether things without a value are shown: a predicate with one value a thing does not filter them out."""
        if not self.schema.relations:
            return self.schema.predicate_of[predicate].functional
        columns = variable_relation(variable, self.schema).columns
        return any(c.predicate == predicate and (c.value or c.text) for c in columns)
