"""What properties without a label are called: the words of their IRIs, as a person says them."""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import NamedTuple

from ingestion.induce.column_names import plain_words
from ingestion.induce.glued import unglued
from ingestion.vocabulary import local_name
from nacre.semantics.nouns import wording


class Spoken(NamedTuple):
    """A name in words, and how it is written, where that differs."""

    label: str
    written: str = ""


def spoken_names(iris: Collection[str]) -> Mapping[str, Spoken]:
    """What predicates are called by their IRIs.

    >>> spoken_names(["http://e/birthYr"])["http://e/birthYr"]
    Spoken(label='birth year', written='birth yr')
    """
    plain = {iri: plain_words(local_name(iri)) for iri in iris}
    words = {word for said in plain.values() for word in said.split()}
    written = {iri: unglued(said, words) for iri, said in plain.items()}
    whole = {iri: in_full(said) for iri, said in written.items()}
    often = Counter(whole.values())
    said = {iri: whole[iri] if often[whole[iri]] == 1 else written[iri] for iri in iris}
    return {iri: Spoken(said[iri], written[iri] if said[iri] != written[iri] else "") for iri in iris}


def in_full(label: str) -> str:
    """A name without the abbreviations that data is written with: "birth yr" -> "birth year"."""
    known = wording("abbreviations")
    return " ".join(known.get(word.lower(), word) for word in label.split())
