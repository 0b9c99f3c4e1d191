"""What differs between SQLite and PostgreSQL in statements that are otherwise the same: name -> StateDialect."""

from dataclasses import dataclass


@dataclass(frozen=True)
class StateDialect:
    """Parts of statements. `{}` in a template is a column; `types` are words of table definitions."""

    json_field: str
    json_list_length: str
    byte_length: str
    # whether the object in the column m.metadata has a key (second value) with a JSON value (first value)
    has_json_entry: str
    types: dict[str, str]

    def field(self, column: str, key: str) -> str:
        """A text field of a JSON object in a column."""
        return self.json_field.format(column, key)

    def list_length(self, column: str, key: str) -> str:
        """The length of a list in a JSON object in a column."""
        return self.json_list_length.format(column, key)

    def size(self, column: str) -> str:
        """The number of bytes of a text in a column."""
        return self.byte_length.format(column)


DIALECTS = {
    "sqlite": StateDialect(
        json_field="json_extract({}, '$.{}')",
        json_list_length="json_array_length({}, '$.{}')",
        byte_length="length(CAST({} AS BLOB))",
        # JSON's true and 1 have the same value in SQLite, so that types are compared as well
        has_json_entry=(
            "EXISTS (SELECT 1 FROM thread_metadata m, json_each(m.metadata) has, json_each(?) wanted"
            " WHERE m.owner = c.owner AND m.thread = c.thread AND has.key = ?"
            " AND has.type = wanted.type AND has.atom IS wanted.atom)"
        ),
        types={"real": "REAL", "number": "INTEGER PRIMARY KEY", "clustered": "WITHOUT ROWID"},
    ),
    "postgresql": StateDialect(
        json_field="({}::json ->> '{}')",
        json_list_length="json_array_length({}::json -> '{}')",
        byte_length="octet_length({})",
        has_json_entry=(
            "EXISTS (SELECT 1 FROM thread_metadata m, (SELECT CAST(? AS jsonb) -> 0 AS value) wanted"
            " WHERE m.owner = c.owner AND m.thread = c.thread AND m.metadata::jsonb -> ? = wanted.value)"
        ),
        types={
            "real": "DOUBLE PRECISION",
            "number": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
            "clustered": "",
        },
    ),
}
