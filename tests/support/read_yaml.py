"""Tables of cases, read by libyaml in a tenth of the time where PyYAML has it."""

from pathlib import Path
from typing import Any

import yaml

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(path: Path) -> Any:
    """What a file in YAML says."""
    return yaml.load(path.read_text(encoding="utf-8"), Loader=LOADER)
