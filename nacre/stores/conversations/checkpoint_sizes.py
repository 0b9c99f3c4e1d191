"""How much the checkpoints of an owner take: StateDatabase + owner -> a query for their number and bytes."""

from nacre.stores.state.database import StateDatabase

_SQLITE = "SELECT count(*), sum(length(checkpoint)) FROM checkpoints WHERE thread_id >= ? AND thread_id < ?"
# the order of PostgreSQL's texts depends on its language
_POSTGRES = (
    'SELECT (SELECT count(*) FROM checkpoints WHERE thread_id COLLATE "C" >= ? AND thread_id COLLATE "C" < ?),'
    " (SELECT sum(octet_length(blob)) FROM checkpoint_blobs"
    ' WHERE thread_id COLLATE "C" >= ? AND thread_id COLLATE "C" < ?)'
)
_INDEXES = (
    'CREATE INDEX IF NOT EXISTS checkpoint_owner ON checkpoints (thread_id COLLATE "C")',
    'CREATE INDEX IF NOT EXISTS checkpoint_blob_owner ON checkpoint_blobs (thread_id COLLATE "C", octet_length(blob))',
)


def checkpoint_sizes(database: StateDatabase, owner: str) -> tuple[str, tuple[str, ...]]:
    """A query for the number of an owner's checkpoints and their bytes, and its values."""
    # a semicolon follows the colon that ends the name of the owner
    given = f"{owner}:", f"{owner};"
    if database.is_server:
        return _POSTGRES, given * 2
    # LangGraph creates its table with the first turn
    if database.read("SELECT 1 FROM sqlite_master WHERE name = 'checkpoints'"):
        return _SQLITE, given
    return "SELECT 0, 0", ()


def index_sizes(database: StateDatabase) -> None:
    """Let a server count without reading checkpoints; LangGraph's tables must be there."""
    with database.writing("checkpoint sizes") as run:
        for statement in _INDEXES:
            run(statement)
