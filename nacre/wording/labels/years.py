"""Whether the numbers of a predicate are years: its datatype and its range -> bool."""

from nacre.records.schema import Predicate

# numbers of an event ("founded in") between these are years
FIRST_YEAR, LAST_YEAR = 1000, 2100
# whole numbers of anything else that all lie from here on may be years ("season")
FIRST_RECENT_YEAR = 1800


def has_measured_numbers(predicate: Predicate) -> bool:
    """Whether a predicate counts or measures, and gives no years."""
    is_number = predicate.datatype in ("integer", "real") and None not in (predicate.minimum, predicate.maximum)
    return is_number and not may_give_years(predicate)


def may_give_years(predicate: Predicate) -> bool:
    """Whether all numbers of a predicate may be years."""
    low, high = predicate.minimum, predicate.maximum
    if low is None or high is None or predicate.datatype not in ("integer", "real", "year"):
        return False
    return FIRST_YEAR <= low <= high <= LAST_YEAR
