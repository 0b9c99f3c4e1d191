"""Names of classes and properties in one language: Schema + question -> labels."""

from collections.abc import Iterable, Sequence

from nacre.language.tokens import tokenize
from nacre.language.translation.dictionary import is_english, stem, word_for
from nacre.language.translation.glosses import is_in_language
from nacre.records.plan import Aggregate, Attribute, PlanTerm, Select, Variable, aggregated_value
from nacre.records.schema import Class, Schema


def translated_property(iri: str, schema: Schema, question: str, code: str) -> str:
    """The label of a property in a language, without its unit."""
    about = schema.predicate_of.get(iri)
    if about is None:
        return ""
    label = _best_label((about.label, *about.alt_labels), question, code)
    has_unit = bool(about.unit) and label.endswith(")") and "(" in label
    label = label.rpartition("(")[0].strip() if has_unit else label
    return word_for(label, code) or label


def translated_class(variable: Variable, schema: Schema, question: str, code: str) -> str:
    """The label of a thing's class in a language, in the form in which the question has it; "" without a class."""
    known = [schema.class_of[iri] for iri in variable.classes if iri in schema.class_of]
    if not known:
        return ""
    return class_label(min(known, key=lambda each: each.count), question, code)


def class_label(of: Class, question: str, code: str) -> str:
    """The label of a class in a language, in the form in which a question has it."""
    label = _best_label((of.label, *of.alt_labels), question, code)
    return asked_form(label, question, code) or word_for(label, code) or label


def asked_form(label: str, question: str, code: str) -> str:
    """The form in which a question has a label of one word, often its plural; "" if it lacks it."""
    wanted = stem(label, code)
    asked = (token for token in tokenize(question) if stem(token.text, code) == wanted)
    return next((question[token.start : token.end] for token in asked), "")


def term_heading(term: PlanTerm, select: Select, schema: Schema, question: str, code: str) -> str:
    """The heading of a column: a property, or the class of the things that are shown or counted."""
    of = aggregated_value(term)
    if isinstance(of, Attribute):
        return translated_property(of.predicate, schema, question, code)
    is_count = isinstance(term, Aggregate)
    variable = next((v for v in select.variables if v.name == of.variable), None)
    kind = translated_class(variable, schema, question, code) if variable is not None else ""
    return kind or ("#" if is_count else "")


def _best_label(labels: Sequence[str], question: str, code: str) -> str:
    """The first label in a language, of several the one that the question repeats most. A label that the dictionary
    lacks may be in the language if English lacks it too."""
    asked = _stems([question], code)

    def fit(label: str) -> tuple[bool, bool, int]:
        repeated = len(asked & _stems([label], code))
        return is_in_language(label, code) or repeated > 0, not is_english(label), repeated

    return max(labels, key=fit) if len(labels) > 1 else labels[0]


def _stems(texts: Iterable[str], code: str) -> frozenset[str]:
    return frozenset(stem(token.text, code) for text in texts for token in tokenize(text))
