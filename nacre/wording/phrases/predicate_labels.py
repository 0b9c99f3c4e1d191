"""Labels of classes and predicates as people say them: Schema -> nouns and verbs."""

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

import simplemma

from nacre.language.base import language
from nacre.language.booleans import is_boolean_predicate, strip_yes_no_suffix
from nacre.language.format_values import is_amount_label
from nacre.language.forms.nouns import (
    extreme_adjective,
    head_noun,
    interchangeable_words,
    is_participle,
    is_plural,
    plural,
    singular,
    with_indefinite_article,
    wording_entry,
)
from nacre.language.forms.verbs import agent_noun, gerund, is_completed_action, strip_preposition
from nacre.language.quantities.units import magnitude_of_name
from nacre.language.split_labels import label_words
from nacre.language.thesaurus import english_data, is_person
from nacre.language.tokens import lemma, split_name
from nacre.records.plan import Variable
from nacre.records.schema import Predicate, Schema

_BRACKET = re.compile(r"\s*\(([^()]*)\)\s*$")

# what a word has that is no code
_SPOKEN = re.compile("[a-z]{3}")

# numbers of an event ("founded in") between these are years
FIRST_YEAR, LAST_YEAR = 1000, 2100
# whole numbers of anything else that all lie from here on may be years ("season")
FIRST_RECENT = 1800

LabelKind = Literal["noun", "verb", "state", "role", "flag", "past"]


@dataclass(frozen=True)
class PredicateLabel:
    """How a predicate is said. A "noun" goes into "the NOUN of X", a "verb" after the subject ("borders"), a "state"
    after a form of "be" ("located in"), and so do a "role" ("variant", of something) and a "flag" ("open", yes or no);
    `many` is the form for several, of a "past" ("died in") the one that denies ("die in"); `has` where "has" stood
    before it ("has roof"); `full` has what its owner says too ("ship type" of a ship's "type"); `done`: a state that is
    said with "was" ("built by", and what is called "was sold")."""

    kind: LabelKind
    one: str
    many: str
    has: bool = False
    full: str = ""
    was: bool = False

    @property
    def done(self) -> bool:
        return self.was or (self.kind == "state" and is_completed_action(self.one))

    @property
    def be(self) -> tuple[str, str]:
        """The form of "be" before a state, of one thing and of several."""
        return ("was", "were") if self.done else ("is", "are")


def predicate_label(iri: str, schema: Schema) -> PredicateLabel:
    """The label of a predicate, split into words and without the unit that its values have; KeyError where the graph
    has no such predicate."""
    known: PredicateLabel | None = schema.worked_out.get((predicate_label, iri))
    if known is None:
        known = schema.worked_out[predicate_label, iri] = _label_of(iri, schema)
    return known


def _label_of(iri: str, schema: Schema) -> PredicateLabel:
    predicate = schema.predicate_of[iri]
    words = label_words(_without_unit(predicate), schema.labels)
    words = _without_domain(_without_range(words, predicate, schema), predicate, schema)
    words = _without_owner(words, predicate, schema)
    words = _completed(_without_code(words, predicate, schema), predicate)
    if (flagged := strip_yes_no_suffix(words)) != words and is_boolean_predicate(predicate):
        return PredicateLabel("flag", flagged, flagged)
    # alone it denies
    words = "number" if words == "no" else words
    if predicate.datatype != "text" and not _is_amount_of(predicate):
        words = _time_last(words)
    label = _label("/".join(interchangeable_words(words.split())) or words)
    if predicate.datatype == "boolean" and " " in words and _is_verb(words.partition(" ")[0]) and label.kind == "noun":
        # "requires booking" is what a thing does, or does not
        label = PredicateLabel("noun", words, words)
    if label.kind == "noun" and is_participle(words.split()[-1]) and is_boolean_predicate(predicate):
        # "food approved", which a thing is or not
        label = PredicateLabel("flag", words, words)
    if (
        label.kind == "state"
        and " " not in label.one
        and _is_amount_of(predicate)
        and not is_boolean_predicate(predicate)
    ):
        # "won", of games: how many
        label = PredicateLabel("noun", f"number {label.one}", f"numbers {label.one}")
    done = _done(label.one)
    if not done and predicate.datatype in ("date", "datetime"):
        done = _became(label.one)
        if done:
            return PredicateLabel("past", done, " ".join([lemma(done.partition(" ")[0]), *done.split()[1:]]))
    if done and predicate.datatype != "text" and not _is_amount_of(predicate):
        return _label(done)
    if label.kind == "noun" and (predicate.datatype in ("date", "datetime") or _gives_years(predicate)):
        # "sale ends" is when it does
        label = replace(label, one=singular(label.one))
    # "members" links to one member at a time; numbers of "passengers" stay what they are
    label = replace(label, full=words if label.kind == "noun" and words.endswith(f" {label.one}") else label.one)
    return replace(label, one=singular(label.one)) if predicate.has_links and label.kind == "noun" else label


