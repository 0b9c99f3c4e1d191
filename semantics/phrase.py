"""Say a result in words: Plan + Table -> Phrase."""

from dataclasses import dataclass

from records.answer import Value
from records.evidence import Cell, Table
from records.plan import Aggregate, Ask, Attribute, Compute, Itself, Plan, Select
from records.schema import Schema
from semantics.to_sql import RAW
from semantics.to_words import of_kind, predicate_words, to_words
from semantics.words import tokens

NAMED = 30


@dataclass(frozen=True)
class Phrase:
    """`text` in plain English, the same data as `values`, and the unit that both use."""

    text: str
    values: tuple[Value, ...] = ()
    unit: str | None = None


def phrase(plan: Plan, table: Table, schema: Schema, question: str) -> Phrase:
    """The answer in words and as data; an empty table gives an empty phrase."""
    if not table.rows:
        return Phrase("")
    body = plan.body
    if isinstance(body, Ask):
        yes = bool(table.rows[0][0])
        kind = of_kind(body.select, schema)
        if kind is not None:
            return Phrase(f"{'Yes' if yes else 'No'}, {kind[0]} is {'' if yes else 'not '}{kind[1]}.", (yes,))
        found = to_words(Plan(body.select), schema)
        return Phrase(f"Yes: {found}." if yes else f"No, there is no {found}.", (yes,))
    if isinstance(body, Compute):
        return _computed(body, table)
    if not isinstance(body, Select):
        return _listed([str(r[0]) for r in table.rows])
    last = body.answers[-1]
    if isinstance(last, Aggregate) and body.group and len(body.answers) > 1:
        return _numbers(plan, table, schema)
    if isinstance(last, Aggregate):
        return _number(plan, table, schema)
    if isinstance(last, Itself) and len(body.answers) > 1:
        return _paired(table)
    if isinstance(last, Itself):
        return _listed(_distinct(table, 0))
    words = [token.norm for token in tokens(question)]
    asked_when = "when" in words or "year" in words[1:3]
    return _attribute(body, last, table, schema, asked_when)


def _computed(body: Compute, table: Table) -> Phrase:
    result, left, right = table.rows[0]
    unit = table.units[-1]
    if body.op in ("<", "<=", ">", ">=", "=", "!="):
        word = "higher" if left > right else "lower" if left < right else "equal"  # type: ignore[operator]
        told = f"{say(left, unit)} against {say(right, unit)}, {word}"
        return Phrase(f"{'Yes' if result else 'No'}, {told}.", (bool(result),))
    assert isinstance(result, (int, float))
    return Phrase(
        f"The difference is {say(abs(result), unit)} ({say(left, unit)} against {say(right, unit)}).",
        (_round(abs(result)),),
        unit or None,
    )


def _number(plan: Plan, table: Table, schema: Schema) -> Phrase:
    value, unit = table.rows[0][-1], table.units[-1]
    if value is None:
        return Phrase("")
    words = to_words(plan, schema)
    said = say(value, unit)
    text = f"{words[:1].upper()}{words[1:]} is {said}." if len(words.split()) <= 30 else f"{said}."
    return Phrase(text, (_round(value) if isinstance(value, float) else value,), unit or None)


def _numbers(plan: Plan, table: Table, schema: Schema) -> Phrase:
    """One number for each of the things that are named in the first column."""
    unit, words = table.units[-1], to_words(plan, schema)
    lines = [f"{row[0]}: {say(row[-1], unit)}" for row in table.rows]
    more = f"; and {len(lines) - NAMED} more" if len(lines) > NAMED else ""
    numbers = [_round(row[-1]) if isinstance(row[-1], float) else row[-1] for row in table.rows]
    text = f"{words[:1].upper()}{words[1:]}: {'; '.join(lines[:NAMED])}{more}."
    values = (*dict.fromkeys(str(row[0]) for row in table.rows), *(n for n in numbers if n is not None))
    return Phrase(text, values, unit or None)


