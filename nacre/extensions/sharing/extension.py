"""The declaration of shared answers."""

from nacre.extension import Extension

EXTENSION = Extension(
    "sharing",
    routes="nacre.extensions.sharing.routes:add_sharing",
    commands={"shares": "nacre.extensions.sharing.command:shares_app"},
)
