"""Properties that say yes or no in whatever form their data has: a predicate -> the value that says yes."""

import re
from collections.abc import Collection

from nacre.language.base import language
from nacre.language.forms.nouns import is_participle, wording_entry
from nacre.language.tokens import split_name
from nacre.records.plan import Constant
from nacre.records.schema import Predicate

_CHOICE = re.compile(r"(?<=\w)\s*\(?\b(?:yes[ /](?:or )?no|y[ /](?:or )?n)\)?$", re.IGNORECASE)


def has_boolean_values(values: Collection[str], name: str) -> bool:
    """Whether these are all values of a property that says yes or no; `name` is what the property is called.

    Numbers, or one value alone, may be anything else where the name does not tell.

    >>> has_boolean_values(("Y", "N"), "open"), has_boolean_values(("0", "1"), "goals"), has_boolean_values(("0", "1"), "open_flag")
    (True, False, True)
    >>> has_boolean_values(("0", "1"), "registered"), has_boolean_values(("0", "1"), "is_leap")
    (True, True)
    """
    folded = {value.casefold() for value in values}
    yes, no = language().words["holding"], language().words["lacking"]
    if not folded or not folded <= yes | no:
        return False
    words = split_name(name).split()
    called = any(word in wording_entry("flags") for word in words) or strip_yes_no_suffix(name) != name
    if called or (words[1:] and words[0] in ("is", "has")):
        return True
    if folded <= {"0", "1"} and words and all(map(is_participle, words)):
        return True
    return bool(folded & yes and folded & no) and not any(value.isdigit() for value in folded)


def is_boolean_predicate(predicate: Predicate) -> bool:
    """Whether a property says yes or no: a boolean, or one whose few values are as good as that."""
    if predicate.datatype == "boolean":
        return True
    return not predicate.has_links and any(has_boolean_values(predicate.values, name) for name in _names(predicate))


def has_boolean_name(predicate: Predicate) -> bool:
    """Whether one of a property's names says that it says yes or no."""
    names = _names(predicate)
    return any(
        strip_yes_no_suffix(name) != name or set(split_name(name).split()) & wording_entry("flags") for name in names
    )


def strip_yes_no_suffix(name: str) -> str:
    """A name without the "yes or no" at its end.

    >>> strip_yes_no_suffix("returned late yes or no"), strip_yes_no_suffix("open y/n"), strip_yes_no_suffix("yes or no")
    ('returned late', 'open', 'yes or no')
    """
    return _CHOICE.sub("", name)


def _names(predicate: Predicate) -> tuple[str, ...]:
    return (predicate.label, *predicate.alt_labels)


def true_value(predicate: Predicate) -> Constant | None:
    """The value by which a property says yes; None for one that has other values, or never says it."""
    return True if predicate.datatype == "boolean" else _value(predicate, "holding")


def false_value(predicate: Predicate) -> Constant | None:
    """The value by which a property that is no boolean says no; None for others."""
    return None if predicate.datatype == "boolean" else _value(predicate, "lacking")


def none_value(predicate: Predicate) -> str | None:
    """The value of a property by which things have nothing of what others have: "No" among kinds of wireless links."""
    if predicate.has_links or is_boolean_predicate(predicate):
        return None
    return next((v for v in predicate.values if v.casefold() in language().words["none_among_values"]), None)


def alternative_values(predicate: Predicate) -> tuple[str, ...]:
    """The two values that a property is called by: "new or used", "good or bad customer"; none for other properties."""
    words = predicate.label.casefold().split()
    either = next((i for i, word in enumerate(words[:-1]) if i and word in language().words["either"]), 0)
    if not either or predicate.has_links:
        return ()
    named = {words[either - 1], words[either + 1]}
    found = tuple(v for v in predicate.values if v.casefold() in named)
    return found if len(found) == len(named) else ()


def _value(predicate: Predicate, which: str) -> Constant | None:
    words = language().words
    if not {v.casefold() for v in predicate.values} <= words["holding"] | words["lacking"]:
        return None
    found = next((v for v in predicate.values if v.casefold() in words[which]), None)
    return float(found) if found is not None and found.isdigit() else found


def parse_boolean(value: object, predicate: Predicate) -> bool | None:
    """Whether a value of a property of yes or no says yes; None for other properties and values."""
    if isinstance(value, bool):
        return value
    if not is_boolean_predicate(predicate):
        return None
    text = f"{value:g}" if isinstance(value, float) else str(value)
    words = language().words
    return True if text.casefold() in words["holding"] else False if text.casefold() in words["lacking"] else None