def _attribute(body: Select, last: Attribute, table: Table, schema: Schema, asked_when: bool) -> Phrase:
    predicate = schema.predicate_of[last.predicate]
    label, unit = predicate_words(last.predicate, schema), predicate.unit
    dated = predicate.datatype == "year" or "year" in label or (asked_when and not unit)
    owned = isinstance(body.answers[0], Itself)
    lines: list[str] = []
    values: list[Value] = []
    for row in table.rows:
        cells = row[1:] if owned else row
        said, found = _cell_values(cells, table.columns[1:] if owned else table.columns, unit, dated)
        values += [v for v in found if v not in values]
        lines.append(f"{row[0]}: {said}" if owned else said)
    if body.paired:
        values = [*dict.fromkeys(str(row[0]) for row in table.rows), *values]
    if len(set(lines)) == 1 and not owned:
        return Phrase(f"The {label} is {lines[0]}.", tuple(values), unit or None)
    if owned and len({line.split(": ", 1)[1] for line in lines}) == 1:
        names = list(dict.fromkeys(str(r[0]) for r in table.rows))
        return Phrase(f"The {label} of {_and(names[:6])} is {lines[0].split(': ', 1)[1]}.", tuple(values), unit or None)
    shown = lines if owned else list(dict.fromkeys(lines))
    if len(shown) > NAMED:
        return Phrase(
            f"The {label}s: {'; '.join(shown[:NAMED])}; and {len(shown) - NAMED} more.", tuple(values), unit or None
        )
    return Phrase(f"The {label}: {'; '.join(shown)}.", tuple(values), unit or None)


def _cell_values(cells: tuple[Cell, ...], columns: tuple[str, ...], unit: str, dated: bool) -> tuple[str, list[Value]]:
    """What is said of one value (its raw text where there is one), and its data; a year has no thousands."""
    named = dict(zip(columns, cells, strict=False))
    text = next((str(v) for c, v in named.items() if c.endswith(RAW) and v is not None), None)
    numbers = [v for c, v in named.items() if not c.endswith(RAW) and v is not None]
    data: list[Value] = [_round(v) if isinstance(v, float) else v for v in dict.fromkeys(numbers)]
    if not data:
        return text or "unknown", [text] if text else []
    if text and not text.replace(".", "").replace(",", "").strip().isdigit():
        return text, data
    return " to ".join(str(v) if dated else say(v, "") for v in data) + (f" {unit}" if unit else ""), data


def _listed(names: list[str]) -> Phrase:
    if len(names) == 1:
        return Phrase(f"{names[0]}.", tuple(names))
    if len(names) > NAMED:
        return Phrase(
            f"{len(names)} in all; the first {NAMED}: {_and(names[:NAMED])}. Ask for the rest with --json.",
            tuple(names),
        )
    return Phrase(f"{len(names)}: {_and(names)}.", tuple(names))


def _paired(table: Table) -> Phrase:
    """Things with others that belong to them: each once, with all of its own."""
    own: dict[str, list[str]] = {}
    for first, second, *_ in table.rows:
        own.setdefault(str(first), []).append(str(second))
    lines = [f"{name}: {_and(list(dict.fromkeys(others)))}" for name, others in own.items()]
    more = f"; and {len(lines) - NAMED} more" if len(lines) > NAMED else ""
    return Phrase(f"{'; '.join(lines[:NAMED])}{more}.", tuple(dict.fromkeys([*own, *_distinct(table, 1)])))


def _distinct(table: Table, column: int) -> list[str]:
    return list(dict.fromkeys(str(row[column]) for row in table.rows))


def _and(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _round(value: Cell) -> Value:
    assert isinstance(value, (int, float))
    return int(value) if float(value).is_integer() else float(value)


def say(value: Cell, unit: str) -> str:
    """A value for people: thousands separated, at most two decimals, with its unit.

    >>> say(112233.333, "km")
    '112,233.33 km'
    """
    if isinstance(value, float):
        digits = 2 if abs(value) >= 1 else 4
        text = f"{value:,.{digits}f}".rstrip("0").rstrip(".")
    elif isinstance(value, int) and not isinstance(value, bool):
        text = f"{value:,}"
    else:
        text = str(value)
    return f"{text} {unit}" if unit else text
