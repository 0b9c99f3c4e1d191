"""The declaration of the page in a frame."""

from nacre.extension import Extension

EXTENSION = Extension(
    "embed",
    requires=("nacre.extensions.downloads", "nacre.extensions.places"),
    routes="nacre.extensions.embed.routes:add_embed",
)
