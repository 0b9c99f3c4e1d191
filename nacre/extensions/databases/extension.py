"""The declaration of attached databases."""

from nacre.extension import Extension

EXTENSION = Extension(
    "databases",
    services={
        "open": "nacre.extensions.databases.attached_tables:open_attached",
        "named": "nacre.extensions.databases.attached_tables:named_addresses",
        "attach": "nacre.extensions.databases.command:attach",
        "report": "nacre.extensions.databases.command:report",
        "change_layers": "nacre.extensions.databases.command:change_layers",
    },
)
