"""Shared answers in a PostgreSQL server: the same statements as in a file, over a database of before."""

import time

import pytest

from nacre.extensions.sharing.shared_answers import DamagedShareError, SharedAnswerStore, freeze_answer
from nacre.stores.state.conversations import PART, VERSIONS, Conversations
from nacre.stores.state.database import install_tables, open_database
from tests.integration.test_sharing import BAD, answer
from tests.support.databases import missing_server, postgres


def test_links_on_a_server_are_found_listed_withdrawn_and_expire() -> None:
    if reason := missing_server("postgres"):
        pytest.skip(reason)
    with postgres() as (owner, _):
        database = open_database(owner.render_as_string(hide_password=False))
        try:
            install_tables(database, PART, VERSIONS[:1])
            conversations = Conversations(database)
            conversations.begin("ann", "t", "kilns")
            _check(SharedAnswerStore(conversations), conversations)
        finally:
            database.close()


def _check(store: SharedAnswerStore, conversations: Conversations) -> None:
    copy = freeze_answer(answer(question=f"{BAD}\0"))
    token, link = store.add("ann", "t", 1, copy, "key", 2)
    found = store.open(token)
    assert found is not None
    # PostgreSQL stores no NUL
    assert (found.key, found.answer.question, found.answer.rows) == ("key", f"{BAD}\ufffd", copy.rows)
    assert [each.id for each in store.listed("ann")] == [each.id for each in store.listed()] == [link.id]
    assert store.listed("bo") == []
    assert not store.revoke(link.id, "bo")
    assert store.revoke(link.id, "ann")
    assert store.open(token) is None
    token, _ = store.add("ann", "t", 1, copy, "key", 2)
    conversations.delete("ann", "t")
    conversations.begin("ann", "t", "kilns")
    assert store.open(token) is None
    token, _ = store.add("ann", "t", 1, copy, "key", 2)
    with conversations.database.writing() as run:
        run("UPDATE shared_answer SET record = '['")
    with pytest.raises(DamagedShareError):
        store.open(token)
    assert (conversations.delete_shares("kilns"), conversations.delete_shares("kilns")) == (1, 0)
    token, _ = store.add("ann", "t", 1, copy, "key", 2)
    assert store.open(token) is not None
    conversations.observe_time(time.time() + 3 * 86_400)
    assert store.open(token) is None
    assert conversations.delete_expired_shares() == 1
