"""The declaration of the Python client, which `nacre` finds by the names of its classes."""

from nacre.extension import Extension

EXTENSION = Extension("client")
