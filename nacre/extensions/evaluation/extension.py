"""The declaration of the commands that measure answers."""

from nacre.extension import Extension

_COMMAND = "nacre.extensions.evaluation.command"

EXTENSION = Extension(
    "evaluation",
    commands={"eval": f"{_COMMAND}:evaluate", "compare": f"{_COMMAND}:compare", "calibrate": f"{_COMMAND}:calibrate"},
    services={"measure": "nacre.extensions.evaluation.measures:measure_in_background"},
)
