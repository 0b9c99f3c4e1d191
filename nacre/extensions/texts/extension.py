"""The declaration of answers from texts."""

from nacre.extension import Extension

EXTENSION = Extension(
    "texts",
    services={
        "text_answer": "nacre.extensions.texts.answer:best_text_answer",
        "joiner": "nacre.extensions.texts.join_texts:JOINER",
    },
)
