"""The declaration of answers in the language of the question."""

from nacre.extension import Extension

_TURNS = "nacre.extensions.translated_answers.turns"

EXTENSION = Extension(
    "translated_answers",
    services={
        "translate_draft": f"{_TURNS}:translate_draft",
        "translate_sources": f"{_TURNS}:translate_sources",
        "translate_record": f"{_TURNS}:translate_record",
    },
)
