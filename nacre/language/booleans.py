"""Yes/no properties in any form of their data: a predicate -> the values that mean yes and no."""

from collections.abc import Collection

from nacre.language.base import language, pattern, word_list
from nacre.language.forms.nouns import is_participle
from nacre.language.tokens import split_name
from nacre.records.plan import Constant
from nacre.records.schema import Predicate


def has_boolean_values(values: Collection[str], name: str) -> bool:
    """Whether these are all the values of a yes/no property of this name.

    Numbers, or a single value, mean yes or no only if the name says so.

    >>> has_boolean_values(("Y", "N"), "open"), has_boolean_values(("0", "1"), "goals")
    (True, False)
    >>> [has_boolean_values(("0", "1"), name) for name in ("open_flag", "registered", "is_leap")]
    [True, True, True]
    """
    folded = {value.casefold() for value in values}
    yes, no = language().words["holding"], language().words["lacking"]
    if not folded or not folded <= yes | no:
        return False
    words = split_name(name).split()
    has_flag_name = any(word in word_list("wording", "flags") for word in words) or strip_yes_no_suffix(name) != name
    if has_flag_name or (words[1:] and words[0] in ("is", "has")):
        return True
    if folded <= {"0", "1"} and words and all(map(is_participle, words)):
        return True
    return bool(folded & yes and folded & no) and not any(value.isdigit() for value in folded)


def is_boolean_predicate(predicate: Predicate) -> bool:
    """Whether a property is a boolean, or has values that mean yes and no."""
    if predicate.datatype == "boolean":
        return True
    return not predicate.has_links and any(has_boolean_values(predicate.values, name) for name in _names(predicate))


def has_boolean_name(predicate: Predicate) -> bool:
    """Whether one of a property's names marks it as a yes/no property."""
    names = _names(predicate)
    return any(
        strip_yes_no_suffix(name) != name or set(split_name(name).split()) & word_list("wording", "flags")
        for name in names
    )


def strip_yes_no_suffix(name: str) -> str:
    """A name without the "yes or no" at its end.

    >>> [strip_yes_no_suffix(name) for name in ("returned late yes or no", "open y/n", "yes or no")]
    ['returned late', 'open', 'yes or no']
    """
    return pattern("patterns", "yes_no_suffix").sub("", name)


def _names(predicate: Predicate) -> tuple[str, ...]:
    return (predicate.label, *predicate.alt_labels)


def true_value(predicate: Predicate) -> Constant | None:
    """The value that means yes; None if the property has other values, or no such value."""
    return True if predicate.datatype == "boolean" else _value(predicate, "holding")


def false_value(predicate: Predicate) -> Constant | None:
    """The value that means no, of a property that is no boolean; None for other properties."""
    return None if predicate.datatype == "boolean" else _value(predicate, "lacking")


def none_value(predicate: Predicate) -> str | None:
    """The value that means "none" among other values: "No" among kinds of wireless links."""
    if predicate.has_links or is_boolean_predicate(predicate):
        return None
    return next((v for v in predicate.values if v.casefold() in language().words["none_among_values"]), None)


def alternative_values(predicate: Predicate) -> tuple[str, ...]:
    """The two values in the name of a property ("new or used", "good or bad customer"), else none."""
    words = predicate.label.casefold().split()
    either = next((i for i, word in enumerate(words[:-1]) if i and word in language().words["either"]), 0)
    if not either or predicate.has_links:
        return ()
    named = {words[either - 1], words[either + 1]}
    values = tuple(v for v in predicate.values if v.casefold() in named)
    return values if len(values) == len(named) else ()


def _value(predicate: Predicate, which: str) -> Constant | None:
    words = language().words
    if not {v.casefold() for v in predicate.values} <= words["holding"] | words["lacking"]:
        return None
    value = next((v for v in predicate.values if v.casefold() in words[which]), None)
    return float(value) if value is not None and value.isdigit() else value


def parse_boolean(value: object, predicate: Predicate) -> bool | None:
    """The value of a yes/no property as a boolean; None for other properties and values."""
    if isinstance(value, bool):
        return value
    if not is_boolean_predicate(predicate):
        return None
    text = f"{value:g}" if isinstance(value, float) else str(value)
    words = language().words
    return True if text.casefold() in words["holding"] else False if text.casefold() in words["lacking"] else None
