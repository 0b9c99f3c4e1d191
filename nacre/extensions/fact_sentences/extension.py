"""The declaration of facts as sentences."""

from nacre.extension import Extension

_PASSAGES = "nacre.extensions.fact_sentences.passages"

EXTENSION = Extension("fact_sentences", services={"fact_passages": f"{_PASSAGES}:verbalise"})
