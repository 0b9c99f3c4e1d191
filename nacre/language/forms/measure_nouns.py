"""Nouns for counts and measures in English: "passengers" -> "number of passengers", "duration" -> "longest"."""

from nacre.language.base import word_list, word_map
from nacre.language.forms.nouns import head_noun, is_participle, is_plural, plural
from nacre.language.thesaurus import unit_words


def count_phrase(noun: str, *, counts: bool) -> str:
    """The name of a computed value of a property: "number of passengers" if the property counts things.

    >>> count_phrase("passengers", counts=True), count_phrase("sales", counts=True), count_phrase("price", counts=True)
    ('number of passengers', 'sales', 'price')
    """
    return f"number of {noun}" if counts and is_count_noun(noun) else noun


def is_count_noun(noun: str) -> bool:
    """Whether whole numbers of a property with this name count things.

    >>> is_count_noun("passengers"), is_count_noun("people injured"), is_count_noun("sales"), is_count_noun("price")
    (True, True, False, False)
    """
    word = head_noun(noun).rpartition(" ")[2].lower()
    return (
        is_plural(noun)
        and word not in word_list("wording", "plural_only")
        and not noun.startswith(("number of", "numbers of"))
    )


def amount_name(name: str) -> str:
    """The name of a column that counts or measures something, as English has it; other names stay.

    >>> amount_name("number rooms"), amount_name("no of guest"), amount_name("amount payment")
    ('number of rooms', 'number of guests', 'payment amount')
    >>> amount_name("amount paid"), amount_name("amount due"), amount_name("amount eur"), amount_name("quantity words")
    ('amount paid', 'amount due', 'amount eur', 'number of words')
    >>> amount_name("budget million"), amount_name("price in dollar"), amount_name("number")
    ('budget in millions', 'price in dollars', 'number')
    >>> amount_name("room number"), plural("amount outstanding")
    ('room number', 'amounts outstanding')
    >>> amount_name("bedroom count"), amount_name("count"), amount_name("head count")
    ('number of bedrooms', 'count', 'head count')
    >>> amount_name("booked count")
    'booked count'
    """
    first, _, rest = name.partition(" ")
    last = rest.rpartition(" ")[2].lower()
    if rest and first.lower() in word_list("wording", "number_first") and (rest.startswith("of ") or is_plural(rest)):
        return f"number of {plural(rest.removeprefix('of '))}"
    before = name.rpartition(" ")[0]
    if rest and last in word_list("wording", "number_last") and before.lower() not in word_list("wording", "no_things"):
        return name if is_participle(before) else f"number of {plural(before)}"
    follows_noun = (
        is_participle(rest) or rest.lower() in word_list("wording", "after_noun") or rest.lower() in unit_words()
    )
    if rest and " " not in rest and first.lower() in word_list("wording", "amount_first") and not follows_noun:
        return f"{rest} {first}"
    if last in word_list("wording", "multiples"):
        return f"{before}{'' if before.endswith(' in') else ' in'} {last}s"
    return f"{name}s" if rest and f" in {last}" in f" {rest}" and last in word_list("wording", "coins") else name


def extreme_adjective(measure: str, *, high: bool) -> str:
    """The superlative for the high or the low end of a measure.

    >>> extreme_adjective("duration", high=True), extreme_adjective("luggage volume of a car", high=False)
    ('longest', 'smallest')
    >>> extreme_adjective("price", high=True)
    'highest'
    """
    words = measure.casefold().split()
    head = next((i for i, word in enumerate(words) if word in word_list("wording", "prepositions")), len(words))
    for ends, nouns in word_map("wording", "extremes").items():
        if words[:head] and words[head - 1] in nouns.split():
            return str(ends.split()[0 if high else 1])
    return "highest" if high else "lowest"
