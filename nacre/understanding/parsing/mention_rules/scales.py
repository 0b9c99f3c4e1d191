"""Names of months and days as ordered values: a bound before a name -> the names that it leaves ("before April")."""

import calendar
from collections.abc import Collection

from nacre.language.base import language

SCALES = tuple(
    tuple(name for name in names if name)
    for names in (calendar.month_name, calendar.month_abbr, calendar.day_name, calendar.day_abbr)
)


def values_on_scale(bound: str, value: str, values: Collection[str]) -> tuple[str, ...]:
    """Return the names before or after a value, on the scale that has all `values`; none if there is no such scale.

    >>> values_on_scale("before", "april", ["January", "April", "June"])
    ('January', 'February', 'March')
    >>> values_on_scale("after", "April", ["April", "Oak"])
    ()
    """
    known = language().words
    folded = {each.casefold() for each in values}
    for scale in SCALES:
        names = [name.casefold() for name in scale]
        if value.casefold() not in names or not folded <= set(names):
            continue
        at = names.index(value.casefold())
        if bound in {"before"} | known["bound_until"]:
            return scale[: at + (bound in known["bound_until"])]
        if bound in {"after"} | known["bound_since"]:
            return scale[at + (bound == "after") :]
    return ()
