"""Put conditions against another select into clauses: Filter + the words of the select -> Clause."""

from dataclasses import replace

from nacre.language.base import pattern, phrase_list
from nacre.language.forms.nouns import plural, singular, with_indefinite_article
from nacre.language.forms.verb_phrase import BE, INCLUDE, VerbPhrase
from nacre.plans.merge import is_from_earlier_turn
from nacre.records.plan import Attribute, Filter, Select
from nacre.records.schema import Schema
from nacre.wording.clauses.clause import Clause, property_clause, relative_clause
from nacre.wording.labels.predicate_labels import predicate_label


def membership_clause(each: Filter, inner: str, noun: str) -> Clause:
    """A condition that the thing, a `noun`, is one of those that a select gives; `inner` are the select's words."""
    assert isinstance(each.right, Select)
    members = inner if inner.startswith("the ") else f"the {inner}"
    is_simple = len(each.right.variables) == 1 and not each.right.filters
    thing = each.right.variables[0] if is_simple else None
    if thing is not None and is_from_earlier_turn(thing) and each.negated:
        words = "other than those before"
        return Clause(words, words, VerbPhrase(BE, "one of those before", denied=True))
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
    """That no value of a property is a certain one: "whose languages do not include Dutch".

    That no value is another one: "whose only language is Dutch". None for properties without a noun.
    """
    assert isinstance(own.left, Attribute)
    assert isinstance(own.right, str)
    label = predicate_label(own.left.predicate, schema)
    if own.op == "!=" and label.kind in ("noun", "role"):
        return property_clause(f"only {label.one}", VerbPhrase(BE, own.right))
    if own.op == "!=":
        return relative_clause(label.phrase(f"only {own.right}" if label.kind == "verb" else f"{own.right} alone"))
    if label.kind != "noun":
        return None
    return property_clause(label.many, VerbPhrase(INCLUDE, own.right, denied=True))


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
