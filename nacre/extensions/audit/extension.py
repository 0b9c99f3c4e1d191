"""The declaration of the audit."""

from nacre.extension import Extension

EXTENSION = Extension(
    "audit",
    commands={"audit": "nacre.extensions.audit.command:audit", "person": "nacre.extensions.audit.command:person_app"},
    serve="nacre.extensions.audit.entries:follow_deeds",
)
