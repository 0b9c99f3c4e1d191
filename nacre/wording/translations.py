"""Word a result in German or French: Plan + Rows + Verbalisation in English -> Verbalisation, with the same data."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import islice

from nacre.language.data import load_language_texts
from nacre.language.tokens import ENGLISH, multilingual_property, tokenize
from nacre.language.translation import (
    GLOSSED_LANGUAGES,
    fill_template,
    gloss_label,
    glosses,
    is_english,
    is_form,
    is_in_language,
    join_translated,
    stem,
    translated_plural,
    word_for,
)
from nacre.language.values import MONEY_SIGN, append_unit, format_value
from nacre.plans.selects import is_from_earlier_turn, variable_of
from nacre.records.answer import Value
from nacre.records.evidence import Rows
from nacre.records.plan import (
    Aggregate,
    Ask,
    Attribute,
    Combine,
    Compute,
    Constant,
    Filter,
    Itself,
    Plan,
    PlanTerm,
    Profile,
    Select,
    Variable,
    aggregated_value,
)
from nacre.records.schema import Class, Predicate, Schema
from nacre.wording.grid import Grid, GridColumn, Verbalisation, build_grid
from nacre.wording.nouns import is_amount, is_temporal
from nacre.wording.sentence import MAX_LISTED_NAMES, capitalise_first

_PAIR = (Itself, Attribute)  # Things with one of their properties.


def translate_result(
    result: Verbalisation, plan: Plan | None, rows: Rows, schema: Schema, question: str, code: str
) -> Verbalisation:
    """The result in a language, in the words of the `question` where possible; written queries have no plan, or words
    for what their rows are."""
    if not rows.table.rows or not result.text:
        return result
    if plan is None or rows.meaning:
        return _translate_query_result(result, rows, code)
    if rows.table.columns[:1] == ("yes",):
        return replace(result, text=_truth_sentence(plan, rows, schema, question, code))
    body = plan.body.left if isinstance(plan.body, Combine) else plan.body
    if not isinstance(body, Select):
        found = build_grid(rows.table)
        return replace(result, text=fill_template(code, "result", values=translated_texts(found.columns[0], code)[0]))
    wording = ResultWording(body, rows, schema, question, code)
    return wording.table(result) if wording.is_table or result.columns else replace(result, text=wording.sentence())


def _translate_query_result(result: Verbalisation, rows: Rows, code: str) -> Verbalisation:
    """Rows after the words in which a model says what they are."""
    found = build_grid(rows.table)
    if rows.table.columns[:1] == ("yes",):
        deciding = "; ".join(f"{column.heading}: {translated_texts(column, code)[0]}" for column in found.columns[1:])
        truth = fill_template(code, "yes_alone" if rows.table.rows[0][0] else "no_alone")
        return replace(result, text=f"{truth.removesuffix('.')} ({deciding})." if deciding else truth)
    meaning = rows.meaning[:1].upper() + rows.meaning[1:]
    if len(found.columns) > 1:
        headings = [column.heading for column in found.columns]
        caption = fill_template(code, "caption", meaning=meaning) if meaning else fill_template(code, "table")
        return _translated_table(result, found, headings, caption, code)
    values = join_translated(list(dict.fromkeys(filter(None, translated_texts(found.columns[0], code)))), code)
    return replace(result, text=fill_template(code, "meaning" if meaning else "result", meaning=meaning, values=values))


def plan_words(plan: Plan, names: Mapping[str, str], schema: Schema, question: str, code: str) -> str:
    """A plan in a few words of a language: what is asked for, what it is grouped by, and its conditions."""
    if isinstance(plan.body, Profile):
        things = [_name(v, names) for v in plan.body.members.variables if v.keys]
        return fill_template(code, "everything", thing=join_translated(things, code)) if things else ""
    body = plan.body.select if isinstance(plan.body, Ask) else plan.body
    body = body.left if isinstance(body, Combine | Compute) else body
    if not isinstance(body, Select):
        return ""
    wording = _PlanWords(body, names, schema, question, code)
    only = "; ".join(dict.fromkeys(filter(None, wording.conditions(body))))
    only = only and fill_template(code, "only", conditions=only)
    if isinstance(plan.body, Ask):
        return fill_template(code, "whether", things=wording.subject(), only=only)
    computed = [term for term in body.answers if isinstance(term, Aggregate)]
    asked = [wording.asked(term) for term in computed or body.answers]
    by = [wording.heading(term) for term in (*body.answers, *body.by) if computed and term not in computed]
    found = ", ".join(dict.fromkeys(filter(None, asked)))
    if by:
        found = fill_template(code, "grouped", asked=found, by=join_translated(list(dict.fromkeys(by)), code))
    if body.order is not None and body.limit and aggregated_value(body.order.by) not in body.answers:
        counts = isinstance(aggregated_value(body.order.by), Itself)
        way = ("most" if counts else "highest") if body.order.descending else "fewest" if counts else "lowest"
        pattern, ending = load_language_texts(f"{code}/answers.yaml")["dative_plural"] if counts else ("$", "")
        found = fill_template(code, way, asked=found, property=re.sub(pattern, ending, wording.heading(body.order.by)))
    return found + only


def _translated_table(
    result: Verbalisation, grid: Grid, headings: Sequence[str], caption: str, code: str
) -> Verbalisation:
    columns = tuple(
        replace(column, heading=heading, texts=tuple(translated_texts(column, code)))
        for column, heading in zip(grid.columns, headings, strict=True)
    )
    found = Grid(columns)
    text = f"{caption}\n\n{found.markdown(MAX_LISTED_NAMES)}"
    return replace(result, text=text, columns=found.headings() if result.columns else ())


class _PlanWords:
    """The parts of a plan in words."""

    def __init__(self, body: Select, names: Mapping[str, str], schema: Schema, question: str, code: str) -> None:
        self.body, self.names, self.schema, self.question, self.code = body, names, schema, question, code
        self.variables = {v.name: v for v in body.variables}

    def subject(self) -> str:
        """The first thing that the plan names, else the kind that it asks for."""
        first = next((v for v in self.body.variables if v.keys and not is_from_earlier_turn(v)), None)
        return _name(first, self.names) if first is not None else self.kinds(self.body.variables[0].name)

    def heading(self, term: PlanTerm) -> str:
        return term_heading(term, self.body, self.schema, self.question, self.code)

    def asked(self, term: PlanTerm) -> str:
        """What is asked for: a property, things in the plural, or a number of them."""
        if isinstance(term, Itself):
            return self.kinds(term.variable)
        if isinstance(term, Aggregate) and isinstance(term.of, Itself):
            return fill_template(self.code, "number_of", things=self.kinds(term.of.variable))
        return self.heading(term)

    def kinds(self, variable: str) -> str:
        """The class of a variable in the plural if it is known."""
        kind = translated_class(self.variables[variable], self.schema, "", self.code)
        return translated_plural(kind, self.code) or kind

    def fill(self, name: str, **parts: str | int) -> str:
        """A template with the conditions of the plan, which the question may not have asked for."""
        only = "; ".join(dict.fromkeys(filter(None, self.conditions(self.body))))
        return fill_template(self.code, name, only=only and fill_template(self.code, "only", conditions=only), **parts)

    def conditions(self, select: Select, known: str = "known") -> Iterator[str]:
        """What things must meet, in a few words each: links to named things or kinds, values, comparisons."""
        order = [select.order.by] if select.order is not None else []
        shown = {variable_of(term) for term in (*select.answers, *select.by, *order)} | set(select.group)
        of_name = {v.name: v for v in select.variables}
        prepositions = load_language_texts(f"{self.code}/answers.yaml")["prepositions"].split()
        for edge in select.edges:
            end = next((n for n in (edge.object, edge.subject) if n not in shown), "")
            is_end = sum(end in (e.subject, e.object) for e in select.edges) == 1
            is_filtered = any(not isinstance(f.left, Aggregate) and f.left.variable == end for f in select.filters)
            if end and is_end and not is_filtered and not is_from_earlier_turn(of_name[end]):
                label, name = self._property_label(edge.predicate), _name(of_name[end], self.names)
                is_open = label.casefold().rpartition(" ")[2] in prepositions
                if not of_name[end].keys:
                    # "mit betreut von" is no German
                    is_label = end == edge.object and not is_open
                    kind = label if is_label else translated_class(of_name[end], self.schema, "", self.code)
                    yield fill_template(self.code, known, property=kind)
                elif end == edge.object:
                    yield self._condition(edge.predicate, "=", name)
                elif is_open:
                    # nor is "betreut von von"
                    yield fill_template(self.code, "fact", property=name, values=label)
                else:
                    yield fill_template(self.code, "of_thing", property=label, thing=name)
        compared = [each.left for each in select.filters if each.op != "known"]
        bounds = {(each.left, each.op): each for each in select.filters if not each.negated}
        for each in select.filters:
            low, high = bounds.get((each.left, ">=")), bounds.get((each.left, "<"))
            span = _span_words(str(low.right), str(high.right), self.code) if low and high else ""
            if span and each in (low, high):
                if each is high and isinstance(each.left, Attribute):
                    yield self._condition(each.left.predicate, "=", span)
                continue
            texts = [] if each.op == "known" and each.left in compared else list(self._texts(each))
            is_lack = ", ".join(texts).startswith(fill_template(self.code, "unknown", property=""))
            is_negated = each.negated and texts and not is_lack
            yield fill_template(self.code, "not", text=texts[0]) if is_negated else ", ".join(texts)

    def _texts(self, each: Filter) -> Iterator[str]:
        """A filter without its negation: one text, or none if it has no words."""
        if isinstance(each.right, Select) and isinstance(each.left, Itself):
            yield from islice(self.conditions(each.right, "unknown" if each.negated else "known"), 1)
        elif isinstance(each.left, Attribute):
            of = self.schema.predicate_of[each.left.predicate]
            if each.op in ("known", "unknown"):
                yield fill_template(self.code, each.op, property=self._property_label(of.iri))
            elif not isinstance(each.right, Attribute | Select | None):
                if each.op == "!=" and of.datatype == "boolean":
                    value = fill_template(self.code, "no_value" if each.right else "yes_value")
                    yield self._condition(of.iri, "=", value)
                    return
                values = each.right if isinstance(each.right, tuple) else (each.right,)
                texts = ", ".join(self._constant(v, of) for v in values if v is not None)
                day = _yearless_words(str(each.right), each.op, self.code) if is_temporal(of.iri, self.schema) else ""
                yield self._condition(of.iri, "=" if day and each.op == "contains" else each.op, day or texts)

    def _constant(self, value: Constant, of: Predicate) -> str:
        if isinstance(value, int | float) and not isinstance(value, bool):
            counted = is_amount(of.iri, english_schema(self.schema, self.code))
            return translated_number(value, self.code, of.unit, counted=counted)
        return translated_literal(str(value), self.code, is_boolean=of.datatype == "boolean")

    def _condition(self, predicate: str, op: str, value: str) -> str:
        label = self._property_label(predicate)
        if op in ("=", "in", "!="):
            value = fill_template(self.code, "not", text=value) if op == "!=" else value
            return fill_template(self.code, "fact", property=label, values=value)
        if op in ("contains", "starts", "ends"):
            return fill_template(self.code, op, property=label, text=value)
        return f"{label} {op.replace('>=', '≥').replace('<=', '≤')} {value}"

    def _property_label(self, iri: str) -> str:
        return translated_property(iri, self.schema, self.question, self.code)


class ResultWording(_PlanWords):
    """The parts of one answer."""

    def __init__(self, body: Select, rows: Rows, schema: Schema, question: str, code: str) -> None:
        super().__init__(body, dict(rows.names), schema, question, code)
        self.rows, self.english = rows, english_schema(schema, code)
        self.grid = build_grid(rows.table, body, self.english)

    @property
    def is_table(self) -> bool:
        """Whether there is more than one column, or things with one property."""
        answers = self.body.answers
        has_pairs = len(answers) == len(_PAIR) and all(map(isinstance, answers, _PAIR))
        return len(self.grid.columns) != len(answers) or (len(answers) > 1 and not has_pairs)

    def sentence(self) -> str:
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
        sides = [self._side(term) for term in self.body.answers]
        if sides == ["latitude", "longitude"] and len(self.rows.table.rows) == 1:
            decimal = load_language_texts(f"{self.code}/answers.yaml")["separators"].split(" ")[1]
            values = [str(cell).replace(".", decimal) for cell in self.rows.table.rows[0]]
            text = self.fill("coordinates", thing=self.subject(), latitude=values[0], longitude=values[1])
            return replace(result, text=text)
        return _translated_table(result, self.grid, self.headings(), self.fill("table"), self.code)

    def _side(self, term: PlanTerm) -> str:
        """Whether a term is a latitude or a longitude; "" for others."""
        of = self.schema.predicate_of[term.predicate] if isinstance(term, Attribute) else None
        names = {gloss_label(of.label, self.code), *of.alt_labels} if of is not None else set()
        return next((side for side in ("latitude", "longitude") if side in names), "")

    def headings(self) -> Sequence[str]:
        own = [self.heading(term) for term in self.body.answers]
        # after numbers their shares
        own += [self.fill("share")] if self.grid.columns[-1].unit == "%" and len(own) < len(self.grid.columns) else []
        if len(own) != len(self.grid.columns):
            return [column.heading for column in self.grid.columns]
        return [mine or column.heading for mine, column in zip(own, self.grid.columns, strict=True)]

    def _property(self, term: Attribute, values: list[str], things: GridColumn | None) -> str:
        label = self._property_label(term.predicate)
        owner = self.variables.get(term.variable)
        owners = self._distinct(things) if things is not None else []
        if not owners and owner is not None and len(owner.keys) == 1:
            owners = [_name(owner, self.names)]
        if len(owners) == 1:
            return self._of_thing(owners[0], label, values)
        name = "value_of_many" if len(values) == 1 else "values_of_many"
        return self.fill(name, property=label, values=self._joined(values))

    def _of_thing(self, thing: str, label: str, values: list[str]) -> str:
        joined, clause = self._joined(values), label[:1].lower() + label[1:]
        for name, form in (("lasting", "state"), ("passive", "participle"), ("active", "verb")):
            if is_form(label, form, self.code):
                return capitalise_first(fill_template(self.code, name, thing=thing, property=clause, values=joined))
        name = "value" if len(values) == 1 else "values"
        return fill_template(self.code, name, thing=thing, property=label, values=joined)

    def _things(self, term: Itself, names: list[str]) -> str:
        """The things that are asked for: what a named thing is linked to, or a list."""
        link = self._link_of_named()
        if link is not None:
            thing, label = link
            return self._of_thing(thing, label, names)
        if len(names) == 1:
            return self.fill("one_thing", names=names[0])
        kind = translated_class(self.variables[term.variable], self.schema, self.question, self.code)
        name = "matching_things" if self._is_restricted() else "all_things"
        # the label whatever form the question has
        label = translated_class(self.variables[term.variable], self.schema, "", self.code)
        asked = kind if kind != label else ""
        kind = translated_plural(label, self.code) or translated_plural(asked, self.code) or asked
        # no plural is known besides that of the question
        name = name if kind else "other_things"
        return self.fill(name, count=len(names), kind=kind, names=self._joined(names)).replace("  ", " ")

    def _link_of_named(self) -> tuple[str, str] | None:
        """The named thing and the label of its link, if the plan is one link of one named thing."""
        edge = self.body.edges[0] if len(self.body.edges) == 1 and not self.body.filters else None
        subject = self.variables.get(edge.subject) if edge is not None else None
        if edge is None or subject is None or len(subject.keys) != 1:
            return None
        return _name(subject, self.names), self._property_label(edge.predicate)

    def _superlative(self, names: list[str]) -> str:
        measured = self.rows.table.measured
        joined = self._joined(names)
        order, one = self.body.order, "superlative" if len(names) == 1 else "superlatives"
        if order is None:
            return self.fill(f"{one}_alone", names=joined)
        by, unit = aggregated_value(order.by), self.rows.table.measured_unit
        counted = not isinstance(by, Attribute) or is_amount(by.predicate, self.english)
        label = self.heading(order.by)
        if not measured:
            return self.fill(f"{one}_by", names=joined, property=label)
        values = [
            translated_number(each, self.code, unit, counted=counted)
            if isinstance(each, int | float)
            else translated_literal(str(each), self.code)
            for each in dict.fromkeys(measured)
            if each is not None
        ]
        return self.fill(one, names=joined, property=label, values=self._joined(values))

    def _number(self, term: Aggregate) -> str:
        """A computed number; a count with what is counted."""
        values = self._distinct(self.grid.columns[-1])
        joined = self._joined(values)
        owner = self.variables.get(variable_of(term))
        if isinstance(term.of, Attribute) and owner is not None and len(owner.keys) == 1:
            return self._property(term.of, values, None)
        if term.function != "count" or not isinstance(term.of, Itself):
            label = self._property_label(term.of.predicate) if isinstance(term.of, Attribute) else ""
            return self.fill(term.function, property=label, values=joined)
        kind = translated_class(self.variables[term.of.variable], self.schema, self.question, self.code)
        one = "_one" if values == ["1"] else ""
        label = translated_class(self.variables[term.of.variable], self.schema, "", self.code)
        # "Kursen" of the question is the form after "an den"
        kind = kind if one else translated_plural(label, self.code) or (kind if kind != label else "")
        if not kind:
            return self.fill("count", values=joined)
        name = f"count_matching{one}" if self._is_restricted() else "count_all"
        return self.fill(name, count=joined, kind=kind)

    def _is_restricted(self) -> bool:
        return bool(self.body.filters or self.body.edges or any(v.keys for v in self.body.variables))

    def _distinct(self, column: GridColumn) -> list[str]:
        return list(dict.fromkeys(filter(None, translated_texts(column, self.code))))

    def _joined(self, names: list[str]) -> str:
        if len(names) <= MAX_LISTED_NAMES:
            return join_translated(names, self.code)
        # commas are in numbers too: "4; 4,1"
        listed = ("; " if any(map(_DECIMAL_COMMA.search, names)) else ", ").join(names[:MAX_LISTED_NAMES])
        return fill_template(self.code, "more_names", names=listed, count=len(names) - MAX_LISTED_NAMES)


def _truth_sentence(plan: Plan, rows: Rows, schema: Schema, question: str, code: str) -> str:
    answer = "yes" if rows.table.rows[0][0] else "no"
    if not isinstance(plan.body, Ask) or not isinstance(plan.body.select, Select):
        return fill_template(code, f"{answer}_alone")
    wording = _PlanWords(plan.body.select, dict(rows.names), schema, question, code)
    is_named = any(v.keys and not is_from_earlier_turn(v) for v in plan.body.select.variables)
    return wording.fill(answer if is_named else f"{answer}_any", thing=wording.subject())


def _name(variable: Variable, names: Mapping[str, str]) -> str:
    """The name of a named thing in the language if it has one."""
    return names.get(variable.keys[0], variable.label) if len(variable.keys) == 1 else variable.label


def english_schema(schema: Schema, code: str) -> Schema:
    """The schema with glossed labels, which tell years and codes from amounts."""

    def gloss() -> Schema:
        glossed = (replace(p, label=gloss_label(p.label, code)) for p in schema.predicates)
        return replace(schema, predicates=tuple(glossed))

    return schema.cache.get((english_schema, code), gloss)


def translated_property(iri: str, schema: Schema, question: str, code: str) -> str:
    """The label of a property in a language, without its unit."""
    about = schema.predicate_of.get(iri)
    if about is None:
        return ""
    if multilingual_property(iri) and (name := load_language_texts(f"{code}/answers.yaml")["names_in"].get(iri[-2:])):
        return str(name)
    label = _best_label((about.label, *about.alt_labels), question, code)
    has_unit = bool(about.unit) and label.endswith(")") and "(" in label
    label = label.rpartition("(")[0].strip() if has_unit else label
    is_own = glosses(code).exact.get(label.lower(), label.lower()) != label.lower()
    return label if is_own and is_labelled_in(schema, code) else word_for(label, code) or label


def is_labelled_in(schema: Schema, code: str) -> bool:
    """Whether most labels of properties that English lacks are in a language, as "Note" and "Station" are then."""

    def compute() -> bool:
        foreign = [p.label for p in schema.shown_predicates if not is_english(p.label)]
        return 2 * sum(is_in_language(label, code) for label in foreign) > len(foreign)

    return schema.cache.get((is_labelled_in, code), compute)


def translated_class(variable: Variable, schema: Schema, question: str, code: str) -> str:
    """The label of a thing's class in a language, in the form in which the question has it; "" without a class."""
    known = [schema.class_of[iri] for iri in variable.classes if iri in schema.class_of]
    return class_label(min(known, key=lambda each: each.count), schema, question, code) if known else ""


