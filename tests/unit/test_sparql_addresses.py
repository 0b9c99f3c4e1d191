"""Addresses of endpoints: what is refused, and what errors show of it."""

import pytest

from nacre.errors import ConfigError
from nacre.extensions.endpoints.endpoint import check_endpoint_url


@pytest.mark.parametrize("url", ["postgresql+psycopg:/me:s3cret@db.example/shop", "htp://me:s3cret@db.example/sparql"])
def test_a_mistyped_address_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(ConfigError, match=r"db\.example") as refused:
        check_endpoint_url(url)
    assert "s3cret" not in str(refused.value)
    assert "me:" not in str(refused.value)


def test_an_address_without_a_login_is_named() -> None:
    with pytest.raises(ConfigError, match=r"'sparql\.example' is no address"):
        check_endpoint_url("sparql.example")
