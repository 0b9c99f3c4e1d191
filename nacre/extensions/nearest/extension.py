"""The declaration of the nearest facts."""

from nacre.extension import Extension

EXTENSION = Extension("nearest", services={"nearest": "nacre.extensions.nearest.search:search_nearest"})
