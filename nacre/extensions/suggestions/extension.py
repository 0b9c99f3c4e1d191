"""The declaration of suggested questions."""

from nacre.extension import Extension

_QUESTIONS = "nacre.extensions.suggestions.example_questions"

EXTENSION = Extension(
    "suggestions",
    services={
        "overview": f"{_QUESTIONS}:write_overview",
        "examples": f"{_QUESTIONS}:find_example_questions",
        "follow_ups": f"{_QUESTIONS}:find_follow_up_questions",
        "known_questions": f"{_QUESTIONS}:known_questions",
    },
)
