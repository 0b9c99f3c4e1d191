"""The declaration of A2A."""

from nacre.extension import Extension

EXTENSION = Extension("a2a", requires=("a2a",), extra="agents", routes="nacre.extensions.a2a.routes:add_a2a")