def class_label(of: Class, schema: Schema, question: str, code: str) -> str:
    """The label of a class in a language, in the form in which a question has it."""
    label, is_own = _best_label((of.label, *of.alt_labels), question, code), is_labelled_in(schema, code)
    is_noun = "capital_nouns" in load_language_texts(f"{code}/answers.yaml") and (is_own or not is_english(label))
    translated = asked_form(label, question, code) or ("" if is_own else word_for(label, code))
    return translated or (capitalise_first(label) if is_noun else label)


def asked_form(label: str, question: str, code: str) -> str:
    """The form in which a question has a label of one word, often its plural; "" if it lacks it."""
    wanted = stem(label, code)
    asked = (token for token in tokenize(question) if stem(token.text, code) == wanted)
    return next((question[token.start : token.end] for token in asked), "")


def term_heading(term: PlanTerm, select: Select, schema: Schema, question: str, code: str) -> str:
    """The heading of a column: a property, or the class of the things that are shown or counted."""
    of = aggregated_value(term)
    is_count = isinstance(term, Aggregate)
    if isinstance(of, Attribute):
        label = translated_property(of.predicate, schema, question, code)
        texts = load_language_texts(f"{code}/answers.yaml")
        if isinstance(term, Aggregate):
            return str(texts["headings"][term.function].format(property=label))
        return str(texts["parts"].get(of.part, "{property}").format(property=label))
    variable = next((v for v in select.variables if v.name == of.variable), None)
    # "nach Fahrern" of the question is no nominative
    kind = translated_class(variable, schema, "", code) if variable is not None else ""
    return (translated_plural(kind, code) or kind or "#") if is_count else kind


