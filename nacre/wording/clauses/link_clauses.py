"""Put links into clauses: PredicateLabel + the words of the other end -> Clause."""

from dataclasses import dataclass, replace

from nacre.language.base import word_list
from nacre.language.forms.nouns import is_plural, possessive_phrase, with_indefinite_article
from nacre.language.forms.verb_phrase import BE, HAVE, INCLUDE, VerbPhrase
from nacre.language.forms.verbs import active_verb
from nacre.language.thesaurus import is_noun_of_kind, is_person
from nacre.wording.clauses.clause import Clause, object_clause, placed_clause, property_clause, relative_clause
from nacre.wording.labels.label import PredicateLabel


@dataclass(frozen=True)
class LinkEnd:
    """What a thing is linked to: its words and its noun.

    `is_named`: it is one thing with a name. `is_any`: any thing of the class will do. `is_one_of_several`: the thing
    may be linked to others as well.
    """

    words: str
    noun: str
    is_named: bool = False
    is_any: bool = False
    is_one_of_several: bool = False


def forward_link_clause(label: PredicateLabel, other: LinkEnd, noun: str) -> Clause:
    """A link from the thing, a `noun`, to another.

    >>> capital = PredicateLabel("noun", "capital", "capitals")
    >>> forward_link_clause(capital, LinkEnd("Oslo", "city", is_named=True), "country").one
    'whose capital is Oslo'
    >>> club = PredicateLabel("noun", "club", "clubs")
    >>> forward_link_clause(club, LinkEnd("a club whose budget is 5", "club"), "player").one
    "whose club's budget is 5"
    >>> variant = PredicateLabel("role", "variant", "variants")
    >>> forward_link_clause(variant, LinkEnd("Fox", "car", is_named=True), "car variant").front
    'Fox'
    """
    if label.kind == "noun":
        return _possession_clause(label, other, noun)
    if label.kind == "state" and label.one.startswith(f"{noun} "):
        # an "appointment with" somebody
        return placed_clause(f"{label.one.removeprefix(noun).strip()} {other.words}")
    clause = relative_clause(label.phrase(other.words))
    if label.one in word_list("wording", "prepositions"):
        # "the shows on the stage", not "that are on the stage"
        return replace(clause, one=clause.said.rest, many=clause.said.rest)
    is_role_of_named = label.kind == "role" and other.is_named and noun.split()[-1] == label.one.split()[-1]
    return replace(clause, front=other.words) if is_role_of_named else clause


def _possession_clause(label: PredicateLabel, other: LinkEnd, noun: str) -> Clause:
    """A link whose label is a noun: "whose capital is Oslo"."""
    owned = possessive_phrase(label.one, "{}", person=is_person(noun))
    clause = property_clause(label.one, VerbPhrase(BE, other.words), of=owned)
    if other.is_named and label.one == other.noun and noun != other.noun and not is_person(noun):
        placed = _owner_or_place(other.words, noun, other.noun)
        if placed:
            return replace(clause, one=placed, many=placed)
    if other.is_any:
        any_one = with_indefinite_article(label.one)
        return relative_clause(VerbPhrase(HAVE, any_one, lack=label.one))
    if other.is_one_of_several and is_person(other.noun):
        owned = with_indefinite_article(owned)
        clause = replace(clause, subject=other.words, said=VerbPhrase(BE, owned), is_of_many=False)
    elif other.is_one_of_several:
        owned = possessive_phrase(label.many, "{}", person=is_person(noun))
        clause = replace(clause, subject=f"the {owned}", said=VerbPhrase(INCLUDE, other.words), is_of_many=True)
    for lead, link in ((" whose ", "'s "), (" that ", " "), (" who ", " ")):
        # a single condition is said shorter: not "whose club is a club whose budget is 5"
        before, found, rest = other.words.partition(lead)
        if found and before == with_indefinite_article(other.noun) and " and " not in rest and lead not in rest:
            # and not "whose coupon's coupon amount is 5"
            own = rest.removeprefix(f"{label.one} ") if lead == " whose " else rest
            words = f"whose {label.one}{link}{own}"
            return replace(clause, one=words, many=words)
    return clause


def _owner_or_place(other: str, noun: str, other_noun: str) -> str:
    """The other end as an owner or a place, for a link named like its class: "of Ann", "in Rome"; "" for others."""
    if is_person(other_noun) or noun.startswith(f"{other_noun} "):
        return f"of {other}"
    if not is_noun_of_kind("places", other_noun):
        return ""
    return f"{'at' if other_noun.split()[-1] in word_list('wording', 'places_at') else 'in'} {other}"


def backward_link_clause(label: PredicateLabel, other: str, noun: str) -> Clause:
    """A link from `other` to the thing, a `noun`.

    >>> backward_link_clause(PredicateLabel("verb", "borders", "border"), "Spain", "country").many
    'that Spain borders'
    >>> backward_link_clause(PredicateLabel("noun", "capital", "capitals"), "Spain", "city").one
    'that is the capital of Spain'
    """
    active = active_verb(label.one) if label.kind == "state" else None
    if active is not None:
        # "the potter that made the jar", not "that the jar was made by"
        return relative_clause(VerbPhrase(active, other))
    if label.kind != "noun":
        return object_clause(other, label.phrase())
    if noun == label.one:
        words = f"of {other}"
        return Clause(words, words, VerbPhrase(BE, "{}"), f"the {noun} {words}", is_of_many=is_plural(noun))
    one, several = possessive_phrase(label.one, other), possessive_phrase(label.many, other)
    if other.startswith(("a ", "an ")) and not is_person(label.one):
        # "towns that are the home of a club", of one each, and "people who are captains of a ship"
        several = f"the {one}"
    return relative_clause(VerbPhrase(BE, f"the {one}", several))
