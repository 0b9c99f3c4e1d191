"""The declaration of JSON-LD."""

from nacre.extension import Extension

EXTENSION = Extension("json_ld", services={"contexts": "nacre.extensions.json_ld.contexts:ContextLoader"})
