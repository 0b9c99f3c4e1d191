"""Addresses that callers want attached: only endpoints and databases on hosts that the operator named.

The host is that which the client of the address connects to. Redirects to other hosts are not followed, so names that
resolve to addresses within the operator's network matter only if the operator named them.
"""

import re
from urllib.parse import SplitResult, urlsplit

from nacre.errors import ConfigError
from nacre.serving.errors import Forbidden
from nacre.stores.databases.address import DIALECTS, FILES

MAX_ADDRESS = 500
# schemes with the ports that they stand for
_PORTS = {"http": 80, "https": 443, "sqlite": None, "duckdb": None, "postgresql": 5432, "cockroachdb": 26257,
          "mysql": 3306, "mariadb": 3306}  # fmt: skip
_SCHEME = re.compile(r"[a-z]+(\+[a-z0-9]{1,20})?")
# a host, and what a login and the name of a database may consist of: neither options nor another host
_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\]")
_LOGIN, _NAME = re.compile(r"[\w.-]{0,100}"), re.compile(r"/[\w.-]{0,100}")


def named_hosts(setting: str) -> tuple[str, ...]:
    """The hosts of NACRE_ATTACH_HOSTS.

    >>> named_hosts("DB.example, store.example:7200,")
    ('db.example', 'store.example:7200')
    """
    return tuple(host.strip().lower() for host in setting.split(",") if host.strip())


def check_address(address: str, hosts: tuple[str, ...]) -> str:
    """The address if it may be attached; raises Forbidden or ConfigError, without the text of the address."""
    if not hosts:
        raise Forbidden(
            "This server attaches no addresses. Its operator can name hosts in NACRE_ATTACH_HOSTS, "
            "or run: nacre attach URL --graph NAME"
        )
    address = address.strip()
    parts = _parts(address)
    kind = parts.scheme.partition("+")[0]
    if kind in FILES or kind == "file":
        raise Forbidden("Files of the server can't be attached from here. Upload the file, or run: nacre attach URL")
    if kind not in ("http", "https", *DIALECTS) or not _SCHEME.fullmatch(parts.scheme):
        raise ConfigError("Give the address of a SPARQL endpoint (https://HOST/sparql) or of a database "
                          "(postgresql+psycopg://USER@HOST/NAME, mysql+pymysql://USER@HOST/NAME).")  # fmt: skip
    login, has_login, place = parts.netloc.rpartition("@")
    if ":" in login or (has_login and kind in ("http", "https")):
        raise ConfigError("The address has a password or a login, which would be stored. Leave it out: the operator "
                          "sets it in NACRE_DATABASE_KEYS or NACRE_ENDPOINT_KEYS.")  # fmt: skip
    if parts.query or parts.fragment:
        raise ConfigError("Leave out what follows ? or # in the address. The command line takes such options.")
    if kind in DIALECTS and not (_LOGIN.fullmatch(login) and _NAME.fullmatch(parts.path)):
        raise ConfigError("Login and database have letters, digits, dots, - and _ only: postgresql://USER@HOST/NAME.")
    _check_host(place.lower(), kind, hosts)
    return address


def _parts(address: str) -> SplitResult:
    try:
        if len(address) > MAX_ADDRESS or not address.isascii() or not address.isprintable() or "\\" in address:
            raise ValueError
        return urlsplit(address)
    except ValueError:
        raise ConfigError("The address can't be read. Give one such as https://HOST/sparql.") from None


def _check_host(place: str, kind: str, hosts: tuple[str, ...]) -> None:
    """Raise Forbidden unless the host, or the host with this port, is named."""
    host, colon, port = place.rpartition(":") if not place.endswith("]") else (place, "", "")
    host, port = (host, port) if colon else (place, str(_PORTS[kind]))
    if not _HOST.fullmatch(host) or not port.isdigit():
        raise ConfigError("The address names no host that can be read. Write HOST or HOST:PORT.")
    if host not in hosts and f"{host}:{int(port)}" not in hosts:
        raise Forbidden("This server does not attach that host. Its operator names hosts in NACRE_ATTACH_HOSTS.")
