"""The declaration of a chat model in this process."""

from nacre.extension import Extension

EXTENSION = Extension(
    "local_model",
    commands={"model": "nacre.extensions.local_model.command:model_app"},
    models={"local": "nacre.extensions.local_model.local_model:LOCAL"},
)
