"""Word a result in German or French: Plan + Rows + Verbalisation in English -> Verbalisation, with the same data."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from nacre.language.translation.glosses import gloss_label
from nacre.language.translation.templates import fill_template, join_translated, template_pattern, translated_plural
from nacre.plans.inspect_select import variable_of
from nacre.records.evidence import Rows
from nacre.records.plan import (
    Aggregate,
    Ask,
    Attribute,
    Combine,
    Compute,
    Itself,
    Plan,
    Profile,
    Select,
    Variable,
    aggregated_value,
)
from nacre.records.schema import Schema
from nacre.wording.answers.grid import Grid, GridColumn, build_grid
from nacre.wording.answers.sentence import MAX_LISTED_NAMES, capitalise_first
from nacre.wording.answers.verbalisation import Verbalisation
from nacre.wording.labels.value_kinds import is_amount
from nacre.wording.translations.labels import term_heading, translated_class, translated_property
from nacre.wording.translations.values import translated_number, translated_texts

# Things with one of their properties.
_PAIR = (Itself, Attribute)


def translate_result(
    result: Verbalisation, plan: Plan, rows: Rows, schema: Schema, question: str, code: str
) -> Verbalisation:
    """The result in a language. `question` is as the user asked it; its words are preferred."""
    if not rows.table.rows or not result.text:
        return result
    if rows.table.columns[:1] == ("yes",):
        return replace(result, text=_truth_sentence(plan, rows, code))
    body = plan.body.left if isinstance(plan.body, Combine) else plan.body
    if not isinstance(body, Select):
        found = build_grid(rows.table)
        return replace(result, text=fill_template(code, "result", values=translated_texts(found.columns[0], code)[0]))
    wording = _Wording(body, rows, schema, question, code)
    return wording.table(result) if wording.is_table or result.columns else replace(result, text=wording.sentence())


def plan_words(plan: Plan, names: Mapping[str, str], schema: Schema, question: str, code: str) -> str:
    """A plan in a few words of a language: what is asked for, and the things that are named."""
    if isinstance(plan.body, Profile):
        things = [_name(v, names) for v in plan.body.members.variables if v.keys]
        return fill_template(code, "everything", thing=join_translated(things, code)) if things else ""
    body = plan.body.select if isinstance(plan.body, Ask) else plan.body
    body = body.left if isinstance(body, Combine | Compute) else body
    if not isinstance(body, Select):
        return ""
    asked = [term_heading(term, body, schema, question, code) for term in body.answers]
    named = [_name(v, names) for v in body.variables if v.keys]
    edges = [translated_property(e.predicate, schema, question, code) for e in body.edges]
    return ", ".join(dict.fromkeys(filter(None, [*asked, *edges, *named])))


class _Wording:
    """The parts of one answer."""

    def __init__(self, body: Select, rows: Rows, schema: Schema, question: str, code: str) -> None:
        self.body, self.rows, self.schema, self.question, self.code = body, rows, schema, question, code
        self.english = _english_schema(schema, code)
        self.grid = build_grid(rows.table, body, self.english)
        self.variables = {v.name: v for v in body.variables}

    @property
    def is_table(self) -> bool:
        """Whether there is more than one column, or things with one property."""
        answers = self.body.answers
        has_pairs = len(answers) == len(_PAIR) and all(map(isinstance, answers, _PAIR))
        return len(self.grid.columns) != len(answers) or (len(answers) > 1 and not has_pairs)

    def sentence(self) -> str:
        """One column, or things with one property, as a sentence."""
        first, last = self.body.answers[0], self.body.answers[-1]
        if isinstance(last, Aggregate):
            return self._number(last)
        names = self._distinct(self.grid.columns[-1])
        if isinstance(last, Attribute):
            return self._property(last, names, self.grid.columns[0] if isinstance(first, Itself) else None)
        if self.body.order is not None and self.body.limit:
            return self._superlative(names)
        return self._things(last, names)

    def table(self, result: Verbalisation) -> Verbalisation:
        """Several columns under a caption."""
        headings = self._headings()
        columns = tuple(
            replace(column, heading=heading, texts=tuple(translated_texts(column, self.code)))
            for column, heading in zip(self.grid.columns, headings, strict=True)
        )
        found = Grid(columns)
        text = f"{fill_template(self.code, 'table')}\n\n{found.markdown(MAX_LISTED_NAMES)}"
        return replace(result, text=text, columns=found.headings() if result.columns else ())

    def _headings(self) -> Sequence[str]:
        own = [term_heading(term, self.body, self.schema, self.question, self.code) for term in self.body.answers]
        if len(own) != len(self.grid.columns):
            return [column.heading for column in self.grid.columns]
        return [mine or column.heading for mine, column in zip(own, self.grid.columns, strict=True)]

    def _property(self, term: Attribute, values: list[str], things: GridColumn | None) -> str:
        """A property of one thing, or of all that match."""
        label = translated_property(term.predicate, self.schema, self.question, self.code)
        owner = self.variables.get(term.variable)
        owners = self._distinct(things) if things is not None else []
        if not owners and owner is not None and len(owner.keys) == 1:
            owners = [_name(owner, dict(self.rows.names))]
        if len(owners) == 1:
            return self._of_thing(owners[0], label, values)
        name = "value_of_many" if len(values) == 1 else "values_of_many"
        return fill_template(self.code, name, property=label, values=self._joined(values))

    def _of_thing(self, thing: str, label: str, values: list[str]) -> str:
        joined = self._joined(values)
        for name, form in (("passive", "participle"), ("active", "verb")):
            if template_pattern(self.code, form).fullmatch(label.casefold()):
                return capitalise_first(fill_template(self.code, name, thing=thing, property=label, values=joined))
        name = "value" if len(values) == 1 else "values"
        return fill_template(self.code, name, thing=thing, property=label, values=joined)

    def _things(self, term: Itself, names: list[str]) -> str:
        """The things that are asked for: what a named thing is linked to, or a list."""
        link = self._link_of_named()
        if link is not None:
            thing, label = link
            return self._of_thing(thing, label, names)
        if len(names) == 1:
            return fill_template(self.code, "one_thing", names=names[0])
        kind = translated_class(self.variables[term.variable], self.schema, self.question, self.code)
        name = "matching_things" if self._is_restricted() else "all_things"
        kind = translated_plural(kind, self.code) or (kind if kind != self._label_of(term.variable) else "")
        # no plural is known besides that of the question
        name = name if kind else "other_things"
        return fill_template(self.code, name, count=len(names), kind=kind, names=self._joined(names)).replace("  ", " ")

    def _label_of(self, variable: str) -> str:
        """The label of a thing's class, whatever form the question has."""
        return translated_class(self.variables[variable], self.schema, "", self.code)

    def _link_of_named(self) -> tuple[str, str] | None:
        """The named thing and the label of its link, if the plan is one link of one named thing."""
        edge = self.body.edges[0] if len(self.body.edges) == 1 and not self.body.filters else None
        subject = self.variables.get(edge.subject) if edge is not None else None
        if edge is None or subject is None or len(subject.keys) != 1:
            return None
        label = translated_property(edge.predicate, self.schema, self.question, self.code)
        return _name(subject, dict(self.rows.names)), label

    def _superlative(self, names: list[str]) -> str:
        measured = self.rows.table.measured
        joined = self._joined(names)
        by = aggregated_value(self.body.order.by) if self.body.order is not None else None
        if not measured or not isinstance(by, Attribute):
            return fill_template(self.code, "superlative_alone", names=joined)
        unit, counted = self.rows.table.measured_unit, is_amount(by.predicate, self.english)
        values = [
            translated_number(each, self.code, unit, counted=counted) if isinstance(each, int | float) else str(each)
            for each in dict.fromkeys(measured)
            if each is not None
        ]
        label = translated_property(by.predicate, self.schema, self.question, self.code)
        name = "superlative" if len(names) == 1 else "superlatives"
        return fill_template(self.code, name, names=joined, property=label, values=self._joined(values))

    def _number(self, term: Aggregate) -> str:
        """A computed number; a count with what is counted."""
        values = self._distinct(self.grid.columns[-1])
        joined = self._joined(values)
        owner = self.variables.get(variable_of(term))
        if isinstance(term.of, Attribute) and owner is not None and len(owner.keys) == 1:
            return self._property(term.of, values, None)
        if term.function != "count" or not isinstance(term.of, Itself):
            label = ""
            if isinstance(term.of, Attribute):
                label = translated_property(term.of.predicate, self.schema, self.question, self.code)
            return fill_template(self.code, term.function, property=label, values=joined)
        kind = translated_class(self.variables[term.of.variable], self.schema, self.question, self.code)
        if not kind:
            return fill_template(self.code, "count", values=joined)
        one = "_one" if values == ["1"] else ""
        kind = kind if one else translated_plural(kind, self.code) or kind
        name = f"count_matching{one}" if self._is_restricted() else "count_all"
        return fill_template(self.code, name, count=joined, kind=kind)

    def _is_restricted(self) -> bool:
        return bool(self.body.filters or self.body.edges or any(v.keys for v in self.body.variables))

    def _distinct(self, column: GridColumn) -> list[str]:
        return list(dict.fromkeys(filter(None, translated_texts(column, self.code))))

    def _joined(self, names: list[str]) -> str:
        if len(names) <= MAX_LISTED_NAMES:
            return join_translated(names, self.code)
        listed = ", ".join(names[:MAX_LISTED_NAMES])
        return fill_template(self.code, "more_names", names=listed, count=len(names) - MAX_LISTED_NAMES)


def _truth_sentence(plan: Plan, rows: Rows, code: str) -> str:
    answer = "yes" if rows.table.rows[0][0] else "no"
    select = plan.body.select if isinstance(plan.body, Ask) else None
    named = [v for v in select.variables if v.keys] if select is not None else []
    if not named:
        return fill_template(code, f"{answer}_alone")
    return fill_template(code, answer, thing=_name(named[0], dict(rows.names)))


def _name(variable: Variable, names: Mapping[str, str]) -> str:
    """The name of a named thing in the language if it has one."""
    return names.get(variable.keys[0], variable.label) if len(variable.keys) == 1 else variable.label


def _english_schema(schema: Schema, code: str) -> Schema:
    """The schema with glossed labels, which tell years and codes from amounts."""

    def gloss() -> Schema:
        glossed = (replace(p, label=gloss_label(p.label, code)) for p in schema.predicates)
        return replace(schema, predicates=tuple(glossed))

    return schema.cache.get((_english_schema, code), gloss)
