"""Sessions, the audit and spending in a PostgreSQL server: the same statements as in a file."""

import time
from pathlib import Path

import pytest

from nacre.config.settings import Settings
from nacre.extensions.audit.entries import DAY, AuditTable, EntryFilter, open_audit
from nacre.extensions.login.rights import MAX_SESSIONS, Accounts, Person, read_rights
from nacre.extensions.spending.limits import DayLimits, Spending
from nacre.serving.errors import TooManyRequests
from nacre.serving.keys import Caller
from nacre.stores.state.database import open_database
from tests.support.databases import missing_server, postgres


def test_sessions_the_audit_and_spending_of_several_servers_are_shared(tmp_path: Path) -> None:
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
        databases = [open_database(address) for _ in range(2)]
        limits = [DayLimits(Settings(day_tokens={"*": 100}, _env_file=None), Spending(each)) for each in databases]
        limits[0].add(Caller("ann"), 60, 0.5)
        limits[1].check(Caller("ann"))
        limits[1].add(Caller("ann"), 40, 0.25)
        with pytest.raises(TooManyRequests, match="100 of its 100 tokens"):
            limits[0].check(Caller("ann"))
        assert [(each.owner, each.tokens, each.dollars) for each in Spending(databases[0]).days(0)] == [
            ("ann", 100, 0.75)
        ]
        for database in databases:
            database.close()
