"""Explain a plan in plain English: Plan -> str."""

from records.plan import (
    Aggregate,
    Ask,
    Attribute,
    Combine,
    Compute,
    Edge,
    Filter,
    Itself,
    Overview,
    Plan,
    Profile,
    Select,
    Term,
    Variable,
)
from records.schema import Schema
from semantics.words import split_name

_FUNCTIONS = {
    "count": "the number of",
    "min": "the lowest",
    "max": "the highest",
    "avg": "the average",
    "sum": "the total",
}
_OPS = {
    "=": "is",
    "!=": "is not",
    "<": "is below",
    "<=": "is at most",
    ">": "is above",
    ">=": "is at least",
    "contains": "contains",
    "starts": "starts with",
    "ends": "ends with",
    "in": "is",
}

_PREPOSITIONS = frozenset("in at by of from to on for with".split())


def to_words(plan: Plan, schema: Schema) -> str:
    """What the plan asks, naming classes and predicates by their labels, never tables or columns."""
    body = plan.body
    if isinstance(body, Combine):
        word = {"union": "or", "intersection": "and also", "difference": "but not"}[body.op]
        return f"{_select(body.left, schema)} {word} {_select(body.right, schema)}"
    if isinstance(body, Compute):
        word = {"-": "minus", "+": "plus", "/": "divided by", "*": "times"}.get(body.op, "compared with")
        return f"{_select(body.left, schema)} {word} {_select(body.right, schema)}"
    if isinstance(body, Ask):
        kind = of_kind(body.select, schema)
        if kind is not None:
            return f"whether {kind[0]} is {kind[1]}"
        return f"whether there is {_select(body.select, schema)}"
    if isinstance(body, Profile):
        return f"what characterises {_select(body.members, schema)}" + (f", as to {body.topic}" if body.topic else "")
    if isinstance(body, Overview):
        return "what this graph holds"
    return _select(body, schema)


def of_kind(select: Select, schema: Schema) -> tuple[str, str] | None:
    """The thing and the kind, with its article, where nothing is asked of a named thing but whether it is of a kind."""
    thing = select.variables[0]
    if len(select.variables) > 1 or select.filters or not (thing.keys and thing.classes):
        return None
    kind = _noun(Variable(thing.name, thing.classes, thing.without), schema)
    return thing.label, f"{'an' if kind[:1].lower() in 'aeiou' else 'a'} {kind}"


def _select(select: Select, schema: Schema) -> str:
    variables = {v.name: v for v in select.variables}
    answers = select.answers
    first = answers[0]
    if len(answers) > 1 and isinstance(first, Itself):
        named = len(variables[first.variable].keys) == 1
        if named or first.variable == _variable_of(answers[-1]):
            # the property already says whose it is
            answers = answers[1:]
    each = select.group[0] if select.group and isinstance(answers[-1], Aggregate) and len(answers) > 1 else ""
    shown = " and ".join(_term(a, variables, schema) for a in (answers[-1:] if each else answers))
    roots = [_variable_of(a) for a in select.answers]
    text = shown + _conditions(select, roots[-1], variables, schema, {roots[-1]})
    for condition in select.filters:
        text += _filter(condition, variables, schema)
    if each:
        text += f", for each {_noun(variables[each], schema)}"
    if select.by:
        text += ", for each " + " and ".join(_attribute(by, variables, schema) for by in select.by)
    if select.order is not None:
        word = "highest" if select.order.descending else "lowest"
        which = f"the {select.limit} with the {word}" if (select.limit or 1) > 1 else f"with the {word}"
        if select.offset:
            which = f"number {select.offset + 1} by the {word}"
        by = select.order.by
        name = _term(by, variables, schema) if isinstance(by, Aggregate) else _attribute(by, variables, schema)
        text += f", {which} {name.removeprefix('the ')}"
    return text


def _variable_of(term: Term) -> str:
    return term.of.variable if isinstance(term, Aggregate) else term.variable


