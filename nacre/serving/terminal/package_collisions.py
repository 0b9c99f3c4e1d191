"""Files of a person that stand in for packages of ours: nothing -> ConfigError that names the file."""

import sys
from importlib.util import find_spec
from pathlib import Path

from nacre.errors import ConfigError

# packages of ours that lie at the top, where a script's own modules lie too
TOP_LEVEL_PACKAGES = ("agents", "graph", "ingestion", "tools")


class PackageCollision(ConfigError, ImportError):
    """A module of somebody else has the name of a package of ours, and comes first."""


def check_packages() -> None:
    """Raises Collision where `import tools` (agents, graph, ingestion) would give, or gave, somebody else's module."""
    home = Path(__file__).resolve().parents[3]
    for name in TOP_LEVEL_PACKAGES:
        found = _file(name)
        if found is None or found.resolve() != home / name / "__init__.py":
            raise PackageCollision(
                f"{found or name} is imported instead of Nacre's package {name!r}. Rename it, or start from another "
                "folder: a script's own folder comes first."
            )


def _file(name: str) -> Path | None:
    module = sys.modules.get(name)
    if module is not None:
        origin = getattr(module, "__file__", None)
    else:
        spec = find_spec(name)
        origin = spec.origin if spec else None
    return Path(origin) if origin else None
