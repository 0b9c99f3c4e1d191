"""Put links into clauses: PredicateLabel + the words of the other end -> Clause."""

from dataclasses import replace

from nacre.language.forms.nouns import possessive_phrase, with_indefinite_article, wording_entry
from nacre.language.forms.verbs import active_forms
from nacre.language.thesaurus import is_noun_of_kind, is_person
from nacre.wording.clauses.clause import Clause, state_clause, verb_clause
from nacre.wording.labels.label import PredicateLabel


def forward_link_clause(
    label: PredicateLabel,
    other: str,
    noun: str,
    other_noun: str,
    *,
    is_named: bool,
    is_any: bool,
    is_one_of_several: bool = False,
) -> Clause:
    """A link from the thing, a `noun`, to `other`, an `other_noun` with or without a name.

    With `is_any`, the thing is linked to any thing of the class.

    >>> capital = PredicateLabel("noun", "capital", "capitals")
    >>> forward_link_clause(capital, "Oslo", "country", "city", is_named=True, is_any=False).one
    'whose capital is Oslo'
    >>> club = PredicateLabel("noun", "club", "clubs")
    >>> forward_link_clause(club, "a club whose budget is 5", "player", "club", is_named=False, is_any=False).one
    "whose club's budget is 5"
    >>> variant = PredicateLabel("role", "variant", "variants")
    >>> forward_link_clause(variant, "Fox", "car variant", "car", is_named=True, is_any=False).front
    'Fox'
    """
    if label.kind == "verb":
        return verb_clause(label, other)
    if label.kind == "past":
        words = f"that {label.one} {other}"
        return Clause(words, words, f"{{}} {label.one} {other}", f"{{}} did not {label.many} {other}")
    if label.kind == "state" and label.one.startswith(f"{noun} "):
        # an "appointment with" somebody
        rest = f"{label.one.removeprefix(noun).strip()} {other}"
        return Clause(rest, rest, f"{{}} is {rest}", f"{{}} is not {rest}")
    if label.kind in ("state", "flag"):
        state, placed = state_clause(label, other), f"{label.one} {other}"
        # "the shows on the stage", not "that are on the stage"
        return replace(state, one=placed, many=placed) if label.one in wording_entry("prepositions") else state
    if label.kind == "role":
        role = f"{with_indefinite_article(label.one)} of {other}"
        front = other if is_named and noun.split()[-1] == label.one.split()[-1] else ""
        return Clause(
            f"that is {role}", f"that are {label.many} of {other}", f"{{}} is {role}", f"{{}} is not {role}", front
        )
    return _possession_clause(
        label, other, noun, other_noun, is_named=is_named, is_any=is_any, is_one_of_several=is_one_of_several
    )


def _possession_clause(
    label: PredicateLabel,
    other: str,
    noun: str,
    other_noun: str,
    *,
    is_named: bool,
    is_any: bool,
    is_one_of_several: bool,
) -> Clause:
    """A link whose label is a noun: "whose capital is Oslo"."""
    whose = possessive_phrase(label.one, "{}", person=is_person(noun))
    true, false = f"the {whose} is {other}", f"the {whose} is not {other}"
    if is_named and label.one == other_noun and noun != other_noun and not is_person(noun):
        placed = _owner_or_place(other, noun, other_noun)
        if placed:
            return Clause(placed, placed, true, false)
    if is_one_of_several and is_person(other_noun):
        owned = with_indefinite_article(whose)
        true, false = f"{other} is {owned}", f"{other} is not {owned}"
    elif is_one_of_several:
        owned = possessive_phrase(label.many, "{}", person=is_person(noun))
        true, false = f"the {owned} include {other}", f"the {owned} do not include {other}"
    if is_any:
        any_one = with_indefinite_article(label.one)
        return Clause(f"that has {any_one}", f"that have {any_one}", f"{{}} has {any_one}", f"{{}} has no {label.one}")
    for lead, link in ((" whose ", "'s "), (" that ", " "), (" who ", " ")):
        # a single condition is said shorter: not "whose club is a club whose budget is 5"
        before, found, rest = other.partition(lead)
        if found and before == with_indefinite_article(other_noun) and " and " not in rest and lead not in rest:
            # and not "whose coupon's coupon amount is 5"
            own = rest.removeprefix(f"{label.one} ") if lead == " whose " else rest
            clause = f"whose {label.one}{link}{own}"
            return Clause(clause, clause, true, false)
    clause = f"whose {label.one} is {other}"
    return Clause(clause, clause, true, false)


def _owner_or_place(other: str, noun: str, other_noun: str) -> str:
    """The other end as an owner or a place, for a link named like its class: "of Ann", "in Rome"; "" for others."""
    if is_person(other_noun) or noun.startswith(f"{other_noun} "):
        return f"of {other}"
    if not is_noun_of_kind("places", other_noun):
        return ""
    return f"{'at' if other_noun.split()[-1] in wording_entry('places_at') else 'in'} {other}"


def backward_link_clause(label: PredicateLabel, other: str, noun: str) -> Clause:
    """A link from `other` to the thing, a `noun`.

    >>> backward_link_clause(PredicateLabel("verb", "borders", "border"), "Spain", "country").many
    'that Spain borders'
    >>> backward_link_clause(PredicateLabel("noun", "capital", "capitals"), "Spain", "city").one
    'that is the capital of Spain'
    """
    if label.kind == "verb":
        words = f"that {other} {label.one}"
        return Clause(words, words, f"{other} {label.one} {{}}", f"{other} does not {label.many} {{}}")
    if label.kind == "past":
        words = f"that {other} {label.one}"
        return Clause(words, words, f"{other} {label.one} {{}}", f"{other} did not {label.many} {{}}")
    active = active_forms(label.one) if label.kind == "state" else None
    if active is not None:
        # "the potter that made the jar", not "that the jar was made by"
        denied = f"{{}} {active.do[0]} not {active.base} {other}"
        return Clause(f"that {active.one} {other}", f"that {active.many} {other}", f"{{}} {active.one} {other}", denied)
    if label.kind in ("state", "flag"):
        verb, rest = label.be[0], label.one
        words = f"that {other} {verb} {rest}"
        return Clause(words, words, f"{other} {verb} {rest} {{}}", f"{other} {verb} not {rest} {{}}")
    if label.kind == "role":
        role = f"{with_indefinite_article(label.one)} of"
        words = f"that {other} is {role}"
        return Clause(words, words, f"{other} is {role} {{}}", f"{other} is not {role} {{}}")
    if noun == label.one:
        words = f"of {other}"
        return Clause(words, words, f"the {noun} of {other} is {{}}", f"the {noun} of {other} is not {{}}")
    one, several = possessive_phrase(label.one, other), possessive_phrase(label.many, other)
    if other.startswith(("a ", "an ")) and not is_person(label.one):
        # "towns that are the home of a club", of one each, and "people who are captains of a ship"
        several = f"the {one}"
    return Clause(f"that is the {one}", f"that are {several}", f"{{}} is the {one}", f"{{}} is not the {one}")
