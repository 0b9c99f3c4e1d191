"""The declaration of what layers derive, of what words may be taught, and of `nacre layer`."""

from nacre.extension import Extension

_HOME = "nacre.extensions.layer_patterns"

EXTENSION = Extension(
    "layer_patterns",
    commands={"layer": f"{_HOME}.command:layer_app"},
    routes=f"{_HOME}.teaching:add_teaching",
    services={
        "derive_layer": f"{_HOME}.derive:derive_layer",
        "teach_word": f"{_HOME}.command:teach_word",
        "propose_meanings": f"{_HOME}.teaching:word_meanings",
        "teach_meaning": f"{_HOME}.teaching:teach_meaning",
    },
)
