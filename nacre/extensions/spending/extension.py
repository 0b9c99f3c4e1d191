"""The declaration of spending."""

from nacre.extension import Extension

EXTENSION = Extension(
    "spending",
    commands={"spending": "nacre.extensions.spending.command:spending"},
    services={
        "limits": "nacre.extensions.spending.limits:open_limits",
        "stored": "nacre.extensions.spending.command:stored_days",
        "forget": "nacre.extensions.spending.command:forget_days",
    },
)
