"""The declaration of the meaning of vocabularies."""

from nacre.extension import Extension

EXTENSION = Extension("vocabularies", services={"rules": "nacre.extensions.vocabularies.owl:RULES"})
