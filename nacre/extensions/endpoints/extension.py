"""The declaration of SPARQL endpoints."""

from nacre.extension import Extension

EXTENSION = Extension(
    "endpoints",
    routes="nacre.extensions.endpoints.page:add_form",
    services={
        "open": "nacre.extensions.endpoints.endpoint_names:EndpointNames",
        "attach": "nacre.extensions.endpoints.command:attach",
        "check_layers": "nacre.extensions.endpoints.attach:check_attached_layers",
        "change_layers": "nacre.extensions.endpoints.command:change_layers",
    },
)
