"""The declaration of tables on a server, which are built on attached databases."""

from nacre.extension import Extension

EXTENSION = Extension(
    "server_tables",
    requires=("nacre.extensions.databases",),
    services={
        "open": "nacre.extensions.server_tables.server_tables:open_server_tables",
        "named": "nacre.extensions.server_tables.translate:named_addresses",
        "remove": "nacre.extensions.server_tables.publish_tables:remove_tables",
        "address": "nacre.extensions.server_tables.translate:server_address",
        "publish": "nacre.extensions.server_tables.publish_tables:publish_tables",
    },
)
