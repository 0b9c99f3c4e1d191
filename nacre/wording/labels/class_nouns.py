"""Name classes: Variable or Class + Schema -> a noun in the singular."""

from nacre.language.base import language, word_list
from nacre.language.forms.nouns import is_plural, plural, singular
from nacre.language.split_labels import label_words
from nacre.language.tokens import split_name
from nacre.records.plan import Variable
from nacre.records.schema import Schema
from nacre.wording.labels.predicate_labels import predicate_label
from nacre.wording.labels.shorten_label import label_remainder


def class_noun(variable: Variable, schema: Schema) -> str:
    """The noun for a thing of these classes, in the singular; "thing" without a class."""
    group = schema.group_of_classes.get((variable.classes, variable.without)) if variable.classes else None
    known = [schema.class_of[iri] for iri in variable.classes if iri in schema.class_of]
    if group is None and not known:
        return variable.noun or "thing"
    label = min(known, key=lambda c: c.count).label if group is None else group.label
    words = _singular_modifiers(label_words(label, schema.labels), schema)
    return _singular_noun(_lookup_noun(words, variable, schema) or words, variable, schema)


def link_like_nouns(schema: Schema) -> frozenset[str]:
    """The nouns of classes that are named like a link between two things, in the singular and plural."""
    return schema.cache.get(link_like_nouns, lambda: _link_like_nouns(schema))


def class_nouns(schema: Schema) -> frozenset[str]:
    """The nouns of all classes of a graph, in the singular."""
    return schema.cache.get(class_nouns, lambda: _class_nouns(schema))


def strip_owner(noun: str, own: str, schema: Schema) -> str:
    """The noun of a class without its owner: the "payments" of a customer are "customer payments".

    The noun stays if another class or property has the short name.
    """
    short = label_remainder(noun, own)
    taken = (predicate_label(p.iri, schema).one for p in schema.predicates if p.has_literals)
    return noun if not short or short in class_nouns(schema) or short in taken else short


def is_plain_noun(noun: str) -> bool:
    """Whether a class is named by a noun, and not like a link between two things: "trained in", "visits restaurant".

    >>> [is_plain_noun(noun) for noun in ("club member", "trained in", "visits restaurant", "crew manages")]
    [True, False, False, False]
    """
    first, *rest = noun.split()
    if noun.split()[-1] in word_list("wording", "only_verbs") or (
        first in word_list("wording", "prepositions") and not rest[1:]
    ):
        return False
    return not rest or (rest[-1] not in word_list("wording", "prepositions") and not is_plural(first))


def _class_nouns(schema: Schema) -> frozenset[str]:
    return frozenset(class_noun(Variable("x", (c.iri,)), schema) for c in schema.classes)


def _link_like_nouns(schema: Schema) -> frozenset[str]:
    nouns = [noun for noun in class_nouns(schema) if not is_plain_noun(noun)]
    return frozenset([*nouns, *map(plural, nouns)])


def _singular_modifiers(words: str, schema: Schema) -> str:
    """A noun with the classes before its last word in the singular: "customer policies" of "customers policies"."""
    *before, last = words.split(" ")
    classes = _class_words(schema) if any(singular(word) != word for word in before) else frozenset[str]()
    return " ".join((*(singular(word) if word in classes else word for word in before), last))


def _class_words(schema: Schema) -> frozenset[str]:
    """The words of the labels of all classes."""
    labels = (c.label for c in schema.classes)
    return schema.cache.get(_class_words, lambda: frozenset(label_words(label, schema.labels) for label in labels))


def _lookup_noun(noun: str, variable: Variable, schema: Schema) -> str:
    """The noun of a table of codes as its links name it: "colour" of "reference colours"; "" for others.

    A table that joins things of one class is named by where it leads: "friend" of "person friend".
    """
    first, _, rest = noun.partition(" ")
    if not rest:
        return ""
    if first not in word_list("wording", "lookups"):
        return rest if _joins_same_class(first, singular(rest), variable, schema) else ""
    if any(p.label.casefold().endswith(" code") for p in schema.predicates_of(variable.classes)):
        return rest
    links = (p for p in schema.predicates if p.has_links and p.ranges.keys() & set(variable.classes))
    names = {singular(label_words(p.label, schema.labels)) for p in links}
    return rest if any(f" {singular(rest)}".endswith(f" {name}") for name in names) else ""


def _joins_same_class(noun: str, role: str, variable: Variable, schema: Schema) -> bool:
    """Whether the things of a variable join two things of one class, one of which has that role."""
    links = [p for p in schema.predicates_of(variable.classes) if p.has_links]
    by_role = [p for p in links if p.label.casefold() == role]
    ends = {c for p in by_role for c in p.ranges if c in schema.class_of}
    is_same = any(singular(label_words(schema.class_of[c].label, schema.labels)) == noun for c in ends)
    return is_same and len(links) == 2 and links[0].ranges.keys() == links[1].ranges.keys()


def _singular_noun(noun: str, variable: Variable, schema: Schema) -> str:
    """One of the things that a noun names.

    "staff member" of a collective noun, "piece of equipment" of a mass noun, "checking record" of a gerund.
    """
    last = noun.split()[-1]
    if last in word_list("wording", "pieces"):
        return f"piece of {noun}"
    if (
        last.endswith("ing")
        and last not in word_list("wording", "countable_ing")
        and last not in word_list("wording", "mass")
    ):
        return f"{noun} record"
    if last not in word_list("wording", "collective"):
        return singular(noun)
    if last in word_list("wording", "unchanged"):
        # a crew or a faculty may be one thing
        return f"{noun} member"
    names = language().words["given"] | language().words["family"]
    own = schema.predicates_of(variable.classes)
    has_names = any(names & set(split_name(p.label).split()) for p in own)
    return f"{noun} member" if has_names else singular(noun)