def _done(label: str) -> str:
    """What was done, where a label says nothing but when it was, "" elsewhere.

    >>> _done("built year"), _done("date joined"), _done("date paid"), _done("date due"), _done("sale date")
    ('built', 'joined', 'paid', '', '')
    """
    first, _, last = label.partition(" ")
    when = language().words["time"]
    for done, time in ((first, last), (last, first)):
        if time in when and (is_participle(done) or done in wording_entry("intransitive")):
            return done
    return ""


def _became(label: str) -> str:
    """What somebody did to something, where a label says when: "joined staff" of "date joined staff", "" elsewhere.

    >>> _became("date became customer"), _became("date left staff"), _became("date of birth")
    ('became a customer', 'left staff', '')
    """
    first, _, rest = label.partition(" ")
    verb, _, what = rest.partition(" ")
    if (
        first not in language().words["time"]
        or verb not in _pasts()
        or not what
        or what in wording_entry("prepositions")
    ):
        return ""
    one = is_person(what) and what.split()[-1] not in wording_entry("collective")
    return f"{verb} {with_indefinite_article(what) if one else what}"


@cache
def _pasts() -> frozenset[str]:
    """Verbs in the past tense that are no participles by their form alone."""
    return frozenset((*wording_entry("intransitive"), *wording_entry("pasts").values()))


def _time_last(label: str) -> str:
    """The label of a time, which people say last.

    >>> _time_last("date incident start"), _time_last("year join"), _time_last("date of birth"), _time_last("date left")
    ('incident start date', 'join year', 'date of birth', 'date left')
    """
    first, *rest = label.split()
    if not rest or first not in language().words["time"]:
        return label
    done = _pasts() | wording_entry("pasts").keys() | wording_entry("prepositions")
    said = any(word in done or is_participle(word) for word in rest)
    return label if said else " ".join([*rest, first])


def flag_phrases(label: PredicateLabel, yes: bool) -> tuple[str, str]:
    """What a property of yes or no says of one thing, and of several.

    >>> flag_phrases(PredicateLabel("noun", "roof", "roofs", True), True)
    ('has a roof', 'have a roof')
    >>> flag_phrases(PredicateLabel("noun", "includes lunch", "includes lunch"), False)
    ('does not include lunch', 'do not include lunch')
    >>> flag_phrases(PredicateLabel("flag", "open", "open"), False)
    ('is not open', 'are not open')
    >>> flag_phrases(PredicateLabel("flag", "sold", "sold", was=True), True)
    ('was sold', 'were sold')
    """
    first, _, rest = label.one.partition(" ")
    if label.has:
        mass = label.one.split()[-1] in wording_entry("mass") or is_plural(label.one)
        base, first, rest = "have", "has", label.one if mass else with_indefinite_article(label.one)
    elif label.kind == "noun" and rest and first.endswith("s") and _is_verb(first):
        base = _base(first)
    else:
        no = "" if yes else "not "
        # "is licensed", whenever that was done
        one, many = ("was", "were") if label.was else ("is", "are")
        return f"{one} {no}{label.one}", f"{many} {no}{label.one}"
    return (f"{first} {rest}", f"{base} {rest}") if yes else (f"does not {base} {rest}", f"do not {base} {rest}")


