"""Addresses that callers attach or publications name: only endpoints and databases on hosts that the operator named.

The host is that which the client of the address connects to. Redirects to other hosts are not followed, so names that
resolve to addresses within the operator's network matter only if the operator named them.
"""

import re
from urllib.parse import SplitResult, urlsplit

from nacre.errors import ConfigError
from nacre.stores.databases.address import DIALECTS, FILES

MAX_ADDRESS = 500
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


def check_address(address: str, hosts: tuple[str, ...], setting: str = "NACRE_ATTACH_HOSTS") -> str:
    """The address if `hosts` allow it; raises ForbiddenAddress or ConfigError, without the text of the address."""
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
    if not _is_named(place.lower(), kind, hosts):
        raise ForbiddenAddress(f"This server does not attach that host. Its operator names hosts in {setting}.")
    return address


def _parts(address: str) -> SplitResult:
    try:
        if len(address) > MAX_ADDRESS or not address.isascii() or not address.isprintable() or "\\" in address:
            raise ValueError
        return urlsplit(address)
    except ValueError:
        raise ConfigError("The address can't be read. Give one such as https://HOST/sparql.") from None


def _is_named(place: str, kind: str, hosts: tuple[str, ...]) -> bool:
    """Whether the host, or the host with this port, is named; raises ConfigError if there is none."""
    host, colon, port = place.rpartition(":") if not place.endswith("]") else (place, "", "")
    host, port = (host, port) if colon else (place, str(_PORTS[kind]))
    if not _HOST.fullmatch(host) or not port.isdigit():
        raise ConfigError("The address names no host that can be read. Write HOST or HOST:PORT.")
    return host in hosts or f"{host}:{int(port)}" in hosts
