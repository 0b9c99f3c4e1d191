"""Values that have an order without being numbers: a bound before a name of a month or a day -> the names it leaves."""

import calendar
from collections.abc import Collection

from nacre.language.base import language

SCALES = tuple(
    tuple(name for name in names if name)
    for names in (calendar.month_name, calendar.month_abbr, calendar.day_name, calendar.day_abbr)
)


def values_on_scale(word: str, value: str, values: Collection[str]) -> tuple[str, ...]:
    """The names on the scale of `values` that lie where `word` says; none where that is no bound, or no scale.

    >>> bounded("before", "april", ["January", "April", "June"]), bounded("after", "April", ["April", "Oak"])
    (('January', 'February', 'March'), ())
    """
    bounds = language().words
    own = {each.casefold() for each in values}
    for scale in SCALES:
        names = [name.casefold() for name in scale]
        if value.casefold() not in names or not own <= set(names):
            continue
        at = names.index(value.casefold())
        if word in {"before"} | bounds["bound_until"]:
            return scale[: at + (word in bounds["bound_until"])]
        if word in {"after"} | bounds["bound_since"]:
            return scale[at + (word == "after") :]
    return ()
