"""What is said of a thing by its links and conditions: Edge or Filter -> clauses that follow its noun."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from nacre.language.booleans import alternative_values, has_boolean_name, none_value, parse_boolean
from nacre.language.dates import format_date_bound, format_period, format_year_range, format_yearless_date
from nacre.language.format_values import format_value
from nacre.language.forms.nouns import (
    is_count_noun,
    is_plural,
    join_names,
    place_phrase,
    plural,
    possessive_phrase,
    singular,
    with_indefinite_article,
    wording_entry,
)
from nacre.language.forms.pronouns import gender
from nacre.language.forms.verbs import active_forms, strip_preposition
from nacre.language.thesaurus import is_noun_of_kind, is_person
from nacre.plans.merge import is_from_earlier_turn
from nacre.records.plan import Attribute, Constant, Filter, Select
from nacre.records.schema import Schema
from nacre.wording.labels.label import PredicateLabel, flag_phrases
from nacre.wording.labels.predicate_labels import predicate_label
from nacre.wording.labels.value_kinds import is_amount, is_temporal, nominal_label

# one thing that is said, of a value or a kind
_PLAIN = re.compile(
    r"(whose [^,]+? (?:is|are)|(?:that|who) are) (?!not |between |above |below |at |the (?![A-Z])|[a-z]+ed )"
    r"((?!.* (?:whose|that|who|with|and|or) ).+)"
)
# a kind, of which nothing more is said
_KIND = re.compile(r"(?:the )?(?!.*\b(?:whose|that|who|with|without|and|or|called|of|those|these)\b)[a-z -]+s")
# what has any of a kind, or is had by any
_OF_ANY = re.compile(
    r"(?P<that>that|who) (?!.* (?:that|who|whose|with|without|and|or) )(?:have (?P<had>an? .+)|an? (?P<by>.+))"
)
_ABOVE = {"<": "below", "<=": "at most", ">": "above", ">=": "at least"}
_WHEN = {"<": "before", "<=": "no later than", ">": "after", ">=": "no earlier than"}
# what things are compared with, where that is the mean of them all
AVERAGE = "the average"
_HOW_MANY = {"<": "fewer than", "<=": "at most", ">": "more than", ">=": "at least", "=": "exactly", "!=": "other than"}


@dataclass(frozen=True)
class Clause:
    """What holds of a thing: after its noun in the singular and plural, and said of it by name, with {} for the name.

    `front` goes before the noun instead ("BMW X5" of "BMW X5 variants"), and so does an `adjective` ("female"); a
    `kind` is another noun for the thing ("singer").
    """

    one: str
    many: str
    true: str
    false: str
    front: str = ""
    adjective: str = ""
    kind: str = ""


def forward_link_clause(
    label: PredicateLabel, other: str, noun: str, kind: str, *, named: bool, bare: bool, several: bool = False
) -> Clause:
    """A link from the thing, a `noun`, to `other`, which is of a `kind`; `bare` where any of that kind will do,
    `several` where it may be one of several.

    >>> capital = PredicateLabel("noun", "capital", "capitals")
    >>> forward_link_clause(capital, "Oslo", "country", "city", named=True, bare=False).one
    'whose capital is Oslo'
    >>> club = PredicateLabel("noun", "club", "clubs")
    >>> forward_link_clause(club, "a club whose budget is 5", "player", "club", named=False, bare=False).one
    "whose club's budget is 5"
    >>> variant = PredicateLabel("role", "variant", "variants")
    >>> forward_link_clause(variant, "Fox", "car variant", "car", named=True, bare=False).front
    'Fox'
    """
    if label.kind == "verb":
        return _verb(label, other)
    if label.kind == "past":
        said = f"that {label.one} {other}"
        return Clause(said, said, f"{{}} {label.one} {other}", f"{{}} did not {label.many} {other}")
    if label.kind == "state" and label.one.startswith(f"{noun} "):
        # an "appointment with" somebody
        rest = f"{label.one.removeprefix(noun).strip()} {other}"
        return Clause(rest, rest, f"{{}} is {rest}", f"{{}} is not {rest}")
    if label.kind in ("state", "flag"):
        state, placed = _be(label, other), f"{label.one} {other}"
        # "the shows on the stage", not "that are on the stage"
        return replace(state, one=placed, many=placed) if label.one in wording_entry("prepositions") else state
    if label.kind == "role":
        same = noun.split()[-1] == label.one.split()[-1]
        front = other if named and same else ""
        true, false = (
            f"{{}} is {with_indefinite_article(label.one)} of {other}",
            f"{{}} is not {with_indefinite_article(label.one)} of {other}",
        )
        one, many = f"that is {with_indefinite_article(label.one)} of {other}", f"that are {label.many} of {other}"
        return Clause(one, many, true, false, front)
    whose = possessive_phrase(label.one, "{}", person=is_person(noun))
    true, false = f"the {whose} is {other}", f"the {whose} is not {other}"
    if named and label.one == kind and noun != kind and not is_person(noun):
        # "the bookings of Ann", "the museums in Rome", where links are called after what they lead to
        at = "at" if kind.split()[-1] in wording_entry("places_at") else "in"
        owned = is_person(kind) or noun.startswith(f"{kind} ")
        told = f"of {other}" if owned else f"{at} {other}" if is_noun_of_kind("places", kind) else ""
        if told:
            return Clause(told, told, true, false)
    if several and is_person(kind):
        true, false = f"{other} is {with_indefinite_article(whose)}", f"{other} is not {with_indefinite_article(whose)}"
    elif several:
        all_ = possessive_phrase(label.many, "{}", person=is_person(noun))
        true, false = f"the {all_} include {other}", f"the {all_} do not include {other}"
    if bare:
        a = with_indefinite_article(label.one)
        return Clause(f"that has {a}", f"that have {a}", f"{{}} has {a}", f"{{}} has no {label.one}")
    for lead, link in ((" whose ", "'s "), (" that ", " "), (" who ", " ")):
        # "whose club is a club whose budget is 5" is said shorter, where there is only one such condition
        before, found, rest = other.partition(lead)
        if found and before == with_indefinite_article(kind) and " and " not in rest and lead not in rest:
            # and not "whose coupon's coupon amount is 5"
            own = rest.removeprefix(f"{label.one} ") if lead == " whose " else rest
            clause = f"whose {label.one}{link}{own}"
            return Clause(clause, clause, true, false)
    clause = f"whose {label.one} is {other}"
    return Clause(clause, clause, true, false)


def backward_link_clause(label: PredicateLabel, other: str, noun: str, *, many: bool = False) -> Clause:
    """A link from `other` to the thing.

    >>> backward_link_clause(PredicateLabel("verb", "borders", "border"), "Spain", "country").many
    'that Spain borders'
    >>> backward_link_clause(PredicateLabel("noun", "capital", "capitals"), "Spain", "city").one
    'that is the capital of Spain'
    """
    if label.kind == "verb":
        verb = label.many if many else label.one
        said = f"that {other} {verb}"
        do = "do" if many else "does"
        return Clause(said, said, f"{other} {verb} {{}}", f"{other} {do} not {label.many} {{}}")
    if label.kind == "past":
        said = f"that {other} {label.one}"
        return Clause(said, said, f"{other} {label.one} {{}}", f"{other} did not {label.many} {{}}")
    does = active_forms(label.one) if label.kind == "state" else None
    if does is not None:
        # "the potter that made the jar", not "that the jar was made by"
        denied = f"{{}} {does.do[0]} not {does.base} {other}"
        return Clause(f"that {does.one} {other}", f"that {does.many} {other}", f"{{}} {does.one} {other}", denied)
    if label.kind in ("state", "flag"):
        verb, rest = label.be[many], label.one
        said = f"that {other} {verb} {rest}"
        return Clause(said, said, f"{other} {verb} {rest} {{}}", f"{other} {verb} not {rest} {{}}")
    if label.kind == "role":
        said = f"that {other} is {with_indefinite_article(label.one)} of"
        true, false = (
            f"{other} is {with_indefinite_article(label.one)} of {{}}",
            f"{other} is not {with_indefinite_article(label.one)} of {{}}",
        )
        return Clause(said, said, true, false)
    if noun == label.one:
        said = f"of {other}"
        return Clause(said, said, f"the {noun} of {other} is {{}}", f"the {noun} of {other} is not {{}}")
    one, several = possessive_phrase(label.one, other), possessive_phrase(label.many, other)
    if other.startswith(("a ", "an ")) and not is_person(label.one):
        # "towns that are the home of a club", of one each, and "people who are captains of a ship"
        several = f"the {one}"
    return Clause(f"that is the {one}", f"that are {several}", f"{{}} is the {one}", f"{{}} is not the {one}")


# a part of a text that is asked for, and denied
_PARTS = {
    "contains": ("contains", "does not contain"),
    "starts": ("starts with", "does not start with"),
    "ends": ("ends with", "does not end with"),
}


def merge_range_filters(filters: Sequence[Filter], schema: Schema) -> list[Filter]:
    """The conditions as they are said: two that bound a date to whole days, months or years, or a number from both
    sides, are one, whose operator is "in" and whose constant says when, or between what."""
    found: list[Filter] = []
    for each in filters:
        said = _span(found[-1], each, schema) if found else ""
        if said:
            found.append(replace(found.pop(), op="in", right=said))
        else:
            found.append(each)
    return found


def _span(first: Filter, after: Filter, schema: Schema) -> str:
    if not isinstance(first.left, Attribute) or first.left != after.left or first.negated or after.negated:
        return ""
    if not is_temporal(first.left.predicate, schema):
        ends = [each.right for each in (first, after) if isinstance(each.right, int | float)]
        low, high = (_constants(each.right, schema, first.left) for each in (first, after))
        return f"between {low} and {high}" if len(ends) == 2 and (first.op, after.op) == (">=", "<=") else ""
    if (first.op, after.op) == (">=", "<="):
        return format_year_range(first.right, after.right)
    return format_period(str(first.right), str(after.right)) if (first.op, after.op) == (">=", "<") else ""


def _when(each: Filter, value: str) -> str:
    """A condition on a date, without its verb."""
    if each.op == "in" and isinstance(each.right, str):
        return each.right
    return format_date_bound(each.op, str(each.right)) or f"{comparison_words(each.op, True)} {value}".strip()


def filter_clause(each: Filter, schema: Schema, right: str | None) -> Clause:
    """A condition on a property; `right` says the select or property it is compared with, None for constants."""
    assert isinstance(each.left, Attribute)
    label, no = predicate_label(each.left.predicate, schema), "not " if each.negated else ""
    name = nominal_label(each.left.predicate, schema)
    end = {"low": "lowest ", "high": "highest "}.get(each.left.part, "")
    predicate = schema.predicate_of[each.left.predicate]
    none = none_value(predicate)
    if each.op in ("known", "unknown") or (none is not None and each.right == none and each.op in ("=", "!=")):
        known = (each.op in ("known", "!=")) != each.negated
        if label.kind == "noun" and predicate.datatype == "text" and not each.left.part:
            had = (
                name
                if none is not None or is_plural(name) or name in wording_entry("mass")
                else with_indefinite_article(name)
            )
            return _having(had, name, known=known)
        yes = Clause("", "", f"the {name} of {{}} is known", f"the {name} of {{}} is not known")
        with_, without = f"with a known {name}", f"without a known {name}"
        if known:
            return Clause(with_, with_, yes.true, yes.false)
        return Clause(without, without, yes.false, yes.true)
    said = parse_boolean(each.right, predicate) if each.op in ("=", "!=") else None
    if said is not None and (isinstance(each.right, bool) or label.kind != "noun" or has_boolean_name(predicate)):
        true = said != (each.negated != (each.op == "!="))
        (one, many), (denied, _) = flag_phrases(label, true), flag_phrases(label, not true)
        return Clause(f"that {one}", f"that {many}", f"{{}} {one}", f"{{}} {denied}")
    dated = is_temporal(each.left.predicate, schema)
    predicate = schema.predicate_of[each.left.predicate]
    between = each.op == "in" and isinstance(each.right, str) and not dated
    value = right if right is not None else str(each.right) if between else _constants(each.right, schema, each.left)
    of_any = format_yearless_date(str(each.right)) if dated and each.op == "contains" else ""
    when = of_any or (_when(each, value) if dated else "")
    if dated and not each.left.part and label.kind in ("state", "past", "verb"):
        day = predicate.datatype in ("date", "datetime")
        exact = when == value and each.op != "in" and not of_any
        return _event(label, f"{'on' if day else 'in'} {value}" if exact else when, each.negated)
    if right is None and not end and not dated and (counts := _counts(each, name, value, schema)):
        return counts
    if (than := _than(each, name, value)) and right in (None, AVERAGE):
        return than
    plain = isinstance(each.right, str) and each.op == "=" and not each.negated and right is None
    if plain and (sex := gender(label.one, each.right)):
        clause = f"whose {name} is {sex}"
        return Clause(clause, clause, f"{{}} is {sex}", f"{{}} is not {sex}", adjective=sex)
    if each.op in ("=", "!=") and right is None and each.right in alternative_values(predicate):
        return _is(str(each.right).lower(), denied=each.negated != (each.op == "!="))
    if plain and label.kind in ("state", "verb") and not dated:
        return _be(label, value) if label.kind == "state" else _verb(label, value)
    if each.op in _PARTS and not of_any:
        does, not_does = (f"{words} “{each.right}”" for words in _PARTS[each.op])
        text, denied = (not_does, does) if each.negated else (does, not_does)
    else:
        verb = "are" if label.kind == "noun" and is_plural(name) else "is"
        value = place_phrase(name, value) if each.op in ("=", "!=") and right is None else value
        text = " ".join(f"{verb} {no}{when.removeprefix('on ') or f'{comparison_words(each.op)} {value}'}".split())
        denied = _denied(text)
    clause = f"whose {end}{name} {text}"
    return Clause(clause, clause, f"the {end}{name} of {{}} {text}", f"the {end}{name} of {{}} {denied}")


def _is(value: str, *, denied: bool) -> Clause:
    """That a thing is something, or is not: "that are new"."""
    yes, no = f"is {value}", f"is not {value}"
    if denied:
        return Clause(f"that {no}", f"that are not {value}", f"{{}} {no}", f"{{}} {yes}")
    return Clause(f"that {yes}", f"that are {value}", f"{{}} {yes}", f"{{}} {no}")


def _having(had: str, name: str, *, known: bool) -> Clause:
    """That a thing has a property, whatever its value, or has none."""
    yes, no = f"{{}} has {had}", f"{{}} has no {name}"
    said = f"with {had}" if known else f"without {had}"
    return Clause(said, said, *((yes, no) if known else (no, yes)))


def _than(each: Filter, name: str, value: str) -> Clause | None:
    """A condition on a number that has an adjective: "older than 30", "30 or older"; None for others."""
    assert isinstance(each.left, Attribute)
    more_less: tuple[str, str] | None = wording_entry("comparatives").get(name)
    if more_less is None or each.negated or each.left.part or each.op not in _ABOVE:
        return None
    adjective = more_less["<" in each.op]
    said = f"{value} or {adjective}" if "=" in each.op else f"{adjective} than {value}"
    return Clause(f"that is {said}", f"that are {said}", f"{{}} is {said}", f"{{}} is not {said}")


def _counts(each: Filter, name: str, value: str, schema: Schema) -> Clause | None:
    """A condition on how many of something a thing has: "with more than 3 stars"; None for what is no count."""
    assert isinstance(each.left, Attribute)
    predicate, noun = schema.predicate_of[each.left.predicate], name.removeprefix("number of ")
    number = isinstance(each.right, int | float) and not isinstance(each.right, bool)
    between = each.op == "in" and isinstance(each.right, str)
    if not (number or between) or each.negated or predicate.unit or not is_count_noun(noun):
        return None
    noun = singular(noun) if each.right == 1 else noun
    said = f"with {value} {noun}" if between or each.op == "=" else count_condition_phrase(each, noun, value)
    many = said.removeprefix("with ")
    return Clause(said, said, f"{{}} has {many}", f"{{}} does not have {many}")


def _event(label: PredicateLabel, when: str, negated: bool) -> Clause:
    """When something was done, or did: "founded in" and "after 2000" are "that were founded after 2000"."""
    done, base = strip_preposition(label.one), strip_preposition(label.many)
    if label.kind == "state":
        one, many, denied = f"was {done} {when}", f"were {done} {when}", f"was not {done} {when}"
        not_one, not_many = denied, f"were not {done} {when}"
    elif label.kind == "verb":
        one, many, denied = f"{done} {when}", f"{base} {when}", f"does not {base} {when}"
        not_one, not_many = denied, f"do not {base} {when}"
    else:
        one = many = f"{done} {when}"
        denied = not_one = not_many = f"did not {base} {when}"
    if negated:
        return Clause(f"that {not_one}", f"that {not_many}", f"{{}} {denied}", f"{{}} {one}")
    return Clause(f"that {one}", f"that {many}", f"{{}} {one}", f"{{}} {denied}")


def _denied(text: str) -> str:
    verb, _, rest = text.partition(" ")
    return f"{verb} {rest.removeprefix('not ')}" if rest.startswith("not ") else f"{verb} not {rest}"


def negated_clause(those: str, of: str) -> str:
    """What lacks the one thing that is said of things: "whose town is not Rome" for "the mills whose town is Rome";
    "" where more is said of them.

    >>> negated_clause("mills whose town is Rome", "mills "), negated_clause("mills whose height is above 3", "mills ")
    ('whose town is not Rome', '')
    """
    said = _PLAIN.fullmatch(those.removeprefix(of)) if those.startswith(of) else None
    return f"{said[1]} not {said[2]}" if said else ""


def membership_clause(each: Filter, inner: str, noun: str) -> Clause:
    """A condition that the thing, a `noun`, is one of those that a select gives, which `inner` says."""
    assert isinstance(each.right, Select)
    those = inner if inner.startswith("the ") else f"the {inner}"
    no, other = ("not ", "") if each.negated else ("", "not ")
    alone = each.right.variables if len(each.right.variables) == 1 and not each.right.filters else ()
    if alone and is_from_earlier_turn(alone[0]) and each.negated:
        given = "other than those before"
        return Clause(given, given, f"{{}} is {given}", "{} is one of those before")
    if alone and alone[0].label and len(alone[0].keys) == 1:
        true, false = f"{{}} is {no}{inner}", f"{{}} is {other}{inner}"
        return Clause(f"that is {no}{inner}", f"that are {no}{inner}", true, false)
    if (alone and not alone[0].keys) or (those != f"the {plural(noun)}" and _KIND.fullmatch(inner)):
        kind, inner = with_indefinite_article(singular(inner.removeprefix("the "))), inner.removeprefix("the ")
        true, false = f"{{}} is {no}{kind}", f"{{}} is {other}{kind}"
        return Clause(f"that is {no}{kind}", f"that are {no}{inner}", true, false)
    own = f"the {plural(noun)} "
    if each.negated and those.startswith(f"{own}with "):
        lack = f"without {those.removeprefix(f'{own}with ')}"
        return Clause(lack, lack, f"{{}} is {no}among {those}", f"{{}} is {other}among {those}")
    if each.negated and (plain := negated_clause(those, own)):
        that, they, others = plain.partition(" are not ")
        one = (
            f"{that} is not {with_indefinite_article(singular(others))}" if they and that in ("that", "who") else plain
        )
        return Clause(one, plain, f"{{}} is {no}among {those}", f"{{}} is {other}among {those}")
    if each.negated and (lack := _lacking(those.removeprefix(own)) if those.startswith(own) else ""):
        return Clause(lack, lack, f"{{}} is {no}among {those}", f"{{}} is {other}among {those}")
    if each.negated and those.startswith(tuple(f"{own}{lead} " for lead in ("whose", "that", "who", "of", "in", "at"))):
        lack = f"other than those {those.removeprefix(own)}"
        return Clause(lack, lack, f"{{}} is {no}among {those}", f"{{}} is {other}among {those}")
    if each.right.limit == 1 and those.startswith(f"the {noun} "):
        several = those.replace(noun, plural(noun), 1)
        one, true = f"that is {no}{those}", f"{{}} is {no}{those}"
        return Clause(one, f"that are {no}among {several}", true, f"{{}} is {other}{those}")
    true, false = f"{{}} is {no}among {those}", f"{{}} is {other}among {those}"
    return Clause(f"that is {no}among {those}", f"that are {no}among {those}", true, false)


def _lacking(said: str) -> str:
    """What is said of things that others are not, where those have or are had by any of a kind; "" for more.

    >>> _lacking("that have a manager"), _lacking("that a ship carries"), _lacking("that have a manager whose age is 3")
    ('without a manager', 'that no ship carries', '')
    """
    found = _OF_ANY.fullmatch(said)
    if found is None:
        return ""
    return f"without {found['had']}" if found["had"] else f"{found['that']} no {found['by']}"


def excluded_value_filter(each: Filter) -> Filter | None:
    """The condition that no value of a property meets, where that is what a condition asks, which is that it equals a
    text, or that it does not; None for any other."""
    inside = each.right
    if not isinstance(inside, Select) or not each.negated or inside.edges or len(inside.variables) != 1:
        return None
    own = inside.filters[0] if len(inside.filters) == 1 else None
    plain = own is not None and isinstance(own.left, Attribute) and own.op in ("=", "!=") and isinstance(own.right, str)
    return own if plain else None


def excluded_value_clause(own: Filter, schema: Schema) -> Clause | None:
    """What is said of things none of whose values is a certain one: "whose languages do not include Dutch"; or another
    one: "whose only language is Dutch"."""
    assert isinstance(own.left, Attribute)
    label = predicate_label(own.left.predicate, schema)
    if own.op == "!=" and label.kind in ("noun", "role"):
        clause = f"whose only {label.one} is {own.right}"
        of = f"the only {label.one} of {{}}"
        return Clause(clause, clause, f"{of} is {own.right}", f"{of} is not {own.right}")
    if own.op == "!=":
        return _verb(label, f"only {own.right}") if label.kind == "verb" else _be(label, f"{own.right} alone")
    if label.kind != "noun":
        return None
    do, include = f"do not include {own.right}", f"include {own.right}"
    clause = f"whose {label.many} {do}"
    return Clause(clause, clause, f"the {label.many} of {{}} {do}", f"the {label.many} of {{}} {include}")


def count_condition_phrase(each: Filter, noun: str, value: str) -> str:
    """A condition on a count, after the noun of what is grouped: "with at least 3 concerts".

    >>> from nacre.records.plan import Aggregate, Itself
    >>> count_condition_phrase(Filter(Aggregate("count", Itself("y")), ">=", 3), "concerts", "3")
    'with at least 3 concerts'
    """
    no = "not " if each.negated else ""
    return f"with {no}{_HOW_MANY.get(each.op, each.op)} {value} {noun}"


def comparison_words(op: str, dated: bool = False) -> str:
    """A comparison in words, without its verb.

    >>> comparison_words(">"), comparison_words("="), comparison_words("<", True)
    ('above', '', 'before')
    """
    return "not" if op == "!=" else (_WHEN if dated else _ABOVE).get(op, "")


def _constants(right: object, schema: Schema, left: Attribute) -> str:
    values: tuple[Constant, ...] = right if isinstance(right, tuple) else (right,)
    predicate = schema.predicate_of.get(left.predicate)
    unit = predicate.unit if predicate else ""
    counted = is_amount(left.predicate, schema)
    said = [format_value(value, unit, counted=counted) for value in values]
    # a letter alone is lost among words
    return join_names([f"“{each}”" if len(each) == 1 and each.isalpha() else each for each in said], "or")


def _verb(label: PredicateLabel, other: str) -> Clause:
    true, false = f"{{}} {label.one} {other}", f"{{}} does not {label.many} {other}"
    return Clause(f"that {label.one} {other}", f"that {label.many} {other}", true, false)


def _be(label: PredicateLabel, other: str) -> Clause:
    (one, many), rest = label.be, f"{label.one} {other}".rstrip()
    return Clause(f"that {one} {rest}", f"that {many} {rest}", f"{{}} {one} {rest}", f"{{}} {one} not {rest}")
