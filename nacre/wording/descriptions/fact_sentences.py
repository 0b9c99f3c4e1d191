"""Join facts into sentences: PropertyFacts of a thing -> sentences of several clauses, with their facts."""

from collections.abc import Sequence

from nacre.language.forms.nouns import join_names
from nacre.language.forms.pronouns import Pronoun
from nacre.wording.answers.sentence import capitalise_first
from nacre.wording.descriptions.facts import SentenceFacts
from nacre.wording.descriptions.property_facts import MAX_NAMES, PropertyFacts

# facts in one sentence
MAX_FACTS = 5


def fact_sentences(properties: Sequence[PropertyFacts], most: int, owner: str = "") -> list[SentenceFacts]:
    """At most so many sentences of several facts each; the first names the `owner`, if any."""
    long = [each for each in properties if each.number > MAX_NAMES]
    short = [each for each in properties if each.number <= MAX_NAMES]
    parts = [short[i : i + MAX_FACTS] for i in range(0, len(short), MAX_FACTS)]
    parts = [*parts[:1], *([each] for each in long), *parts[1:]][:most]
    sentences: list[SentenceFacts] = []
    for part in parts:
        clauses = _merged_clauses(part, owner if part is parts[0] else "")
        text = capitalise_first(f"{_join_clauses(clauses)}.")
        sentences.append((text, [fact for each in part for fact in each.shown]))
    return sentences


def open_boolean_sentence(properties: Sequence[PropertyFacts]) -> list[SentenceFacts]:
    """Values of yes or no under nouns as a list: "Lunch: yes; parking: no."; empty without such properties."""
    shown = properties[:MAX_FACTS]
    if not shown:
        return []
    text = "; ".join(f"{each.label.one}: {each.values.text.lower()}" for each in shown)
    return [(f"{capitalise_first(text)}.", [fact for each in shown for fact in each.shown])]


def _merged_clauses(part: Sequence[PropertyFacts], owner: str) -> list[str]:
    """A clause for each property, the first of the `owner`, if any.

    A measure in two units is one clause ("its length is 65 m (212 ft)"), and so are the time and place of one event.
    """
    clauses: list[str] = []
    for before, each in zip((None, *part), part, strict=False):
        is_same_measure = before is not None and before.label.one == each.label.one and before.predicate.unit
        if is_same_measure and each.predicate.unit and each.number == 1:
            clauses[-1] += f" ({each.values.text})"
        elif before is not None and before.values.life_event[0] == each.values.life_event[0] != "":
            # "they were born on 3 May 1950 in Rome"
            clauses[-1] += f" {each.values.life_event[1]}"
        else:
            clauses.append(each.values.clause("" if clauses else owner))
    return _merge_counts(clauses, part[0].subject)


def _merge_counts(clauses: Sequence[str], subject: Pronoun) -> list[str]:
    """The clauses, with counts that follow each other in one clause.

    >>> from nacre.language.forms.pronouns import IT
    >>> _merge_counts(["its type is flat", "it has 1 bathroom", "it has 3 bedrooms"], IT)
    ['its type is flat', 'it has 1 bathroom and 3 bedrooms']
    """
    merged: list[str] = []
    counts: list[str] = []
    for clause in clauses:
        who, has, what = clause.partition(f" {subject.have} ")
        is_count = bool(has) and what[:1].isdigit()
        if is_count and counts and who == subject.it:
            counts.append(what)
            merged[-1] = f"{merged[-1].partition(has)[0]}{has}{join_names(counts)}"
        else:
            counts = [what] if is_count else []
            merged.append(clause)
    return merged


def _join_clauses(clauses: Sequence[str]) -> str:
    """The clauses as one sentence.

    >>> _join_clauses(["its grain is rye", "its seeds are flax, oat and poppy"])
    'its grain is rye, and its seeds are flax, oat and poppy'
    """
    if len(clauses) == 2 and any(", " in each for each in clauses):
        return f"{clauses[0]}, and {clauses[1]}"
    return join_names(clauses)