def _label(text: str) -> PredicateLabel:
    """The kind of a label by its form.

    >>> _label("borders").many, _label("is part of").one, _label("variant of").kind, _label("has price").one
    ('border', 'part of', 'role', 'price')
    >>> _label("born").kind, _label("first flown").kind, _label("amount paid").kind, _label("serves cuisine").one
    ('state', 'state', 'noun', 'cuisine')
    """
    words, prepositions = text.split(), wording_entry("prepositions")
    first, last = words[0], words[-1]
    if first in ("has", "have") and len(words) > 1 and last not in prepositions:
        text = " ".join(words[1:])
        if words[1] == "been":
            return PredicateLabel("flag", " ".join(words[2:]), " ".join(words[2:]))
        return PredicateLabel("noun", text, plural(text), True)
    if first in ("is", "was", "are", "were") and len(words) > 1:
        rest = " ".join(words[1:])
        if _is_role(words[1:]):
            return PredicateLabel("role", " ".join(words[1:-1]), plural(" ".join(words[1:-1])))
        return PredicateLabel("state" if last in prepositions else "flag", rest, rest, was=first in ("was", "were"))
    if len(words) > 1 and last in prepositions:
        before = " ".join(words[:-1])
        if _is_role(words):
            return PredicateLabel("role", before, plural(before))
        if _is_verb(first) or (first.endswith("s") and _base(first) == lemma(first) and last != "of"):
            return PredicateLabel("verb", text, " ".join([_base(first), *words[1:]]))
        if first in wording_entry("intransitive") and last != "by":
            return PredicateLabel("past", text, " ".join([lemma(first), *words[1:]]))
        if " ".join(words[1:]) in wording_entry("particles") and not is_participle(first) and lemma(first) == first:
            # when somebody checks in
            return PredicateLabel("noun", f"{first}-{last}", f"{first}-{last}s")
        return PredicateLabel("state", text, text)
    if first in wording_entry("intransitive") and len(words) == 1:
        return PredicateLabel("past", text, lemma(first))
    if first in prepositions or (is_participle(last) and wording_entry("adverbs").issuperset(words[:-1])):
        return PredicateLabel("state", text, text)
    if len(words) == 1 and _is_verb(first):
        return PredicateLabel("verb", text, _base(first))
    if _is_verb(first) and not is_participle(last):
        # "speaks language": what is spoken
        rest = " ".join(words[1:])
        return PredicateLabel("noun", rest, plural(rest))
    return PredicateLabel("noun", text, plural(text))


def _without_range(text: str, predicate: Predicate, schema: Schema) -> str:
    """A label of a link without the kind of thing at its end: "on" of "on island", "part of" of "part of museum",
    "speaks" of "speaks language", "driver" of "driver employee"."""
    if not predicate.has_links:
        return text
    for iri in predicate.ranges:
        kind = schema.class_of.get(iri)
        noun = singular(label_words(kind.label, schema.labels)) if kind is not None else ""
        before = text.removesuffix(f" {noun}")
        last = before.split()[-1] if noun and before != text else ""
        if last in wording_entry("prepositions") or (_is_verb(before) and last != "has"):
            return before
        if last and is_person(before) and is_person(noun):
            # the "driver employee" of a van is its driver
            return before
    return text


def _without_domain(text: str, predicate: Predicate, schema: Schema) -> str:
    """A label without the kind of thing that has it at its end: "head" of "head of department"."""
    for iri in predicate.domains:
        kind = schema.class_of.get(iri)
        noun = singular(label_words(kind.label, schema.labels)) if kind is not None else ""
        before = text.removesuffix(f" of {noun}")
        if noun and before != text and iri not in predicate.ranges and not before.startswith(("is ", "has ")):
            return before
    return text


def _without_owner(text: str, predicate: Predicate, schema: Schema) -> str:
    """A label without the kind of thing that has it at its start: "price" of "product price"."""
    kinds = [schema.class_of[iri] for iri in predicate.domains if iri in schema.class_of]
    nouns = [label_words(kind.label, schema.labels) for kind in kinds]
    rest = [label_remainder(text, singular(noun)) or label_remainder(text, noun) for noun in nouns]
    return rest[0] if rest and rest[0] and len(set(rest)) == 1 else text