def _best_label(labels: Sequence[str], question: str, code: str) -> str:
    """The label in a language that the question repeats most; unknown words count if English lacks them too."""
    asked = _stems(question, code)

    def fit(label: str) -> tuple[bool, bool, int]:
        repeated = len(asked & _stems(label, code))
        # the first label is in the language of the others, if no dictionary has its words
        is_own = repeated > 0 or is_in_language(label, code)
        is_own = is_own or (label == labels[0] and not any(is_in_language(label, c) for c in GLOSSED_LANGUAGES))
        return is_own and not is_english(label), not is_english(label), repeated

    return max(labels, key=fit) if len(labels) > 1 else labels[0]


def own_labels(label: str, others: tuple[str, ...], code: str) -> tuple[str, tuple[str, ...]]:
    """The best label of the data in a language, and the others."""
    best = label if code == ENGLISH else _best_label((label, *others), "", code)
    return best, others if best == label else (label, *(each for each in others if each != best))


def _stems(text: str, code: str) -> frozenset[str]:
    return frozenset(stem(token.text, code) for token in tokenize(text))


_DECIMAL_COMMA = re.compile(r"\d,\d")
_MONTH = re.compile(r"(\d{4})-(0[1-9]|1[0-2])")
_TRUE = frozenset(("true", "True", "1"))
_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:T00:00(?::00(?:\.0+)?)?Z?)?")


