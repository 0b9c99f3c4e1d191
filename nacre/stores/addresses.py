"""Addresses of databases and endpoints: what a person gives -> an address without secrets; Settings -> limits and keys.
Callers and publications may only give hosts that the operator named. Redirects to other hosts are not followed."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple
from urllib.parse import SplitResult, urlsplit

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


# the share of the time of a branch that one statement may take, so that the branch can state what was stopped (given)
STATEMENT_SHARE = 0.8


@dataclass(frozen=True)
class DatabaseLimits:
    """The password by host, host:port or user@ before either (`file:PATH` reads it from a file), connections of each
    process, the seconds that connecting and a statement may take. `apart`: files are read in processes of their own, as
    kept files always are."""

    passwords: Mapping[str, "SecretStr"] = field(default_factory=dict)
    connections: int = 4
    connect_seconds: float = 10.0
    apart: bool = False
    statement_seconds: float = 8.0


def configured_database_limits(settings: Settings) -> DatabaseLimits:
    """The limits and passwords that the settings name."""
    seconds = settings.branch_seconds * STATEMENT_SHARE
    return DatabaseLimits(settings.database_keys, settings.database_connections, statement_seconds=seconds)


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
    return f"{kind}:///{rest.rsplit('/', 1)[-1]}" if kind in FILES else f"{kind}://{rest.rsplit('@', 1)[-1]}"


def parse_address(text: str) -> tuple[str, Dialect]:
    """The absolute address, its dialect. Raises ConfigError for a password (stored and shown) or unknown dialect."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise ConfigError("The address of the database can't be read. Write DIALECT://USER@HOST:PORT/NAME.") from None
    unknown = [key for key in url.query if key.lower() not in _OPTIONS]
    if (
        url.password is not None
        or ":" in (url.username or "")
        or any(word in key.lower() for key in unknown for word in _SECRETS)
    ):
        host = f"{url.host or 'HOST'}{f':{url.port}' if url.port else ''}"
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
    if DIALECTS[backend] == "mysql" and "+" not in url.drivername:
        # the driver of the extra; SQLAlchemy takes another one by default
        url = url.set(drivername=f"{backend}+pymysql")
    return url.render_as_string(hide_password=True), DIALECTS[backend]


def with_password(address: str, passwords: Mapping[str, "SecretStr"]) -> "URL":
    """The address that connects; raises ConfigError if a file with a password can't be read."""
    from sqlalchemy import make_url

    url = make_url(address)
    host = url.host or ""
    places = (f"{host}:{url.port}", host)
    named = (*(f"{url.username}@{place}" for place in places), *places)
    secret = next((passwords[name] for name in named if name in passwords), None)
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


class EndpointLimits(NamedTuple):
    """Limits: queries `at_once`, queries started `a_second`, and `things` that a name search may return. `key` is
    "USER:PASSWORD", "Bearer TOKEN" or ""."""

    at_once: int = 4
    a_second: float = 20.0
    key: str = ""
    things: int = 600


def configured_limits(settings: Settings) -> Callable[[str], EndpointLimits]:
    """A function from an address to its limits; a key is only sent to the host it is set for."""

    def limits(url: str) -> EndpointLimits:
        secret = settings.endpoint_keys.get(host_of(url))
        key = secret.get_secret_value() if secret else ""
        return EndpointLimits(settings.endpoint_queries, settings.endpoint_rate, key, settings.endpoint_things)

    return limits


def host_of(url: str) -> str:
    """The host of an address, with its port if given; endpoint keys are set by it.

    >>> host_of("http://127.0.0.1:7878/query")
    '127.0.0.1:7878'
    """
    return urlsplit(url).netloc


MAX_ADDRESS, _ATTACH = 500, "NACRE_ATTACH_HOSTS"

# schemes with the ports that they stand for
_PORTS = {"http": 80, "https": 443, "sqlite": None, "duckdb": None, "postgresql": 5432, "cockroachdb": 26257,
          "mysql": 3306, "mariadb": 3306}  # fmt: skip