def _completed(text: str, predicate: Predicate) -> str:
    """A label of one word that names a way to reach somebody, with what its values are: "phone number"."""
    before, space, last = text.rpartition(" ")
    whole = wording_entry("completed").get(last, last) if not predicate.has_links else last
    return f"{before}{space}{whole}"


def _without_code(text: str, predicate: Predicate, schema: Schema) -> str:
    """A label without its "code", where most values are words that people say ("Credit Card"), none has digits, and no
    other label is that."""
    rest, values = text.removesuffix(" code"), predicate.values
    if rest == text or any(any(map(str.isdigit, value)) for value in values):
        return text
    if 2 * sum(bool(_SPOKEN.search(value)) for value in values) <= len(values):
        return text
    alike = {label_words(p.label, schema.labels) for p in schema.predicates}
    return text if rest in alike or predicate.label.removesuffix(" code") in alike else rest


def label_remainder(text: str, noun: str) -> str:
    """What follows the last words of a noun in a label: "code" of "channel code" for "contact channel", "price" of
    "product price" for "product for hire"."""
    ends = (" ".join(words[at:]) for words in (noun.split(), head_noun(noun).split()) for at in range(len(words)))
    for before in ends:
        rest = text.removeprefix(f"{before} ")
        if rest != text and rest not in wording_entry("counting") and _label(rest).kind == "noun":
            return rest
    return ""


def _is_amount_of(predicate: Predicate) -> bool:
    """Whether a predicate counts or measures, and gives no year."""
    numeric = predicate.datatype in ("integer", "real") and None not in (predicate.minimum, predicate.maximum)
    return numeric and not _gives_years(predicate)


def _gives_years(predicate: Predicate) -> bool:
    """Whether all numbers of a predicate may be years."""
    low, high = predicate.minimum, predicate.maximum
    whole = predicate.datatype in ("integer", "real", "year") and low is not None and high is not None
    return whole and FIRST_YEAR <= low <= high <= LAST_YEAR  # type: ignore[operator]


def nominal_label(iri: str, schema: Schema) -> str:
    """A property as a noun: "price", "year built" of "built in", "writer" of "written by", “known for”
    where English has none."""
    label = predicate_label(iri, schema)
    if label.kind == "noun":
        return label.one
    if label.kind in ("state", "past") and is_temporal(iri, schema):
        when = "date" if schema.predicate_of[iri].datatype in ("date", "datetime") else "year"
        done = strip_preposition(label.one)
        verb, _, rest = done.partition(" ")
        # the "date of becoming a customer" of who became one
        return f"{when} of {gerund(lemma(verb))} {rest}" if label.kind == "past" and rest else f"{when} {done}"
    if label.kind == "state" and (who := agent_noun(label.one)):
        return who
    return f"“{label.one}”"


def _is_role(words: list[str]) -> bool:
    """Whether words say what a thing is to another: "variant of", but not "composed of" or "part of"."""
    if words[-1] != "of" or len(words) < 2 or words[-2] in wording_entry("without_article"):
        return False
    return simplemma.is_known(words[-2], lang="en") and (lemma(words[-2]) == words[-2] or words[-2].endswith("er"))


def is_amount(iri: str, schema: Schema) -> bool:
    """Whether numbers of a predicate are amounts, with thousands apart, and not years or codes."""
    predicate = schema.predicate_of.get(iri)
    if predicate is None:
        return True
    label = predicate_label(iri, schema)
    if extreme_adjective(label.one, high=True) != "highest":
        # a length, or a population
        return True
    low, high = predicate.minimum, predicate.maximum
    event = label.kind in ("state", "past") or lemma(label.one) != label.one
    first, last = (FIRST_YEAR, LAST_YEAR) if event else (FIRST_RECENT, LAST_YEAR)
    whole = event or predicate.datatype == "integer"
    if (
        predicate.datatype == "integer"
        and not predicate.unit
        and _is_code(predicate)
        and not is_measure_noun(label.one)
    ):
        return False
    if whole and not predicate.unit and low is not None and high is not None and first <= low <= high <= last:
        return False
    return is_amount_label(label.one, predicate.datatype, predicate.role)


