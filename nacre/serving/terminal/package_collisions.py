"""Modules of the user that shadow Nacre's top-level packages: sys.path -> ConfigError that names the file."""

import sys
from importlib.util import find_spec
from pathlib import Path

from nacre.errors import ConfigError

# top-level packages of Nacre, whose names a script's own modules may have
TOP_LEVEL_PACKAGES = ("agents", "graph", "ingestion", "tools")


class PackageCollision(ConfigError, ImportError):
    """A module of the user shadows a package of Nacre."""


def check_packages() -> None:
    """Raises PackageCollision if `import tools` (agents, graph, ingestion) gives a module of the user."""
    home = Path(__file__).resolve().parents[3]
    for name in TOP_LEVEL_PACKAGES:
        origin = _module_file(name)
        if origin is None or origin.resolve() != home / name / "__init__.py":
            raise PackageCollision(
                f"{origin or name} is imported instead of Nacre's package {name!r}. Rename it, or start from another "
                "folder: a script's own folder comes first."
            )


def _module_file(name: str) -> Path | None:
    module = sys.modules.get(name)
    if module is not None:
        origin = getattr(module, "__file__", None)
    else:
        spec = find_spec(name)
        origin = spec.origin if spec else None
    return Path(origin) if origin else None
