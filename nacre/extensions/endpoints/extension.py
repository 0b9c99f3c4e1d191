"""The declaration of SPARQL endpoints."""

from nacre.extension import Extension

EXTENSION = Extension(
    "endpoints",
    routes="nacre.extensions.endpoints.attach:add_form",
    services={
        "open": "nacre.extensions.endpoints.endpoint_names:EndpointNames",
        "attach": "nacre.extensions.endpoints.attach:attach",
        "check_layers": "nacre.extensions.endpoints.attach:check_attached_layers",
        "change_layers": "nacre.extensions.endpoints.attach:change_layers",
    },
)
