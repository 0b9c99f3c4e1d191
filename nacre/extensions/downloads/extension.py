"""The declaration of answers as files."""

from nacre.extension import Extension

EXTENSION = Extension(
    "downloads",
    requires=("nacre.extensions.places",),
    routes="nacre.extensions.downloads.routes:add_downloads",
    services={"write": "nacre.extensions.downloads.formats:write_answer"},
)
