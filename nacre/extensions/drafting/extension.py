"""The declaration of the drafting of layers."""

from nacre.extension import Extension

EXTENSION = Extension(
    "drafting",
    services={
        "draft": "nacre.extensions.drafting.command:write_draft",
        "schema": "nacre.extensions.drafting.command:layer_json_schema",
    },
)