def translated_texts(column: GridColumn, code: str) -> list[str]:
    """The texts of a column in a language, row by row."""
    return [_translated(text, data, code) for text, data in zip(column.texts, column.data, strict=True)]


def translated_number(number: int | float, code: str, unit: str = "", *, counted: bool = True) -> str:
    """A number with the separators of a language, unless it is a year or code."""
    return separate_number(format_value(number, unit, counted=counted), code)


def translated_literal(text: str, code: str, unit: str = "", *, is_boolean: bool = False) -> str:
    """A literal as it is written in the data, in a language."""
    if is_boolean:
        return fill_template(code, "yes_value" if text in _TRUE else "no_value")
    day = _DAY.fullmatch(text)
    if day is not None:
        return _day_words(text, code, day)
    if not text.replace(".", "", 1).isdigit():
        return text
    number = text.removesuffix(".0")
    # a number with a unit is no year
    return separate_number(append_unit(f"{int(number):,}" if unit and number.isdigit() else number, unit), code)


def _translated(text: str, data: tuple[Value, ...], code: str) -> str:
    value = data[0] if len(data) == 1 else None
    if isinstance(value, bool):
        return fill_template(code, "yes_value" if value else "no_value")
    if isinstance(value, str):
        day, month = _DAY.fullmatch(value), _MONTH.fullmatch(value)
        if month is not None:
            return f"{fill_template(code, 'months').split()[int(month[2]) - 1]} {month[1]}"
        return _day_words(text, code, day) if day is not None else text
    is_range = len(data) > 1 and not any(isinstance(each, str) for each in data)
    text = text.replace(" to ", f" {fill_template(code, 'to')} ") if is_range else text
    return separate_number(text, code) if data and not isinstance(data[0], str) else text


