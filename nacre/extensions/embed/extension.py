"""The declaration of the page in a frame."""

from nacre.extension import Extension

EXTENSION = Extension("embed", routes="nacre.extensions.embed.routes:add_embed")
