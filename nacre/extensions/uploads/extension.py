"""The declaration of uploads."""

from nacre.extension import Extension

_ROUTES = "nacre.extensions.uploads.routes"

EXTENSION = Extension(
    "uploads",
    routes=f"{_ROUTES}:add_uploads",
    serve=f"{_ROUTES}:end_uploads",
    services={"stored": f"{_ROUTES}:stored_uploads", "forget": f"{_ROUTES}:forget_uploads"},
)
