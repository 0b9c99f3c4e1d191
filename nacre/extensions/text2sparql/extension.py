"""The declaration of questions as SPARQL."""

from nacre.extension import Extension

_ROUTES = "nacre.extensions.text2sparql.routes"

EXTENSION = Extension(
    "text2sparql",
    routes=f"{_ROUTES}:add_text2sparql",
    services={"write": f"{_ROUTES}:text2sparql", "values": f"{_ROUTES}:select_values"},
)
