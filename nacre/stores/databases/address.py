"""Addresses of databases: the text that a person gives -> an address without secrets; passwords by host."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from nacre.config.settings import Settings
from nacre.errors import ConfigError

if TYPE_CHECKING:
    from pydantic import SecretStr
    from sqlalchemy import URL

Dialect = Literal["sqlite", "duckdb", "postgres", "mysql"]

# backends of SQLAlchemy and the dialects that queries are written in
DIALECTS: dict[str, Dialect] = {
    "sqlite": "sqlite",
    "duckdb": "duckdb",
    "postgresql": "postgres",
    "cockroachdb": "postgres",
    "mysql": "mysql",
    "mariadb": "mysql",
}
FILES = ("sqlite", "duckdb")
# options of drivers that hold no secret and change no rights
_OPTIONS = ("sslmode", "sslrootcert", "ssl_ca", "charset", "application_name", "target_session_attrs")
_SECRETS = ("pass", "secret", "token", "key")
_INSTALL = "Run: pip install 'nacre[databases]'"


@dataclass(frozen=True)
class DatabaseLimits:
    """The password by host or host:port (`file:PATH` reads it from a file), connections of each process, and the
    seconds that connecting may take. `apart`: files are read in processes of their own, as kept files always are."""

    passwords: Mapping[str, "SecretStr"] = field(default_factory=dict)
    connections: int = 4
    connect_seconds: float = 10.0
    apart: bool = False


def configured_database_limits(settings: Settings) -> DatabaseLimits:
    """The limits and passwords that the settings name."""
    return DatabaseLimits(settings.database_keys, settings.database_connections)


def is_database_url(text: str) -> bool:
    """Whether an address names a database rather than an endpoint.

    >>> is_database_url("postgresql+psycopg://me@db.example/shop"), is_database_url("https://db.example/sparql")
    (True, False)
    """
    scheme, colon, _ = text.partition("://")
    return bool(colon) and scheme.lower() not in ("http", "https")


def public_address(address: str) -> str:
    """The address as answers and error messages show it: without folders, logins and options.

    >>> public_address("sqlite:////srv/data/shop.sqlite"), public_address("mysql+pymysql://me@db.example:3306/shop?a=b")
    ('sqlite:///shop.sqlite', 'mysql://db.example:3306/shop')
    """
    scheme, _, rest = address.partition("://")
    kind = scheme.split("+")[0]
    rest = rest.split("?")[0]
    if kind in FILES:
        return f"{kind}:///{rest.rsplit('/', 1)[-1]}"
    return f"{kind}://{rest.rsplit('@', 1)[-1]}"


def parse_address(text: str) -> tuple[str, Dialect]:
    """The address with an absolute path and the dialect of its database.

    Raises ConfigError if it has a password, which would be stored and shown, or no dialect that Nacre knows.
    """
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise ConfigError("The address of the database can't be read. Write DIALECT://USER@HOST:PORT/NAME.") from None
    unknown = [key for key in url.query if key.lower() not in _OPTIONS]
    if url.password is not None or ":" in (url.username or "") or any(map(_is_secret, unknown)):
        host = url.host or "HOST"
        raise ConfigError(
            "The address has a password, which would be stored. Leave it out and set "
            f"""NACRE_DATABASE_KEYS='{{"{host}": "PASSWORD"}}' or '{{"{host}": "file:PATH"}}'."""
        )
    if unknown:
        known = ", ".join(_OPTIONS)
        raise ConfigError(f"The address has an option that is not known. Known options: {known}.")
    backend = url.get_backend_name()
    if backend not in DIALECTS:
        known = ", ".join(DIALECTS)
        raise ConfigError(f"Databases of the kind {backend[:40]!r} can't be attached. Known kinds: {known}.")
    if backend in FILES:
        if not url.database or url.database == ":memory:":
            raise ConfigError(f"The address names no file. Write {backend}:///FILE.")
        path = Path(url.database).expanduser()
        if not path.is_file():
            raise ConfigError(f"There is no file {path}. Write {backend}:///FILE, or {backend}:////FILE from the root.")
        url = url.set(database=str(path.resolve()))
    return url.render_as_string(hide_password=True), DIALECTS[backend]


def _is_secret(option: str) -> bool:
    return any(word in option.lower() for word in _SECRETS)


def with_password(address: str, passwords: Mapping[str, "SecretStr"]) -> "URL":
    """The address that connects; raises ConfigError if a file with a password can't be read."""
    from sqlalchemy import make_url

    url = make_url(address)
    host = url.host or ""
    secret = passwords.get(f"{host}:{url.port}") or passwords.get(host)
    if secret is None:
        return url
    value = secret.get_secret_value()
    if value.startswith("file:"):
        path = Path(value.removeprefix("file:"))
        try:
            value = path.read_text(encoding="utf-8").strip()
        except OSError as error:
            raise ConfigError(f"The password file for {host} can't be read ({error.strerror}).") from None
    return url.set(password=value)


def missing_driver(error: ImportError) -> ConfigError:
    """The error for a driver that is not installed."""
    return ConfigError(f"The driver of this database is not installed ({error.name or 'unknown'}). {_INSTALL}")
