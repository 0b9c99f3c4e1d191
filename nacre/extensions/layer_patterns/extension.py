"""The declaration of what layers derive."""

from nacre.extension import Extension

_DERIVE = "nacre.extensions.layer_patterns.derive"

EXTENSION = Extension("layer_patterns", services={"derive_layer": f"{_DERIVE}:derive_layer"})