def _day_words(text: str, code: str, found: re.Match[str]) -> str:
    year, month, day = map(int, found.groups())
    try:
        date(year, month, day)
    except ValueError:
        return text
    months = fill_template(code, "months").split()
    return fill_template(code, "date", day=day, month=months[month - 1], year=year)


def _span_words(first: str, end: str, code: str) -> str:
    """The year or month from an ISO date to before another one; "" for other spans."""
    days = [tuple(map(int, found.groups())) for text in (first, end) if (found := _DAY.fullmatch(text))]
    if len(days) < 2 or any(day[2] != 1 for day in days):
        return ""
    (year, month, _), (last_year, last_month, _) = days
    months = 12 * (last_year - year) + last_month - month
    if months == 1:
        return f"{fill_template(code, 'months').split()[month - 1]} {year}"
    return str(year) if months == 12 and month == 1 else ""


def _yearless_words(text: str, op: str, code: str) -> str:
    """A month or day of any year, as part of an ISO date or its bound; "" for other texts."""
    found = re.fullmatch(r"-?(\d\d)-?(\d\d)?", text)
    if found is None:
        return ""
    month = fill_template(code, "months").split()[int(found[1]) - 1]
    is_whole = not found[2] or (found[2] == "31" and op in ("<=", ">"))
    return month if is_whole else fill_template(code, "date", day=int(found[2]), month=month, year="").strip()


def separate_number(text: str, code: str) -> str:
    """A number in English figures, perhaps with its unit, in those of a language."""
    data = load_language_texts(f"{code}/answers.yaml")
    # a sign of money stands before an English number
    text = re.sub(rf"({MONEY_SIGN.pattern})(\d[\d.,]*)", r"\2 \1", text)
    number, space, unit = text.removesuffix("%").partition(" ")
    text = f"{number}{space}{data['units'].get(unit, unit)}{' %' if text.endswith('%') else ''}"
    thousands, decimal = data["separators"].split(" ")
    return re.sub(r"(?<=\d)[,.](?=\d)", lambda m: thousands if m[0] == "," else decimal, text)
