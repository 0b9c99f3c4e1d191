"""Pieces of a noun phrase put together: names with their kinds, computed numbers, clauses after a noun."""

import re
from collections.abc import Sequence

from nacre.language.format_values import is_number_name
from nacre.language.forms.nouns import join_names, wording_entry
from nacre.plans.merge import is_from_earlier_turn
from nacre.records.plan import Variable

AGGREGATE_ADJECTIVES = {"min": "lowest", "max": "highest", "avg": "average", "sum": "total"}
# the kind behind a name that things of several kinds share
KIND_SUFFIX = re.compile(r" \([^()]*\)$")
_SHARED = ("that has ", "that have ", "who has ", "who have ", "with ")
_RELATIVE = ("that ", "who ", "whose ")


def thing_name(variable: Variable, noun: str) -> str:
    """The name of a thing; one that has only a number, or shares its name with another kind, is named with its kind.

    >>> thing_name(Variable("x", keys=("http://e.org/room12",), label="12"), "room")
    'room 12'
    >>> thing_name(Variable("x", keys=("http://e.org/fox",), label="Fox (car variant)"), "car variant")
    'the car variant Fox'
    >>> thing_name(Variable("x", keys=("http://e.org/room12",), label="12 (room)"), "room")
    'room 12'
    >>> thing_name(Variable("x", keys=("http://e.org/fox",), label="(1 of before)"), "ship")
    'that ship'
    """
    if is_from_earlier_turn(variable):
        return f"that {noun}"
    if variable.label.endswith(f" ({noun})"):
        name = variable.label.removesuffix(f" ({noun})")
        return f"{noun} {name}" if is_number_name(name, variable.keys) else f"the {noun} {name}"
    said = noun == "thing" or variable.label.lower().startswith(noun.split()[-1].lower())
    return variable.label if said or not is_number_name(variable.label, variable.keys) else f"{noun} {variable.label}"


def alternative_names(variable: Variable) -> str:
    """The names of several things, one of which is sought, without their kinds.

    >>> alternative_names(Variable("x", keys=("http://e.org/fox", "http://e.org/owl"), label="Fox (ship) or Owl"))
    'Fox and Owl'
    """
    names = [KIND_SUFFIX.sub("", name) for name in variable.label.split(" or ")]
    return join_names(names) if len(names) == len(variable.keys) else variable.label


def aggregate_name(function: str, own: str) -> str:
    """A computed number by its function, which its label may say already.

    >>> aggregate_name("sum", "price"), aggregate_name("sum", "total spent"), aggregate_name("max", "highest elevation")
    ('total price', 'total spent', 'highest elevation')
    """
    said = AGGREGATE_ADJECTIVES[function]
    first = own.split()[0].casefold() if own.split() else ""
    return own if first in wording_entry("computed")[said].split() else f"{said} {own}"


def superlative_phrase(noun: str, texts: Sequence[str]) -> str:
    """The first of a kind, where nothing else is said of the thing; "" elsewhere.

    >>> superlative_phrase("city", ["that is the city with the most rivers"])
    'the city with the most rivers'
    >>> superlative_phrase("city", ["that is old"])
    ''
    """
    alone = texts[0] if len(texts) == 1 else ""
    leads = ("that is ", "that are among ", "who is ", "who are among ")
    lead = next((x for x in leads if alone.startswith(f"{x}the {noun} with ")), "")
    return alone.removeprefix(lead) if lead else ""


def person_clause(clause: str) -> str:
    """A clause that follows the noun of a person, who does what it says.

    >>> person_clause("that are based in Rome"), person_clause("that the club trains"), person_clause("whose age is 3")
    ('who are based in Rome', 'that the club trains', 'whose age is 3')
    """
    that, _, said = clause.partition(" ")
    first = said.partition(" ")[0]
    does = that == "that" and first.islower() and first not in wording_entry("determiners")
    return f"who {said}" if does else clause


def chain_clauses(texts: list[str]) -> str:
    """Clauses after a noun, joined so that each still belongs to it; what two begin with is said once.

    >>> chain_clauses(["that have a film", "that have a market", "whose year is 1995"])
    'that have a film and a market and whose year is 1995'
    """
    texts = list(dict.fromkeys(texts))
    texts.sort(key=lambda text: text.startswith(_RELATIVE))
    found: list[str] = []
    for text in texts:
        shared = next((s for s in _SHARED if found and text.startswith(s) and found[-1].startswith(s)), "")
        if shared and " " not in found[-1].removeprefix(shared).partition(" ")[2]:
            found[-1] += f" and {text.removeprefix(shared)}"
        elif found and text.startswith(_RELATIVE) == found[-1].startswith(_RELATIVE):
            found[-1] += f" and {text}"
        else:
            found.append(text)
    return " ".join(found)
