"""The declaration of distances between places."""

from nacre.extension import Extension

EXTENSION = Extension("places", branches={"places": "nacre.extensions.places.branch:PLACES"})
