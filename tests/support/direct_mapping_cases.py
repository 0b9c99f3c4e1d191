"""Small databases in the kind of the cases of W3C's Direct Mapping, and the triples that it gives for them.

A triple is one line: subject, property, object. IRIs are relative to the base; `_:x` is a row without a key; a literal
is a text in quotes, or a value with its datatype.
"""

from dataclasses import dataclass

# what our graphs do in another way on purpose, by the word for it in the documentation
NODES = "rows without a key have IRIs"
KEYS = "the number in a foreign key is not repeated"
BINARY = "binary columns are left out"


@dataclass(frozen=True)
class MappingCase:
    """The number of the published case, what it is about, statements, the triples of W3C's mapping, and which of them
    our graph leaves out. `engines` limits it to those that take the statements."""

    number: str
    about: str
    statements: tuple[str, ...]
    triples: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    differs: str = ""
    engines: tuple[str, ...] = ("sqlite", "duckdb", "postgres", "mariadb")


CASES = (
    MappingCase(
        "D000", "a table without rows",
        ("CREATE TABLE buoy (name VARCHAR(50))", "CREATE TABLE a (x INTEGER PRIMARY KEY)", "INSERT INTO a VALUES (1)"),
        ("a/x=1 a a", "a/x=1 a#x 1^^integer"),
    ),
    MappingCase(
        "D001", "one column, no key",
        ("CREATE TABLE buoy (name VARCHAR(50))", "INSERT INTO buoy VALUES ('North')"),
        ("_:1 a buoy", "_:1 buoy#name 'North'"),
        differs=NODES,
    ),
    MappingCase(
        "D002", "two columns, no key",
        ("CREATE TABLE buoy (no INTEGER, name VARCHAR(50))", "INSERT INTO buoy VALUES (10, 'North')"),
        ("_:1 a buoy", "_:1 buoy#no 10^^integer", "_:1 buoy#name 'North'"),
        differs=NODES,
    ),
    MappingCase(
        "D003", "three columns, no key",
        ("CREATE TABLE buoy (no INTEGER, first_light VARCHAR(50), last_light VARCHAR(50))",
         "INSERT INTO buoy VALUES (10, 'red', 'green')"),
        ("_:1 a buoy", "_:1 buoy#no 10^^integer", "_:1 buoy#first_light 'red'", "_:1 buoy#last_light 'green'"),
        differs=NODES,
    ),
    MappingCase(
        "D004", "two columns of texts, several rows, no key",
        ("CREATE TABLE crew (sailor VARCHAR(50), duty VARCHAR(50))",
         "INSERT INTO crew VALUES ('Ida', 'cook'), ('Ida', 'watch')"),
        ("_:1 a crew", "_:1 crew#sailor 'Ida'", "_:1 crew#duty 'cook'",
         "_:2 a crew", "_:2 crew#sailor 'Ida'", "_:2 crew#duty 'watch'"),
        differs=NODES,
    ),
    MappingCase(
        "D005", "equal rows, no key",
        ("CREATE TABLE toll (payer VARCHAR(50), coins INTEGER)",
         "INSERT INTO toll VALUES ('Ida', 2), ('Ida', 2), ('Jon', 3)"),
        ("_:1 a toll", "_:1 toll#payer 'Ida'", "_:1 toll#coins 2^^integer",
         "_:2 a toll", "_:2 toll#payer 'Ida'", "_:2 toll#coins 2^^integer",
         "_:3 a toll", "_:3 toll#payer 'Jon'", "_:3 toll#coins 3^^integer"),
        differs=NODES,
        engines=("sqlite", "duckdb", "postgres"),
    ),
    MappingCase(
        "D006", "a key of one column, and no other",
        ("CREATE TABLE buoy (name VARCHAR(50) PRIMARY KEY)", "INSERT INTO buoy VALUES ('North')"),
        ("buoy/name=North a buoy", "buoy/name=North buoy#name 'North'"),
    ),
    MappingCase(
        "D007", "a key, and another column",
        ("CREATE TABLE buoy (no INTEGER PRIMARY KEY, name VARCHAR(50))", "INSERT INTO buoy VALUES (10, 'North')"),
        ("buoy/no=10 a buoy", "buoy/no=10 buoy#no 10^^integer", "buoy/no=10 buoy#name 'North'"),
    ),
    MappingCase(
        "D008", "a key of two columns",
        ("CREATE TABLE berth (no INTEGER, name VARCHAR(50), metres INTEGER, PRIMARY KEY (no, name))",
         "INSERT INTO berth VALUES (10, 'North', 8)"),
        ("berth/no=10;name=North a berth", "berth/no=10;name=North berth#no 10^^integer",
         "berth/no=10;name=North berth#name 'North'", "berth/no=10;name=North berth#metres 8^^integer"),
    ),
    MappingCase(
        "D009", "a foreign key, missing in one row",
        ("CREATE TABLE port (no INTEGER PRIMARY KEY, name VARCHAR(50))",
         "CREATE TABLE ship (no INTEGER PRIMARY KEY, name VARCHAR(50), home INTEGER, "
         "FOREIGN KEY (home) REFERENCES port(no))",
         "INSERT INTO port VALUES (1, 'Alder')", "INSERT INTO ship VALUES (7, 'Swift', 1), (8, 'Tern', NULL)"),
        ("port/no=1 a port", "port/no=1 port#no 1^^integer", "port/no=1 port#name 'Alder'",
         "ship/no=7 a ship", "ship/no=7 ship#no 7^^integer", "ship/no=7 ship#name 'Swift'",
         "ship/no=7 ship#home 1^^integer", "ship/no=7 ship#ref-home port/no=1",
         "ship/no=8 a ship", "ship/no=8 ship#no 8^^integer", "ship/no=8 ship#name 'Tern'"),
        left_out=("ship/no=7 ship#home 1^^integer",), differs=KEYS,
    ),
    MappingCase(
        "D010", "names and values with spaces and marks",
        ('CREATE TABLE "Harbour Info" ("Harbour Code" INTEGER PRIMARY KEY, "Name" VARCHAR(80), "ISO 3166" VARCHAR(9))',
         "INSERT INTO \"Harbour Info\" VALUES (1, 'Port, State of #1', 'A/B'), (2, 'Isle''s', NULL)"),
        ("Harbour%20Info/Harbour%20Code=1 a Harbour%20Info",
         "Harbour%20Info/Harbour%20Code=1 Harbour%20Info#Harbour%20Code 1^^integer",
         "Harbour%20Info/Harbour%20Code=1 Harbour%20Info#Name 'Port, State of #1'",
         "Harbour%20Info/Harbour%20Code=1 Harbour%20Info#ISO%203166 'A/B'",
         "Harbour%20Info/Harbour%20Code=2 a Harbour%20Info",
         "Harbour%20Info/Harbour%20Code=2 Harbour%20Info#Harbour%20Code 2^^integer",
         "Harbour%20Info/Harbour%20Code=2 Harbour%20Info#Name 'Isle's'"),
    ),
    MappingCase(
        "D011", "a table of two foreign keys",
        ("CREATE TABLE ship (no INTEGER PRIMARY KEY, name VARCHAR(50))",
         "CREATE TABLE flag (code VARCHAR(9) PRIMARY KEY, name VARCHAR(50))",
         "CREATE TABLE flies (ship INTEGER, flag VARCHAR(9), PRIMARY KEY (ship, flag), "
         "FOREIGN KEY (ship) REFERENCES ship(no), FOREIGN KEY (flag) REFERENCES flag(code))",
         "INSERT INTO ship VALUES (7, 'Swift')", "INSERT INTO flag VALUES ('Q', 'quarantine')",
         "INSERT INTO flies VALUES (7, 'Q')"),
        ("ship/no=7 a ship", "ship/no=7 ship#no 7^^integer", "ship/no=7 ship#name 'Swift'",
         "flag/code=Q a flag", "flag/code=Q flag#code 'Q'", "flag/code=Q flag#name 'quarantine'",
         "flies/ship=7;flag=Q a flies", "flies/ship=7;flag=Q flies#ship 7^^integer",
         "flies/ship=7;flag=Q flies#flag 'Q'", "flies/ship=7;flag=Q flies#ref-ship ship/no=7",
         "flies/ship=7;flag=Q flies#ref-flag flag/code=Q"),
        left_out=("flies/ship=7;flag=Q flies#ship 7^^integer", "flies/ship=7;flag=Q flies#flag 'Q'"), differs=KEYS,
    ),
    MappingCase(
        "D012", "two tables without keys, one with equal rows",
        ("CREATE TABLE toll (payer VARCHAR(50), coins INTEGER)",
         "CREATE TABLE lives (payer VARCHAR(50), town VARCHAR(50))",
         "INSERT INTO toll VALUES ('Ida', 2), ('Ida', 2)", "INSERT INTO lives VALUES ('Ida', 'Eskford')"),
        ("_:1 a toll", "_:1 toll#payer 'Ida'", "_:1 toll#coins 2^^integer",
         "_:2 a toll", "_:2 toll#payer 'Ida'", "_:2 toll#coins 2^^integer",
         "_:3 a lives", "_:3 lives#payer 'Ida'", "_:3 lives#town 'Eskford'"),
        differs=NODES,
        engines=("sqlite", "duckdb", "postgres"),
    ),
    MappingCase(
        "D013", "a missing value",
        ("CREATE TABLE sailor (no INTEGER PRIMARY KEY, name VARCHAR(50), born VARCHAR(50))",
         "INSERT INTO sailor VALUES (1, 'Ida', NULL), (2, 'Jon', 'May')"),
        ("sailor/no=1 a sailor", "sailor/no=1 sailor#no 1^^integer", "sailor/no=1 sailor#name 'Ida'",
         "sailor/no=2 a sailor", "sailor/no=2 sailor#no 2^^integer", "sailor/no=2 sailor#name 'Jon'",
         "sailor/no=2 sailor#born 'May'"),
    ),
    MappingCase(
        "D014", "a foreign key to a unique column of a table that has another key",
        ("CREATE TABLE dock (no INTEGER PRIMARY KEY, code VARCHAR(9) UNIQUE)",
         "CREATE TABLE crane (no INTEGER PRIMARY KEY, dock VARCHAR(9), FOREIGN KEY (dock) REFERENCES dock(code))",
         "INSERT INTO dock VALUES (1, 'D-1')", "INSERT INTO crane VALUES (5, 'D-1')"),
        ("dock/no=1 a dock", "dock/no=1 dock#no 1^^integer", "dock/no=1 dock#code 'D-1'",
         "crane/no=5 a crane", "crane/no=5 crane#no 5^^integer", "crane/no=5 crane#dock 'D-1'",
         "crane/no=5 crane#ref-dock dock/no=1"),
        left_out=("crane/no=5 crane#dock 'D-1'",), differs=KEYS,
    ),
    MappingCase(
        "D015", "a key of two texts, one row for each language",
        ("CREATE TABLE word (code VARCHAR(9), lan VARCHAR(9), label VARCHAR(50), PRIMARY KEY (code, lan))",
         "INSERT INTO word VALUES ('B1', 'EN', 'Bow'), ('B1', 'ES', 'Proa')"),
        ("word/code=B1;lan=EN a word", "word/code=B1;lan=EN word#code 'B1'", "word/code=B1;lan=EN word#lan 'EN'",
         "word/code=B1;lan=EN word#label 'Bow'", "word/code=B1;lan=ES a word", "word/code=B1;lan=ES word#code 'B1'",
         "word/code=B1;lan=ES word#lan 'ES'", "word/code=B1;lan=ES word#label 'Proa'"),
    ),
    MappingCase(
        "D016", "datatypes",
        ("CREATE TABLE log (no INTEGER PRIMARY KEY, ratio DOUBLE PRECISION, fee DECIMAL(8, 2), day DATE, "
         "seen TIMESTAMP, live BOOLEAN, photo BLOB)",
         "INSERT INTO log VALUES (1, 80.25, 12.50, '2024-05-01', '2024-05-01 09:30:00', TRUE, PHOTO)"),
        ("log/no=1 a log", "log/no=1 log#no 1^^integer", "log/no=1 log#ratio 80.25^^real",
         "log/no=1 log#fee 12.5^^real", "log/no=1 log#day 2024-05-01^^date",
         "log/no=1 log#seen 2024-05-01T09:30:00^^datetime", "log/no=1 log#live true^^boolean",
         "log/no=1 log#photo 8950^^hexBinary"),
        left_out=("log/no=1 log#photo 8950^^hexBinary",), differs=BINARY,
    ),
    MappingCase(
        "D017", "names and values of another script",
        ('CREATE TABLE "植物" ("名" VARCHAR(10), "部" VARCHAR(10), "条件" VARCHAR(50), PRIMARY KEY ("名", "部"))',
         "INSERT INTO \"植物\" VALUES ('しそ', '葉', '新鮮 な')"),
        ("植物/名=しそ;部=葉 a 植物", "植物/名=しそ;部=葉 植物#名 'しそ'", "植物/名=しそ;部=葉 植物#部 '葉'",
         "植物/名=しそ;部=葉 植物#条件 '新鮮 な'"),
    ),
    MappingCase(
        "D018", "texts of fixed length",
        ("CREATE TABLE buoy (no INTEGER PRIMARY KEY, name CHAR(5))", "INSERT INTO buoy VALUES (10, 'North')"),
        ("buoy/no=10 a buoy", "buoy/no=10 buoy#no 10^^integer", "buoy/no=10 buoy#name 'North'"),
    ),
    MappingCase(
        "D019", "values that look like IRIs",
        ("CREATE TABLE page (no INTEGER PRIMARY KEY, address VARCHAR(80))",
         "INSERT INTO page VALUES (1, 'http://sea.example/a'), (2, 'plain')"),
        ("page/no=1 a page", "page/no=1 page#no 1^^integer", "page/no=1 page#address 'http://sea.example/a'",
         "page/no=2 a page", "page/no=2 page#no 2^^integer", "page/no=2 page#address 'plain'"),
    ),
    MappingCase(
        "D020", "keys with marks that IRIs use",
        ("CREATE TABLE page (name VARCHAR(80) PRIMARY KEY)",
         "INSERT INTO page VALUES ('http://sea.example/a?b=c;d#e'), ('path/../Ida'), ('Ida Holm'), ('50%25')"),
        ("page/name=http%3A%2F%2Fsea.example%2Fa%3Fb%3Dc%3Bd%23e a page",
         "page/name=http%3A%2F%2Fsea.example%2Fa%3Fb%3Dc%3Bd%23e page#name 'http://sea.example/a?b=c;d#e'",
         "page/name=path%2F..%2FIda a page", "page/name=path%2F..%2FIda page#name 'path/../Ida'",
         "page/name=Ida%20Holm a page", "page/name=Ida%20Holm page#name 'Ida Holm'",
         "page/name=50%2525 a page", "page/name=50%2525 page#name '50%25'"),
    ),
    MappingCase(
        "D021", "foreign keys of two columns to a unique pair, some without a part",
        ("CREATE TABLE dock (no INTEGER PRIMARY KEY, quay VARCHAR(9), side VARCHAR(9), UNIQUE (quay, side))",
         "CREATE TABLE crane (no INTEGER PRIMARY KEY, quay VARCHAR(9), side VARCHAR(9), "
         "FOREIGN KEY (quay, side) REFERENCES dock(quay, side))",
         "INSERT INTO dock VALUES (1, 'A', 'N'), (2, 'B', NULL)",
         "INSERT INTO crane VALUES (5, 'A', 'N'), (6, 'A', NULL), (7, NULL, NULL)"),
        ("dock/no=1 a dock", "dock/no=1 dock#no 1^^integer", "dock/no=1 dock#quay 'A'", "dock/no=1 dock#side 'N'",
         "dock/no=2 a dock", "dock/no=2 dock#no 2^^integer", "dock/no=2 dock#quay 'B'",
         "crane/no=5 a crane", "crane/no=5 crane#no 5^^integer", "crane/no=5 crane#quay 'A'",
         "crane/no=5 crane#side 'N'", "crane/no=5 crane#ref-quay;side dock/no=1",
         "crane/no=6 a crane", "crane/no=6 crane#no 6^^integer", "crane/no=6 crane#quay 'A'",
         "crane/no=7 a crane", "crane/no=7 crane#no 7^^integer"),
    ),
    MappingCase(
        "D022", "a foreign key to a table without a primary key",
        ("CREATE TABLE dock (code VARCHAR(9) UNIQUE, quay VARCHAR(9))",
         "CREATE TABLE crane (no INTEGER PRIMARY KEY, dock VARCHAR(9), FOREIGN KEY (dock) REFERENCES dock(code))",
         "INSERT INTO dock VALUES ('D-1', 'A')", "INSERT INTO crane VALUES (5, 'D-1')"),
        ("_:1 a dock", "_:1 dock#code 'D-1'", "_:1 dock#quay 'A'", "crane/no=5 a crane",
         "crane/no=5 crane#no 5^^integer", "crane/no=5 crane#dock 'D-1'", "crane/no=5 crane#ref-dock _:1"),
        left_out=("crane/no=5 crane#dock 'D-1'",), differs=f"{NODES}; {KEYS}",
    ),
    MappingCase(
        "D023", "two foreign keys to unique columns",
        ("CREATE TABLE dock (no INTEGER PRIMARY KEY, code VARCHAR(9) UNIQUE, quay VARCHAR(9) UNIQUE)",
         "CREATE TABLE crane (no INTEGER PRIMARY KEY, dock VARCHAR(9), near VARCHAR(9), "
         "FOREIGN KEY (dock) REFERENCES dock(code), FOREIGN KEY (near) REFERENCES dock(quay))",
         "INSERT INTO dock VALUES (1, 'D-1', 'A'), (2, 'D-2', 'B')", "INSERT INTO crane VALUES (5, 'D-1', 'B')"),
        ("dock/no=1 a dock", "dock/no=1 dock#no 1^^integer", "dock/no=1 dock#code 'D-1'", "dock/no=1 dock#quay 'A'",
         "dock/no=2 a dock", "dock/no=2 dock#no 2^^integer", "dock/no=2 dock#code 'D-2'", "dock/no=2 dock#quay 'B'",
         "crane/no=5 a crane", "crane/no=5 crane#no 5^^integer", "crane/no=5 crane#dock 'D-1'",
         "crane/no=5 crane#near 'B'", "crane/no=5 crane#ref-dock dock/no=1", "crane/no=5 crane#ref-near dock/no=2"),
        left_out=("crane/no=5 crane#dock 'D-1'", "crane/no=5 crane#near 'B'"), differs=KEYS,
    ),
    MappingCase(
        "D024", "a foreign key to a row with missing values",
        ("CREATE TABLE dock (no INTEGER PRIMARY KEY, code VARCHAR(9) UNIQUE, quay VARCHAR(9))",
         "CREATE TABLE crane (no INTEGER PRIMARY KEY, dock VARCHAR(9), FOREIGN KEY (dock) REFERENCES dock(code))",
         "INSERT INTO dock VALUES (1, 'D-1', NULL)", "INSERT INTO crane VALUES (5, 'D-1')"),
        ("dock/no=1 a dock", "dock/no=1 dock#no 1^^integer", "dock/no=1 dock#code 'D-1'", "crane/no=5 a crane",
         "crane/no=5 crane#no 5^^integer", "crane/no=5 crane#dock 'D-1'", "crane/no=5 crane#ref-dock dock/no=1"),
        left_out=("crane/no=5 crane#dock 'D-1'",), differs=KEYS,
    ),
    MappingCase(
        "D025", "three tables; a key that is a foreign key, and two keys to one table",
        ("CREATE TABLE port (no INTEGER PRIMARY KEY, name VARCHAR(50))",
         "CREATE TABLE light (port INTEGER PRIMARY KEY, metres INTEGER, FOREIGN KEY (port) REFERENCES port(no))",
         "CREATE TABLE ferry (no INTEGER PRIMARY KEY, goes_from INTEGER, goes_to INTEGER, "
         "FOREIGN KEY (goes_from) REFERENCES port(no), FOREIGN KEY (goes_to) REFERENCES light(port))",
         "INSERT INTO port VALUES (1, 'Alder'), (2, 'Brin')", "INSERT INTO light VALUES (2, 30)",
         "INSERT INTO ferry VALUES (7, 1, 2)"),
        ("port/no=1 a port", "port/no=1 port#no 1^^integer", "port/no=1 port#name 'Alder'",
         "port/no=2 a port", "port/no=2 port#no 2^^integer", "port/no=2 port#name 'Brin'",
         "light/port=2 a light", "light/port=2 light#port 2^^integer", "light/port=2 light#metres 30^^integer",
         "light/port=2 light#ref-port port/no=2",
         "ferry/no=7 a ferry", "ferry/no=7 ferry#no 7^^integer", "ferry/no=7 ferry#goes_from 1^^integer",
         "ferry/no=7 ferry#goes_to 2^^integer", "ferry/no=7 ferry#ref-goes_from port/no=1",
         "ferry/no=7 ferry#ref-goes_to light/port=2"),
        left_out=("ferry/no=7 ferry#goes_from 1^^integer", "ferry/no=7 ferry#goes_to 2^^integer"), differs=KEYS,
    ),
    MappingCase(
        "own: cycles", "a key to the same table, and two tables that refer to each other",
        ("CREATE TABLE crew (no INTEGER PRIMARY KEY, name VARCHAR(50), mentor INTEGER REFERENCES crew(no), "
         "ship INTEGER)",
         "CREATE TABLE ship (no INTEGER PRIMARY KEY, name VARCHAR(50), captain INTEGER REFERENCES crew(no))",
         "INSERT INTO crew VALUES (1, 'Ida', NULL, NULL)", "INSERT INTO crew VALUES (2, 'Jon', 1, NULL)",
         "INSERT INTO ship VALUES (7, 'Swift', 1)"),
        ("crew/no=1 a crew", "crew/no=1 crew#no 1^^integer", "crew/no=1 crew#name 'Ida'",
         "crew/no=2 a crew", "crew/no=2 crew#no 2^^integer", "crew/no=2 crew#name 'Jon'",
         "crew/no=2 crew#mentor 1^^integer", "crew/no=2 crew#ref-mentor crew/no=1",
         "ship/no=7 a ship", "ship/no=7 ship#no 7^^integer", "ship/no=7 ship#name 'Swift'",
         "ship/no=7 ship#captain 1^^integer", "ship/no=7 ship#ref-captain crew/no=1"),
        left_out=("crew/no=2 crew#mentor 1^^integer", "ship/no=7 ship#captain 1^^integer"), differs=KEYS,
    ),
)  # fmt: skip
