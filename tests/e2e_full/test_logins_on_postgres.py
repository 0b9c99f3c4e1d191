"""Sessions and the audit in a PostgreSQL server: the same statements as in a file."""

import time
from pathlib import Path

import pytest

from nacre.config.settings import Settings
from nacre.extensions.audit.entries import DAY, AuditTable, EntryFilter, open_audit
from nacre.extensions.login.accounts import MAX_SESSIONS, Accounts
from nacre.extensions.login.rights import Person, read_rights
from nacre.stores.state.database import open_database
from tests.support.databases import missing_server, postgres


def test_sessions_and_the_audit_of_several_servers_are_shared(tmp_path: Path) -> None:
    if reason := missing_server("postgres"):
        pytest.skip(reason)
    with postgres() as (owner, _):
        address = owner.render_as_string(hide_password=False)
        rights = read_rights("{staff: {graphs: [kilns]}}")
        here, there = (Accounts(open_database(address), rights) for _ in range(2))
        person = Person("https://id.example", "7", "Ann", ("staff",))
        tokens = [here.begin_session(person, 60) for _ in range(MAX_SESSIONS + 1)]
        assert there.find_session(tokens[0]) is None
        caller = there.find_session(tokens[-1])
        assert caller is not None
        assert (caller.owner, caller.graphs, caller.name) == (person.owner, ("kilns",), "Ann")
        assert there.find(person.owner) == caller
        there.end_session(tokens[-1])
        assert here.find_session(tokens[-1]) is None
        (found,) = there.named("Ann")
        assert len(found["sessions"]) == MAX_SESSIONS - 1
        there.forget(person.owner)
        assert here.find_session(tokens[-2]) is None
        audit = open_audit(Settings(data=tmp_path, database_url=address, audit_days=3, _env_file=None))
        assert isinstance(audit, AuditTable)
        audit.write([{"time": time.time() - 4 * DAY, "who": "ann"}, {"time": time.time(), "who": "bo", "did": "x\0"}])
        assert [each["who"] for each in audit.read(EntryFilter())] == ["bo"]
        assert audit.delete("bo") == 1
        for each in (here, there, audit):
            each.close()
