"""Addresses that callers may have attached: only on named hosts, without secrets, options and files."""

import pytest

from nacre.errors import ConfigError, NacreError
from nacre.stores.addresses import ForbiddenAddress, check_address, named_hosts, parse_address

HOSTS = named_hosts("store.example, other.example:7200, DB.example:5432, [::1]:8890")
SECRET = "hunter2"


@pytest.mark.parametrize(
    "address",
    [
        "https://store.example/sparql",
        "http://STORE.example/repositories/products",
        "http://other.example:7200/repositories/products",
        "postgresql+psycopg://reader@db.example/shop",
        "postgresql://db.example:5432/shop",
        "mysql+pymysql://reader@store.example:3306/shop",
        "http://[::1]:8890/sparql",
        "postgresql+psycopg://reader@db.example/shop?sslmode=verify-full&sslrootcert=system",
    ],
)
def test_an_address_on_a_named_host_is_taken_as_it_is(address: str) -> None:
    assert check_address(f" {address} ", HOSTS) == address


@pytest.mark.parametrize(
    "address",
    [
        # other hosts and ports, and hosts that only look like named ones
        "https://other.example/sparql",
        "http://169.254.169.254/latest/meta-data",
        "http://127.0.0.1/sparql",
        "http://store.example.evil.example/",
        "http://evil.example/store.example",
        "postgresql://db.example:5433/shop",
        # a host without a port is named for the usual port alone
        "http://store.example:7200/repositories/products",
        "https://store.example:80/sparql",
        "http://[::1]:8891/sparql",
        "mysql://reader@db.example/shop",
        # files of the server
        "file:///etc/passwd",
        "sqlite:////etc/passwd",
        "sqlite:///shop.sqlite",
        "duckdb:///shop.duckdb",
        "duckdb+x://store.example/shop",
    ],
)
def test_other_hosts_and_files_are_forbidden(address: str) -> None:
    with pytest.raises(ForbiddenAddress):
        check_address(address, HOSTS)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "store.example/sparql",
        "gopher://store.example/",
        "postgresql+a.b://store.example/shop",
        # two parsers may read these differently
        "http://store.example\\@evil.example/",
        "http://evil.example#@store.example/",
        "http://store.example:80:81/",
        "http://store.example:x/",
        "http://st\u00f6re.example/",
        "http://store.example/a\nb",
        "http://" + "a" * 600,
        # secrets, and options that name other hosts and files
        f"http://ann:{SECRET}@store.example/sparql",
        "http://ann@store.example/sparql",
        f"postgresql://reader:{SECRET}@store.example/shop",
        f"https://store.example/sparql?key={SECRET}",
        "postgresql://store.example/shop?host=evil.example",
        "postgresql://store.example/shop?sslmode=require&host=evil.example",
        "postgresql://store.example/shop?sslmode=require%26host=evil.example",
        "postgresql://store.example/shop?sslmode=disable",
        "postgresql://store.example/shop?sslrootcert=/etc/hostname",
        "https://store.example/sparql?sslmode=require",
        "postgresql://store.example,evil.example/shop",
        "postgresql://store.example/host=evil.example",
        "postgresql:///shop",
        "mysql+pymysql://store.example/shop?read_default_file=/etc/my.cnf",
    ],
)
def test_what_can_be_read_in_two_ways_or_has_secrets_is_refused_without_being_repeated(address: str) -> None:
    with pytest.raises(ConfigError) as refused:
        check_address(address, HOSTS)
    assert SECRET not in str(refused.value)
    assert "evil" not in str(refused.value)


def test_without_named_hosts_nothing_is_attached_and_the_error_says_how_to_allow_it() -> None:
    with pytest.raises(NacreError, match="NACRE_ATTACH_HOSTS"):
        check_address("https://store.example/sparql", named_hosts(""))


def test_the_driver_of_mariadb_may_be_left_out() -> None:
    assert parse_address("mysql://kim@db.example/shop") == ("mysql+pymysql://kim@db.example/shop", "mysql")
    assert parse_address("mariadb://db.example/shop")[0] == "mariadb+pymysql://db.example/shop"


def test_what_a_store_of_graphs_names_may_have_any_port_of_its_host() -> None:
    address = "http://store.example:7200/sparql"
    assert check_address(address, HOSTS, "NACRE_GRAPHS_HOSTS", ports=True) == address
