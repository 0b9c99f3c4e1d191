"""Less work for tests that prove nothing by it: servers start in a tenth of the time, clients share certificates,
ingests find no example questions and wait for no disk, and processes import once what they need and end with the
module of tests that started them."""

import gc
import os
import sys
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, partial
from importlib import import_module
from typing import Any
from weakref import WeakSet

from nacre.extensions.suggestions import example_questions
from nacre.records.threads import relax_collection
from nacre.stores import killable_pool
from nacre.stores.killable_pool import KillablePool

MAX_ROUTES = 2000
# new objects until garbage is looked for, ten times as many as in a server; it took a twentieth of all tests
YOUNG = 200_000

_pools: WeakSet[KillablePool] = WeakSet()
_finding = [False]


def lighten() -> None:
    """Once for this process."""
    killable_pool._shared_imports["tests.support.preload"] = None
    # it takes 0.1 s an ingest; what a process that is killed has written stays without it
    vars(os)["fsync"] = lambda handle: None
    _note_pools()
    _share_certificates()
    _find_examples_if_asked()
    if app := sys.modules.get("nacre.serving.app"):
        _share_adapters()
        _share_routes()
        vars(app)["_warm_up"] = _relax


def relax() -> None:
    """As in a server, objects that are there are exempt from collection, and later ones are rarely collected."""
    relax_collection()
    gc.set_threshold(YOUNG, *gc.get_threshold()[1:])


def close_pools() -> None:
    """End the processes of all pools; one that gets work again starts others."""
    for pool in list(_pools):
        pool.close()


@contextmanager
def finding_examples(wanted: bool) -> Iterator[None]:
    """Whether ingests find example questions meanwhile."""
    before, _finding[0] = _finding[0], wanted
    try:
        yield
    finally:
        _finding[0] = before


def _note_pools() -> None:
    begin = KillablePool.__init__

    def noted(self: KillablePool, *arguments: Any, **options: Any) -> None:
        begin(self, *arguments, **options)
        _pools.add(self)

    vars_of: Any = KillablePool
    vars_of.__init__ = noted


def _find_examples_if_asked() -> None:
    find, ingest = example_questions.find_example_questions, example_questions._overview
    is_ingest = ContextVar("is_ingest", default=False)

    def found(*arguments: Any, **options: Any) -> list[str]:
        return [] if is_ingest.get() and not _finding[0] else find(*arguments, **options)

    def overview(*arguments: Any) -> Any:
        before = is_ingest.set(True)
        try:
            return ingest(*arguments)
        finally:
            is_ingest.reset(before)

    vars(example_questions).update(find_example_questions=found, _overview=overview)


def _share_certificates() -> None:
    """The certificates of authorities are read once for all clients, which takes 20 ms."""
    for name in ("httpx", "httpx2"):
        transports = import_module(f"{name}._transports.default")
        make = vars(transports)["create_ssl_context"]
        shared = cache(partial(_made, make))

        def create(verify: Any = True, cert: Any = None, trust_env: bool = True, made: Any = shared) -> Any:
            if verify is not True or cert is not None:
                return made.__wrapped__(verify, cert, trust_env)
            return made(verify, cert, trust_env, os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))

        vars(transports)["create_ssl_context"] = create


def _made(make: Any, verify: Any, cert: Any, trust_env: bool, *_: object) -> Any:
    return make(verify=verify, cert=cert, trust_env=trust_env)


def _share_adapters() -> None:
    """What FastAPI makes of a type is made once for all servers."""
    from fastapi._compat import v2

    made: dict[Hashable, Any] = {}
    make: Any = vars(v2)["TypeAdapter"]

    def shared(kind: Any, config: Any = None) -> Any:
        said = tuple((type(each), repr(each)) for each in kind.__metadata__)
        key = (kind.__origin__, said, repr(config))
        try:
            if key not in made:
                made[key] = make(kind, config=config)
        except TypeError:
            return make(kind, config=config)
        return made[key]

    vars(v2)["TypeAdapter"] = shared


def _share_routes() -> None:
    """What FastAPI makes of a route of a router is made once for all servers that include the router in one way."""
    from fastapi import routing

    contexts: Any = vars(routing)["_EffectiveRouteContext"]
    make, made = contexts.from_api_route, dict[Hashable, Any]()

    def shared(*, original_route: Any, include_context: Any) -> Any:
        given = include_context
        if getattr(given.dependency_overrides_provider, "dependency_overrides", None):
            return make(original_route=original_route, include_context=given)
        dependencies = tuple(id(each.dependency) for each in given.dependencies)
        # a context keeps its route, so that no other one gets its number
        key = (id(original_route), given.prefix, str(given.tags), dependencies, given.include_in_schema)
        if key not in made:
            made[key] = make(original_route=original_route, include_context=given)
            if len(made) > MAX_ROUTES:
                # those of routers that are made for one server
                del made[next(iter(made))]
        return made[key]

    contexts.from_api_route = shared


async def _relax(*_: object) -> None:
    relax()