@cache
def _measured() -> frozenset[str]:
    """Nouns for what is measured in units, or in money."""
    return frozenset(noun for group in english_data()["units_after"] for noun in group["measured"].split())


def is_measure_noun(label: str) -> bool:
    """Whether a label ends in what is measured: "monthly salary", "length of the hull"."""
    head = re.split(r" (?:of|in|per) ", label)[0]
    return head.rpartition(" ")[2] in _measured()


def _is_code(predicate: Predicate) -> bool:
    """Whether whole numbers, all of which have the same four digits or more, are numbers that things have, some the
    same."""
    low, high = predicate.minimum, predicate.maximum
    alike = low is not None and high is not None and len(f"{low:.0f}") == len(f"{high:.0f}") and low >= FIRST_YEAR
    return alike and predicate.objects < predicate.subjects


def is_describable(predicate: Predicate, schema: Schema) -> bool:
    """Whether a description says a predicate: a fact that is no number of a record and leads to what is described."""
    if predicate.role != "fact" or (predicate.has_links and set(predicate.ranges) <= {""}):
        return False
    return predicate_label(predicate.iri, schema).one.split()[-1] not in wording_entry("identifiers")


def is_temporal(iri: str, schema: Schema) -> bool:
    """Whether the numbers or texts of a predicate are years or dates."""
    predicate, label = schema.predicate_of[iri], predicate_label(iri, schema)
    if predicate.datatype in ("date", "datetime", "year"):
        return True
    event = label.kind in ("state", "past") and predicate.minimum is not None
    return not is_amount(iri, schema) and (event or bool(wording_entry("calendar") & set(label.one.split())))


def class_noun(variable: Variable, schema: Schema) -> str:
    """What a thing of these classes is, in the singular; "thing" where no class is given."""
    group = next(
        (g for g in schema.groups if g.classes and g.classes == variable.classes and g.without == variable.without),
        None,
    )
    known = [schema.class_of[iri] for iri in variable.classes]
    if group is None and not known:
        return "thing"
    label = min(known, key=lambda c: c.count).label if group is None else group.label
    words = _with_kind(label_words(label, schema.labels), schema)
    return _one_of(_looked_up(words, variable, schema) or words, variable, schema)


def _with_kind(words: str, schema: Schema) -> str:
    """A kind that is called after others, which a noun before a noun names in the singular: "customer policies" of a
    table "customers policies"."""
    *before, last = words.split(" ")
    kinds = {label_words(c.label, schema.labels) for c in schema.classes} if before else set()
    return " ".join((*(singular(word) if word in kinds else word for word in before), last))


def _looked_up(kind: str, variable: Variable, schema: Schema) -> str:
    """What a table of codes is called by those that lead to it: "colour" of "reference colours", and a table that joins
    things of one kind by where it leads: "friend" of "person friend"; "" for others."""
    first, _, rest = kind.partition(" ")
    if not rest:
        return ""
    if first not in wording_entry("lookups"):
        return rest if _joins_alike(first, singular(rest), variable, schema) else ""
    own = (p for p in schema.predicates if p.domains.keys() & set(variable.classes))
    if any(p.label.casefold().endswith(" code") for p in own):
        return rest
    ways = (p for p in schema.predicates if p.has_links and p.ranges.keys() & set(variable.classes))
    named = {singular(label_words(p.label, schema.labels)) for p in ways}
    return rest if any(f" {singular(rest)}".endswith(f" {name}") for name in named) else ""


def _joins_alike(kind: str, role: str, variable: Variable, schema: Schema) -> bool:
    """Whether the things of a variable join two of a kind, one of which has that role."""
    ways = [p for p in schema.predicates if p.has_links and p.domains.keys() & set(variable.classes)]
    named = [p for p in ways if p.label.casefold() == role]
    ends = {c for p in named for c in p.ranges if c in schema.class_of}
    same = any(singular(label_words(schema.class_of[c].label, schema.labels)) == kind for c in ends)
    return same and len(ways) == 2 and ways[0].ranges.keys() == ways[1].ranges.keys()


