"""Servers of tests start in a quarter of the time: what FastAPI makes of a type is made once for all of them, and what
would slow down the first request is computed by it if it needs it."""

import sys
from collections.abc import Hashable
from typing import Any

from nacre.serving.capacity import relax_collection


def lighten() -> None:
    """Once for this process, if it has servers."""
    app = sys.modules.get("nacre.serving.app")
    if app is None:
        return
    from fastapi._compat import v2

    made: dict[Hashable, Any] = {}
    make: Any = v2.TypeAdapter

    def shared(kind: Any, config: Any = None) -> Any:
        said = tuple((type(each), repr(each)) for each in kind.__metadata__)
        key = (kind.__origin__, said, repr(config))
        try:
            if key not in made:
                made[key] = make(kind, config=config)
        except TypeError:
            return make(kind, config=config)
        return made[key]

    async def relax(*_: object) -> None:
        relax_collection()

    vars(v2)["TypeAdapter"] = shared
    vars(app)["_warm_up"] = relax
