"""Names in blank nodes: a thing gets the name of the node as one text. Draft -> Draft."""

from ingestion.induce.names.column_names import readable_name
from ingestion.induce.names.infer_names import family_name_labels, given_name_labels
from ingestion.meaning.draft import Draft
from ingestion.vocabulary import local_name, name_rank
from nacre.language.base import word_list


def unfold_names(draft: Draft) -> None:
    """If a naming property leads to a blank node, derive a name from the node's text, or its given and family name. The
    node stays shown."""
    if not draft.facts.kinds("blank").any():
        return
    iris = sorted(draft.text(n) for n in draft.facts.predicates)
    behind = [
        (iri, owner, node)
        for iri in iris
        if name_rank(iri) is not None
        for owner, node in draft.pairs(iri)
        if draft.sort(node)[0] == "blank"
    ]
    if not behind:
        return
    labels = (word_list("ingestion", "whole_name_labels"), given_name_labels(), family_name_labels())
    whole, given, family = (_texts(draft, iris, words) for words in labels)
    for iri, owner, node in behind:
        both = f"{given[node]} {family[node]}" if node in given and node in family else ""
        if text := whole.get(node) or both:
            draft.add(owner, iri, draft.literal(text))


def _texts(draft: Draft, iris: list[str], words: frozenset[str]) -> dict[int, str]:
    """The alphabetically first literal of each subject with one of these properties."""
    said = [pair for iri in iris if readable_name(local_name(iri)).lower() in words for pair in draft.pairs(iri)]
    literals = [(subject, draft.text(target)) for subject, target in said if draft.sort(target)[0] == "literal"]
    return dict(sorted(literals, reverse=True))
