"""The declaration of the knowledge pyramid."""

from nacre.extension import Extension

EXTENSION = Extension(
    "pyramid",
    branches={"triples": "nacre.extensions.pyramid.branch:TRIPLES"},
    commands={
        "extract": "nacre.extensions.pyramid.command:extract",
        "complete": "nacre.extensions.pyramid.command:complete",
    },
)
