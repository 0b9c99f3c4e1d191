"""Remove the tables of a version from their server, unless somebody reads them."""

from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from nacre.errors import ConfigError
from nacre.stores.databases.address import DatabaseLimits, missing_driver, public_address, with_password
from nacre.stores.databases.server.place import ServerPlace

# tables that are dropped in one transaction, since each takes locks that the server has a limited number of
_AT_ONCE = 100
_SECONDS = 60


def drop_schema(place: ServerPlace, limits: DatabaseLimits) -> None:
    """Remove the schema with all of its tables; nothing happens if it is gone already.

    Raises ConfigError if a process reads it, the server does not answer, or the login may not remove it.
    """
    try:
        engine = create_engine(
            with_password(place.url, limits.passwords),
            poolclass=NullPool,
            connect_args={
                "connect_timeout": int(limits.connect_seconds),
                "options": f"-c statement_timeout={_SECONDS * 1000} -c lock_timeout=5000",
            },
        )
        with engine.connect() as connection:
            if not connection.scalar(text("SELECT pg_try_advisory_lock(:key)"), {"key": place.lock}):
                raise ConfigError(f"The schema {place.schema} is still read.")
            connection.commit()
            _drop(connection, place.schema)
    except SQLAlchemyError as error:
        raise ConfigError(
            f"The schema {place.schema} can't be removed from {public_address(place.url)} ({type(error).__name__})."
        ) from None
    except ImportError as error:
        raise missing_driver(error) from None


def _drop(connection: Connection, schema: str) -> None:
    quoted = quoted_name(schema)
    listed = text(
        "SELECT c.relname, c.relkind FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname = :schema AND c.relkind IN ('r', 'v') ORDER BY c.relkind DESC LIMIT :most"
    )
    while found := connection.execute(listed, {"schema": schema, "most": _AT_ONCE}).all():
        for name, kind in found:
            kind = kind.decode() if isinstance(kind, bytes) else kind
            drop = f"DROP {'VIEW' if kind == 'v' else 'TABLE'} IF EXISTS {quoted}.{quoted_name(name)} CASCADE"
            connection.exec_driver_sql(drop)
        connection.commit()
    connection.exec_driver_sql(f"DROP SCHEMA IF EXISTS {quoted} CASCADE")
    connection.commit()


def quoted_name(name: str) -> str:
    """A name in double quotes, for statements that a driver with `%s` parameters runs without parameters.

    >>> quoted_name('a"b')
    '"a""b"'
    """
    return '"' + name.replace('"', '""') + '"'
