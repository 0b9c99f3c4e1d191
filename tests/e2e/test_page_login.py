"""Logging in and out on the page, in a real browser; headers of a proxy over a real connection."""

import json

import httpx
import pytest
from playwright.sync_api import expect

from tests.e2e import test_page
from tests.e2e.conftest import serving
from tests.e2e.test_page import LAST, QUESTION, ask, begin, serious
from tests.support.issuer import CLIENT, local_issuer

# fixtures and marks of the other tests of the page
browser, context, page, pytestmark = test_page.browser, test_page.context, test_page.page, test_page.pytestmark

GROUPS = "{staff: {graphs: [reading-room]}}"


@pytest.fixture
def issuer():
    with local_issuer() as running:
        yield running


def test_a_person_is_led_to_the_login_comes_back_asks_and_logs_out(page, data, tmp_path, issuer):
    settings = {"NACRE_LOGIN_ISSUER": issuer.address, "NACRE_LOGIN_CLIENT": CLIENT, "NACRE_LOGIN_GROUPS": GROUPS}
    issuer.person = {"name": "Ann <b>Reed</b>", "groups": ["staff"]}
    with serving(data, tmp_path, **settings) as (address, _):
        begin(page, address, "reading-room")
        expect(page.locator("#who")).to_have_text("Ann <b>Reed</b>")
        assert page.url == f"{address}/?graph=reading-room"
        ask(page, QUESTION)
        expect(page.locator(LAST)).to_contain_text("540")
        assert serious(page) == []
        page.click("#key")
        expect(page.locator("h1")).to_have_text("Logged out")
        assert page.url == f"{address}/logout"
        assert httpx.get(f"{address}/api/graphs").status_code == 401
        page.click("text=Log in")
        expect(page.locator("#who")).to_have_text("Ann <b>Reed</b>")
    # the browser reports the refusal that led to the login
    page.complaints[:] = [each for each in page.complaints if "401" not in each]


def test_a_person_without_a_graph_logs_out(page, data, tmp_path, issuer):
    groups = "{staff: {graphs: [not-yet]}}"
    settings = {"NACRE_LOGIN_ISSUER": issuer.address, "NACRE_LOGIN_CLIENT": CLIENT, "NACRE_LOGIN_GROUPS": groups}
    issuer.person = {"name": "Ann Reed", "groups": ["staff"]}
    with serving(data, tmp_path, **settings) as (address, _):
        page.goto(address)
        expect(page.locator("#who")).to_have_text("Ann Reed")
        page.click("#key")
        expect(page.locator("h1")).to_have_text("Logged out")
    page.complaints[:] = [each for each in page.complaints if "401" not in each]


@pytest.mark.parametrize(("proxy", "status"), [("127.0.0.1", 200), ("10.9.8.7", 401)])
def test_only_a_trusted_address_names_persons(data, tmp_path, proxy, status):
    settings = {"NACRE_LOGIN_HEADERS": "true", "NACRE_TRUSTED_PROXIES": proxy, "NACRE_LOGIN_GROUPS": GROUPS}
    headers = {
        "X-Forwarded-For": "10.9.8.7",
        "X-Forwarded-User": "ann",
        "X-Forwarded-Groups": "staff",
        "X-Forwarded-Preferred-Username": "Ann",
    }
    with serving(data, tmp_path, **settings) as (address, _):
        reply = httpx.get(f"{address}/api/choices", headers=headers)
        assert reply.status_code == status
        assert status == 401 or json.loads(reply.text)["person"] == "Ann"
        assert httpx.get(f"{address}/api/choices").status_code == 401
        two = [*headers.items(), ("X-Forwarded-User", "bo")]
        assert httpx.get(f"{address}/api/choices", headers=two).status_code == 401
