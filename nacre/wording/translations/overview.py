"""A graph as a whole in German or French: Schema -> sentences about its kinds, their properties and some values."""

from collections.abc import Iterator
from dataclasses import replace

from nacre.language.base import load_language_texts
from nacre.language.translation.glosses import gloss_label
from nacre.language.translation.templates import fill_template, join_translated
from nacre.records.schema import Class, Predicate, Schema
from nacre.wording.labels.value_kinds import is_amount
from nacre.wording.translations.labels import class_label, translated_property
from nacre.wording.translations.values import translated_number

# Kinds, properties and spans of values that an overview names (given).
MAX_KINDS, MAX_PROPERTIES, MAX_SPANS = 4, 6, 3


def translated_lead(intent: str, code: str) -> str:
    """What the answer to an intent says first, or ""."""
    return str(load_language_texts(f"{code}/answers.yaml")["leads"].get(intent, ""))


def translated_kinds(schema: Schema, code: str) -> str:
    """A request to ask about the main kinds."""
    names = [class_label(each, "", code) for each in _main_classes(schema)]
    return fill_template(code, "ask_about", kinds=join_translated(names, code)) if names else ""


def translated_overview(schema: Schema, code: str, *, is_short: bool, has_examples: bool = True) -> str:
    """The main kinds with their numbers; unless `is_short` also properties of the largest, spans of values; questions
    that work if `has_examples`."""
    return " ".join(filter(None, _sentences(schema, code, is_short=is_short, has_examples=has_examples)))


def _sentences(schema: Schema, code: str, *, is_short: bool, has_examples: bool) -> Iterator[str]:
    classes = _main_classes(schema)
    if not classes:
        return
    kinds = [
        fill_template(code, "overview_kind", count=translated_number(c.count, code), kind=class_label(c, "", code))
        for c in classes
    ]
    numbers = {
        "things": translated_number(schema.entities, code),
        "statements": translated_number(schema.triples, code),
    }
    yield fill_template(code, "overview_kinds", kinds=join_translated(kinds, code), **numbers)
    first = class_label(classes[0], "", code)
    facts = [p for p in schema.predicates_of([classes[0].iri]) if p.role == "fact" and not p.hidden]
    names = [translated_property(p.iri, schema, "", code) for p in facts]
    if names and not is_short:
        listed = join_translated(names[:MAX_PROPERTIES], code)
        yield fill_template(code, "overview_properties", kind=first, properties=listed)
        spans = [span for p in facts if (span := _span(p, schema, code))]
        yield fill_template(code, "overview_spans", spans=join_translated(spans[:MAX_SPANS], code)) if spans else ""
    if not has_examples:
        return
    measured = next((p for p in facts if p.minimum is not None), facts[0] if facts else None)
    label = translated_property(measured.iri, schema, "", code) if measured is not None else ""
    forms = load_language_texts(f"{code}/answers.yaml")["examples"]
    examples = [each.format(kind=first, property=label) for each in forms if label or "{property}" not in each]
    quoted = join_translated([fill_template(code, "quote", text=each) for each in examples], code)
    yield fill_template(code, "overview_ask", examples=quoted)


def _span(predicate: Predicate, schema: Schema, code: str) -> str:
    """The smallest and the largest value of a property; "" without numbers, or with one value."""
    low, high = predicate.minimum, predicate.maximum
    if low is None or high is None or low == high or predicate.datatype in ("date", "datetime", "boolean"):
        return ""
    glossed = replace(predicate, label=gloss_label(predicate.label, code))
    english = Schema((), (), (glossed,), (), {}, 0, 0)
    ends = [
        translated_number(each, code, predicate.unit, counted=is_amount(predicate.iri, english)) for each in (low, high)
    ]
    label = translated_property(predicate.iri, schema, "", code)
    return fill_template(code, "overview_span", property=label, low=ends[0], high=ends[1])


def _main_classes(schema: Schema) -> list[Class]:
    """The largest classes that no other of them contains."""
    shown = [c for c in schema.shown_classes if c.count]
    parents = {parent for c in shown for parent in schema.with_parents((c.iri,)) - {c.iri}}
    leaves = [c for c in shown if c.iri not in parents] or shown
    return sorted(leaves, key=lambda c: (-c.count, c.label))[:MAX_KINDS]
