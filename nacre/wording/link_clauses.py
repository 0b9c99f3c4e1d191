"""Put links and conditions against another select into clauses: PredicateLabel or Filter + words -> Clause."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from nacre.language.data import pattern, phrase_list, word_list, word_map
from nacre.language.thesaurus import is_noun_of_kind, is_person
from nacre.language.values import is_number_name
from nacre.language.word_forms import (
    BE,
    HAVE,
    INCLUDE,
    VerbPhrase,
    active_verb,
    is_plural,
    join_names,
    plural,
    possessive_phrase,
    singular,
    with_indefinite_article,
)
from nacre.plans.selects import is_from_earlier_turn
from nacre.records.plan import Attribute, Filter, Select, Variable
from nacre.records.schema import Schema
from nacre.wording.clauses import Clause, object_clause, placed_clause, property_clause, relative_clause
from nacre.wording.labels import PredicateLabel, predicate_label


@dataclass(frozen=True)
class LinkEnd:
    """What a thing is linked to: its words and its noun."""

    words: str
    noun: str
    is_named: bool = False  # it is one thing with a name
    is_any: bool = False  # any thing of the class will do
    is_one_of_several: bool = False  # the thing may be linked to others as well


def forward_link_clause(label: PredicateLabel, other: LinkEnd, noun: str) -> Clause:
    """A link from the thing, a `noun`, to another.

    >>> capital = PredicateLabel("noun", "capital", "capitals")
    >>> forward_link_clause(capital, LinkEnd("Oslo", "city", is_named=True), "country").one
    'whose capital is Oslo'
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


def membership_clause(each: Filter, inner: str, noun: str) -> Clause:
    """A condition that the thing, a `noun`, is one of those that a select gives; `inner` are the select's words."""
    assert isinstance(each.right, Select)
    members = inner if inner.startswith("the ") else f"the {inner}"
    is_simple = len(each.right.variables) == 1 and not each.right.filters
    thing = each.right.variables[0] if is_simple else None
    if thing is not None and is_from_earlier_turn(thing) and each.negated:
        words = "other than those before"
        return Clause(words, words, VerbPhrase(BE, "one of those before", denied=True), adjective="other")
    if thing is not None and thing.label and len(thing.keys) == 1:
        return relative_clause(VerbPhrase(BE, inner, denied=each.negated))
    is_class = members != f"the {plural(noun)}" and pattern("wording", "plain_class_phrase").fullmatch(inner)
    if (thing is not None and not thing.keys) or is_class:
        bare = inner.removeprefix("the ")
        return relative_clause(VerbPhrase(BE, with_indefinite_article(singular(bare)), bare, denied=each.negated))
    among = relative_clause(VerbPhrase(BE, f"among {members}", denied=each.negated))
    excluded = _exclusion_words(members, noun) if each.negated else None
    if excluded is not None:
        return replace(among, one=excluded[0], many=excluded[1])
    if each.right.limit == 1 and members.startswith(f"the {noun} "):
        several = members.replace(noun, plural(noun), 1)
        return relative_clause(VerbPhrase(BE, members, f"among {several}", denied=each.negated))
    return among


def negated_clause(words: str, things: str) -> str:
    """The denial of the one thing that is said of things; "" if more is said of them.

    >>> negated_clause("mills whose town is Rome", "mills "), negated_clause("mills whose height is above 3", "mills ")
    ('whose town is not Rome', '')
    """
    if not words.startswith(things):
        return ""
    found = pattern("wording", "single_value_clause").fullmatch(words.removeprefix(things))
    return f"{found[1]} not {found[2]}" if found else ""


def excluded_value_filter(each: Filter) -> Filter | None:
    """The condition that no value of a property meets, if it compares the property with one text; None for others."""
    inner = each.right
    if not isinstance(inner, Select) or not each.negated or inner.edges or len(inner.variables) != 1:
        return None
    own = inner.filters[0] if len(inner.filters) == 1 else None
    if own is None or not isinstance(own.left, Attribute) or own.op not in ("=", "!="):
        return None
    return own if isinstance(own.right, str) else None


def excluded_value_clause(own: Filter, schema: Schema) -> Clause | None:
    """ "Whose languages do not include Dutch", "whose only language is Dutch"; None for labels without a noun."""
    assert isinstance(own.left, Attribute)
    assert isinstance(own.right, str)
    label = predicate_label(own.left.predicate, schema)
    if own.op == "!=" and label.kind in ("noun", "role"):
        return property_clause(f"only {label.one}", VerbPhrase(BE, own.right))
    if own.op == "!=":
        return relative_clause(label.phrase(f"only {own.right}" if label.kind == "verb" else f"{own.right} alone"))
    return None if label.kind != "noun" else property_clause(label.many, VerbPhrase(INCLUDE, own.right, denied=True))


def _exclusion_words(members: str, noun: str) -> tuple[str, str] | None:
    """What excludes members of the same class, of one thing and of several; None for members of other classes."""
    own = f"the {plural(noun)} "
    if not members.startswith(own):
        return None
    rest = members.removeprefix(own)
    if rest.startswith("with "):
        words = f"without {rest.removeprefix('with ')}"
        return words, words
    if negated := negated_clause(members, own):
        pronoun, are_not, others = negated.partition(" are not ")
        is_class = are_not and pronoun in ("that", "who")
        return f"{pronoun} is not {with_indefinite_article(singular(others))}" if is_class else negated, negated
    words = _lacking(rest)
    if not words and rest.startswith(tuple(f"{lead} " for lead in phrase_list("wording", "excluded_clause_starts"))):
        words = f"other than those {rest}"
    return (words, words) if words else None


def _lacking(words: str) -> str:
    """The denial of having, or belonging to, any thing of a class; "" for other clauses.

    >>> _lacking("that have a manager"), _lacking("that a ship carries"), _lacking("that have a manager whose age is 3")
    ('without a manager', 'that no ship carries', '')
    """
    found = pattern("wording", "any_of_class_clause").fullmatch(words)
    if found is None:
        return ""
    return f"without {found['had']}" if found["had"] else f"{found['that']} no {found['by']}"


KIND_SUFFIX = re.compile(r" \([^()]*\)$")  # the class after a name that things of several classes share


def thing_name(variable: Variable, noun: str) -> str:
    """The name of a thing, with its class if the name is a number or if another class has the same name."""
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


def aggregate_name(function: str, own: str, *, is_date: bool = False) -> str:
    """A computed number or date by its function, unless the label says the function already.

    >>> aggregate_name("sum", "price"), aggregate_name("sum", "total spent"), aggregate_name("max", "highest elevation")
    ('total price', 'total spent', 'highest elevation')
    """
    dates = word_map("wording", "date_adjectives") if is_date else {}
    adjective = dates.get(function) or word_map("wording", "aggregate_adjectives")[function]
    first = own.split()[0].casefold() if own.split() else ""
    return own if first in word_map("wording", "computed")[adjective].split() else f"{adjective} {own}"


def superlative_phrase(noun: str, texts: Sequence[str]) -> str:
    """The first thing of a class, if that is the only condition on a thing; "" for others.

    >>> superlative_phrase("city", ["that is the city with the most rivers"])
    'the city with the most rivers'
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