_SCHEME = re.compile(r"[a-z]+(\+[a-z0-9]{1,20})?")

# a host, and what a login and the name of a database may consist of: neither options nor another host
_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\]")

_LOGIN, _NAME = re.compile(r"[\w.-]{0,100}"), re.compile(r"/[\w.-]{0,100}")


# options of databases that name no file and no other host, and take no protection away
_OPTION = re.compile(
    r"sslmode=(require|verify-(ca|full))|sslrootcert=system|charset=utf8(mb4)?|target_session_attrs=[a-z-]{1,20}"
    r"|application_name=[\w.-]{1,60}"
)


class ForbiddenAddress(ConfigError):
    """The operator did not allow files, or this host."""


def named_hosts(setting: str) -> tuple[str, ...]:
    """The hosts of NACRE_ATTACH_HOSTS or NACRE_GRAPHS_HOSTS.

    >>> named_hosts("DB.example, store.example:7200,")
    ('db.example', 'store.example:7200')
    """
    return tuple(host.strip().lower() for host in setting.split(",") if host.strip())


def check_address(address: str, hosts: tuple[str, ...], setting: str = _ATTACH, *, ports: bool = False) -> str:
    """The address if `hosts` allow it, a host without a port all `ports` or the usual one of the scheme. Raises
    ForbiddenAddress or ConfigError, without the text of the address."""
    if not hosts:
        raise ForbiddenAddress(
            f"This server attaches no addresses. Its operator can name hosts in {setting}, "
            "or run: nacre attach URL --graph NAME"
        )
    address = address.strip()
    parts = _parts(address)
    kind = parts.scheme.partition("+")[0]
    if kind in FILES or kind == "file":
        raise ForbiddenAddress(
            "Files of the server can't be attached from here. Upload the file, or run: nacre attach URL --keep"
        )
    if kind not in ("http", "https", *DIALECTS) or not _SCHEME.fullmatch(parts.scheme):
        raise ConfigError("Give the address of a SPARQL endpoint (https://HOST/sparql) or of a database "
                          "(postgresql+psycopg://USER@HOST/NAME, mysql+pymysql://USER@HOST/NAME).")  # fmt: skip
    login, has_login, place = parts.netloc.rpartition("@")
    if ":" in login or (has_login and kind in ("http", "https")):
        raise ConfigError("The address has a password or a login, which would be stored. Leave it out: the operator "
                          "sets it in NACRE_DATABASE_KEYS or NACRE_ENDPOINT_KEYS.")  # fmt: skip
    options = parts.query.split("&") if parts.query else []
    if parts.fragment or not all(kind in DIALECTS and _OPTION.fullmatch(option) for option in options):
        raise ConfigError("Leave out what follows ? or # in the address. The command line takes such options.")
    if kind in DIALECTS and not (_LOGIN.fullmatch(login) and _NAME.fullmatch(parts.path)):
        raise ConfigError("Login and database have letters, digits, dots, - and _ only: postgresql://USER@HOST/NAME.")
    if not _is_named(place.lower(), kind, hosts, ports):
        raise ForbiddenAddress(f"This server does not attach that host. Its operator names hosts in {setting}.")
    return address


def _parts(address: str) -> SplitResult:
    try:
        if len(address) > MAX_ADDRESS or not address.isascii() or not address.isprintable() or "\\" in address:
            raise ValueError
        return urlsplit(address)
    except ValueError:
        raise ConfigError("The address can't be read. Give one such as https://HOST/sparql.") from None


def _is_named(place: str, kind: str, hosts: tuple[str, ...], ports: bool) -> bool:
    """Whether the host, or the host with this port, is named; raises ConfigError if there is none."""
    host, colon, port = place.rpartition(":") if not place.endswith("]") else (place, "", "")
    host, port = (host, port) if colon else (place, str(_PORTS[kind]))
    if not _HOST.fullmatch(host) or not port.isdigit():
        raise ConfigError("The address names no host that can be read. Write HOST or HOST:PORT.")
    return (host in hosts and (ports or int(port) == _PORTS[kind])) or f"{host}:{int(port)}" in hosts