def _one_of(kind: str, variable: Variable, schema: Schema) -> str:
    """One of the things of a kind: "staff member" where persons are called by what they are together, "piece of
    equipment", "checking record" of what has no plural."""
    last = kind.split()[-1]
    if last in wording_entry("pieces"):
        return f"piece of {kind}"
    if last.endswith("ing") and last not in wording_entry("countable_ing") and last not in wording_entry("mass"):
        return f"{kind} record"
    if last not in wording_entry("collective"):
        return singular(kind)
    if last in wording_entry("unchanged"):
        # a crew or a faculty may be one thing
        return f"{kind} member"
    names = language().words["given"] | language().words["family"]
    own = (p for p in schema.predicates if p.domains.keys() & set(variable.classes))
    return f"{kind} member" if any(names & set(split_name(p.label).split()) for p in own) else singular(kind)


def link_like_nouns(schema: Schema) -> frozenset[str]:
    """What kinds are called, one and several of them, that are named as a link between two is."""
    known: frozenset[str] | None = schema.worked_out.get(link_like_nouns)
    if known is None:
        rare = [n for n in class_nouns(schema) if not is_plain_noun(n)]
        known = schema.worked_out[link_like_nouns] = frozenset([*rare, *map(plural, rare)])
    return known


def class_nouns(schema: Schema) -> frozenset[str]:
    """What the kinds of things of a graph are called, each in the singular."""
    known: frozenset[str] | None = schema.worked_out.get(class_nouns)
    if known is None:
        nouns = frozenset(class_noun(Variable("x", (c.iri,)), schema) for c in schema.classes)
        known = schema.worked_out[class_nouns] = nouns
    return known


def strip_owner(noun: str, own: str, schema: Schema) -> str:
    """The noun of a kind without what it is of, an `own`: the "payments" of a customer are "customer payments"; as it
    is where another kind, or what things have as values, is called so."""
    short = label_remainder(noun, own)
    taken = (predicate_label(p.iri, schema).one for p in schema.predicates if p.has_literals)
    return noun if not short or short in class_nouns(schema) or short in taken else short


def is_plain_noun(noun: str) -> bool:
    """Whether a kind is called by a noun, and not as a link between two is: "trained in", "visits restaurant".

    >>> [is_plain_noun(noun) for noun in ("club member", "trained in", "visits restaurant", "crew manages")]
    [True, False, False, False]
    """
    first, *rest = noun.split()
    if noun.split()[-1] in wording_entry("only_verbs") or (first in wording_entry("prepositions") and not rest[1:]):
        return False
    return not rest or (rest[-1] not in wording_entry("prepositions") and not is_plural(first))


def _is_verb(word: str) -> bool:
    """Whether a word is a verb in the third person that names a link alone; plurals of nouns are not."""
    return word in wording_entry("verbs")


def _base(verb: str) -> str:
    if verb == "has":
        return "have"
    if verb.endswith("ies"):
        return f"{verb[:-3]}y"
    return verb[:-2] if verb.endswith(("sses", "shes", "ches", "xes", "zes", "oes")) else verb[:-1]


def _without_unit(predicate: Predicate) -> str:
    """A label without the unit, in brackets or its last word ("in minutes"), that is said with each value anyway."""
    if not predicate.unit:
        return predicate.label
    said = magnitude_of_name(predicate.label)
    if said is not None and said[1] == predicate.unit:
        return said[0]
    units = {**english_data()["units"], **{c: c for c in english_data()["currencies"]}}
    *words, last = split_name(predicate.label).split() or [""]
    ended = units.get(last.casefold()) or units.get(lemma(last.casefold())) if words and len(last) > 1 else None
    if ended is not None and ended in (predicate.unit, units.get(predicate.unit.casefold())):
        return " ".join(words[:-1] if words[-1:] == ["in"] and len(words) > 1 else words)
    found = _BRACKET.search(predicate.label)
    if found is None:
        return predicate.label
    own, other = predicate.unit.casefold(), found[1].casefold()
    same = own == other or units.get(own, own) == units.get(other, other)
    return predicate.label[: found.start()] if same and found.start() else predicate.label
