"""Names in several languages: a property for each language, so that questions can ask for it."""

from collections import Counter

import numpy as np

from ingestion.meaning.draft import Draft
from ingestion.vocabulary import ALTERNATIVE, LABEL, name_rank
from nacre.language.detect_language import language_names, language_property, multilingual_property

# maximum number of languages of a property, minimum number of things with a name in one
MOST, FEWEST = 12, 2


def is_translation(iri: str) -> bool:
    """Whether a property was derived by this rule: it has the names in one language.

    >>> is_translation("http://www.w3.org/2000/01/rdf-schema#label@de"), is_translation("http://example.org/#de")
    (True, False)
    """
    return name_rank(multilingual_property(iri)) is not None


def name_translations(draft: Draft) -> None:
    """If a property names things in several languages, derive a property for each: "German name"."""
    facts, names = draft.facts, language_names()
    tags = [sort[2].split("-")[0].lower() if sort[0] == "literal" else "" for sort in facts.sorts]
    for number in facts.predicates:
        if name_rank(draft.text(number)) is None:
            continue
        rows = np.flatnonzero((facts.predicate == number) & facts.is_literal[facts.object])
        sorts = facts.sort_of[facts.object[rows]]
        used: Counter[str] = Counter()
        for sort, times in zip(*(each.tolist() for each in np.unique(sorts, return_counts=True)), strict=True):
            used[tags[sort]] += times
        if len(used) < 2:
            continue
        known = [tag for tag, times in used.most_common() if tag in names and times >= FEWEST][:MOST]
        of = np.array([known.index(tag) if tag in known else -1 for tag in tags])
        for place, tag in enumerate(known):
            here = rows[of[sorts] == place]
            iri = language_property(draft.text(number), tag)
            draft.derive(facts.subject[here], iri, facts.object[here])
            draft.add(draft.iri(iri), LABEL, draft.literal(f"{names[tag]} name"))
            for other in (f"name in {names[tag]}", f"{names[tag]} word", f"{names[tag]} translation"):
                draft.add(draft.iri(iri), ALTERNATIVE, draft.literal(other))