def _term(term: Term | Itself, variables: dict[str, Variable], schema: Schema) -> str:
    if isinstance(term, Aggregate):
        inner = (
            _noun(variables[term.of.variable], schema)
            if isinstance(term.of, Itself)
            else _attribute(term.of, variables, schema)
        )
        return f"{_FUNCTIONS[term.function]} {inner.removeprefix('the ')}"
    if isinstance(term, Itself):
        return _noun(variables[term.variable], schema)
    return f"the {_attribute(term, variables, schema)}"


def _attribute(term: Attribute | Itself, variables: dict[str, Variable], schema: Schema) -> str:
    if isinstance(term, Itself):
        return _noun(variables[term.variable], schema)
    label = predicate_words(term.predicate, schema)
    end = {"low": " (lower end)", "high": " (upper end)", "": ""}[term.part]
    return f"{label}{end} of {_noun(variables[term.variable], schema)}"


def predicate_words(iri: str, schema: Schema) -> str:
    """The label of a predicate as words."""
    return split_name(schema.predicate_of[iri].label)


def _noun(variable: Variable, schema: Schema) -> str:
    group = next(
        (g for g in schema.groups if g.classes and g.classes == variable.classes and g.without == variable.without),
        None,
    )
    name = group.label if group else schema.class_of[variable.classes[0]].label if variable.classes else "things"
    if variable.label and len(variable.keys) == 1:
        return variable.label
    return f"{name} {variable.label}" if variable.label else name


def _conditions(select: Select, root: str, variables: dict[str, Variable], schema: Schema, seen: set[str]) -> str:
    parts = []
    for edge in select.edges:
        other = _other(edge, root)
        if other is None or other in seen:
            continue
        seen.add(other)
        noun = _noun(variables[other], schema)
        text = _linked(predicate_words(edge.predicate, schema), noun, edge.subject == root)
        parts.append(text + _conditions(select, other, variables, schema, seen))
    return "".join(parts)


def _linked(label: str, noun: str, forward: bool) -> str:
    """A link as part of a sentence: "that borders X", "with capital X", "that is capital of X".

    >>> _linked("fuel type", "fuel type diesel", True), _linked("is part of", "X", True), _linked("borders", "X", False)
    (' with fuel type diesel', ' that is part of X', ' that X borders')
    >>> _linked("born in", "Lund", True), _linked("located in", "X", False)
    (' born in Lund', ' that X is located in')
    """
    first = label.split()[0]
    verb = first in ("is", "has", "was", "are") or (first.endswith("s") and not first.endswith(("ss", "ies", "us")))
    if verb:
        return f" that {label} {noun}" if forward else f" that {noun} {label}"
    if label.split()[-1] in _PREPOSITIONS:
        return f" {label} {noun}" if forward else f" that {noun} is {label}"
    if not forward:
        return f" that is {label} of {noun}"
    return f" with {noun}" if noun.startswith(label) else f" with {label} {noun}"


def _other(edge: Edge, name: str) -> str | None:
    return edge.object if edge.subject == name else edge.subject if edge.object == name else None


def _filter(condition: Filter, variables: dict[str, Variable], schema: Schema) -> str:
    left = _term(condition.left, variables, schema)
    no = "not " if condition.negated else ""
    if condition.op in ("known", "unknown"):
        return f", where {left} is {no}{condition.op}"
    if isinstance(condition.right, Select):
        if isinstance(condition.left, Itself):
            return f", where {left} is {no}among ({_select(condition.right, schema)})"
        right = f"({_select(condition.right, schema)})"
    elif isinstance(condition.right, Attribute):
        right = _attribute(condition.right, variables, schema)
    elif isinstance(condition.right, tuple):
        right = " or ".join(str(v) for v in condition.right)
    elif isinstance(condition.right, bool):
        right = "yes" if condition.right else "no"
    else:
        right = f"{condition.right:g}" if isinstance(condition.right, float) else str(condition.right)
    unit = ""
    if isinstance(condition.left, Attribute) and not isinstance(condition.right, (Select, Attribute, bool)):
        unit = schema.predicate_of[condition.left.predicate].unit
    return f", where {left} {no}{_OPS[condition.op]} {right}{' ' + unit if unit else ''}"
