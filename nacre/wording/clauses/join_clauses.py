"""Put pieces of a noun phrase together: names with their classes, computed numbers, clauses after a noun -> words."""

import re
from collections.abc import Sequence

from nacre.language.base import phrase_list, word_list, word_map
from nacre.language.format_values import is_number_name
from nacre.language.forms.nouns import join_names
from nacre.plans.merge import is_from_earlier_turn
from nacre.records.plan import Variable

# the class after a name that things of several classes share
KIND_SUFFIX = re.compile(r" \([^()]*\)$")


def thing_name(variable: Variable, noun: str) -> str:
    """The name of a thing, with its class if the name is a number or if another class has the same name.

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
    is_clear = noun == "thing" or variable.label.lower().startswith(noun.split()[-1].lower())
    needs_noun = not is_clear and is_number_name(variable.label, variable.keys)
    return f"{noun} {variable.label}" if needs_noun else variable.label


def alternative_names(variable: Variable) -> str:
    """The names of several things, one of which is sought, without their kinds.

    >>> alternative_names(Variable("x", keys=("http://e.org/fox", "http://e.org/owl"), label="Fox (ship) or Owl"))
    'Fox and Owl'
    """
    names = [KIND_SUFFIX.sub("", name) for name in variable.label.split(" or ")]
    return join_names(names) if len(names) == len(variable.keys) else variable.label


def aggregate_name(function: str, own: str) -> str:
    """A computed number by its function, unless the label says the function already.

    >>> aggregate_name("sum", "price"), aggregate_name("sum", "total spent"), aggregate_name("max", "highest elevation")
    ('total price', 'total spent', 'highest elevation')
    """
    adjective = word_map("wording", "aggregate_adjectives")[function]
    first = own.split()[0].casefold() if own.split() else ""
    return own if first in word_map("wording", "computed")[adjective].split() else f"{adjective} {own}"


def superlative_phrase(noun: str, texts: Sequence[str]) -> str:
    """The first thing of a class, if that is the only condition on a thing; "" for others.

    >>> superlative_phrase("city", ["that is the city with the most rivers"])
    'the city with the most rivers'
    >>> superlative_phrase("city", ["that is old"])
    ''
    """
    only = texts[0] if len(texts) == 1 else ""
    leads = phrase_list("wording", "membership_starts")
    lead = next((each for each in leads if only.startswith(f"{each} the {noun} with ")), "")
    return only.removeprefix(f"{lead} ") if lead else ""


def person_clause(clause: str) -> str:
    """A clause after the noun of a person: "who" if the person does what it says.

    >>> person_clause("that are based in Rome"), person_clause("that the club trains"), person_clause("whose age is 3")
    ('who are based in Rome', 'that the club trains', 'whose age is 3')
    """
    pronoun, _, rest = clause.partition(" ")
    first = rest.partition(" ")[0]
    is_subject = pronoun == "that" and first.islower() and first not in word_list("wording", "determiners")
    return f"who {rest}" if is_subject else clause


def chain_clauses(texts: Sequence[str]) -> str:
    """Clauses after a noun, joined so that each still belongs to it; clauses with the same start share it.

    >>> chain_clauses(["that have a film", "that have a market", "whose year is 1995"])
    'that have a film and a market and whose year is 1995'
    """
    relative = tuple(f"{each} " for each in phrase_list("wording", "relative_pronouns"))
    starts = [f"{each} " for each in phrase_list("wording", "shared_clause_starts")]
    chained: list[str] = []
    for text in sorted(dict.fromkeys(texts), key=lambda text: text.startswith(relative)):
        last = chained[-1] if chained else ""
        shared = next((start for start in starts if text.startswith(start) and last.startswith(start)), "")
        if shared and " " not in last.removeprefix(shared).partition(" ")[2]:
            chained[-1] += f" and {text.removeprefix(shared)}"
        elif chained and text.startswith(relative) == last.startswith(relative):
            chained[-1] += f" and {text}"
        else:
            chained.append(text)
    return " ".join(chained)
