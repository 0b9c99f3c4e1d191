"""How the kinds of things of a graph hang together, and what is known of them: Schema -> sentences."""

from collections.abc import Mapping, Sequence

from nacre.language.base import word_list
from nacre.language.forms.nouns import join_names, plural, with_indefinite_article
from nacre.records.plan import Variable
from nacre.records.schema import Schema
from nacre.wording.labels.class_nouns import class_noun
from nacre.wording.labels.predicate_labels import predicate_label
from nacre.wording.overview.kinds import MAX_NOUN, MainKind, Subject, shown_facts
from nacre.wording.phrases.question_clauses import pair_phrase

# Links that a sentence lists, properties of a kind, and kinds whose properties are listed (given).
MAX_LINKS, MAX_PROPERTIES, MAX_DESCRIBED = 3, 6, 2


def links_sentence(kinds: Sequence[MainKind], schema: Schema) -> str:
    """Which kinds are linked, the most frequent links first; "" without links."""
    phrases: dict[tuple[str, str], str] = {}
    for predicate in sorted(shown_facts(schema), key=lambda p: (-p.triples, p.iri)):
        if len(phrases) == MAX_LINKS:
            break
        if not predicate.has_links:
            continue
        ends = tuple(class_of_end(end, schema) for end in (predicate.domains, predicate.ranges))
        nouns = tuple(class_noun(Variable("x", (iri,)), schema) if iri else "" for iri in ends)
        subject, target = (next((k.many for k in kinds if k.noun == noun), "") for noun in nouns)
        if not (subject or target) or not all(nouns) or (nouns[0], nouns[1]) in phrases:
            continue
        label = predicate_label(predicate.iri, schema)
        if label.one.split()[0] in word_list("wording", "prepositions"):
            continue
        phrase = pair_phrase(label, plural(nouns[0]), plural(nouns[1]), backward=False)
        if phrase and len(phrase) <= 3 * MAX_NOUN:
            phrases[nouns[0], nouns[1]] = phrase
    return f"It connects {join_names(list(phrases.values()))}." if phrases else ""


def properties_sentence(found: Sequence[Subject], schema: Schema) -> str:
    """The properties of what a graph is about; "" without any."""
    parts: list[str] = []
    for subject in found:
        names = list(dict.fromkeys(predicate_label(p.iri, schema).one for p in subject.usual))
        names = [name for name in names if len(name) <= MAX_NOUN][:MAX_PROPERTIES]
        if names and len(parts) < MAX_DESCRIBED:
            parts.append(f"of {with_indefinite_article(subject.noun)} the {join_names(names)}")
    return f"It states, for example, {join_names(parts)}." if parts else ""


def class_of_end(ends: Mapping[str, int], schema: Schema) -> str:
    """The most specific class that has all the subjects or objects of a predicate; "" if none has."""
    most = max(ends.values(), default=0)
    own = schema.smallest_class(iri for iri, count in ends.items() if count == most)
    return own.iri if own is not None else ""
