"""The declaration of places of things and distances between them."""

from nacre.extension import Extension

EXTENSION = Extension(
    "places",
    branches={"places": "nacre.extensions.places.places:PLACES"},
    routes="nacre.extensions.places.places:add_places",
    services={"of_text": "nacre.extensions.places.places:place_of_text"},
)
