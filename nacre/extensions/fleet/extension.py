"""The declaration of what several servers share."""

from nacre.extension import Extension

EXTENSION = Extension(
    "fleet",
    commands={"migrate": "nacre.extensions.fleet.command:migrate"},
    services={
        "around": "nacre.extensions.fleet.command:shared_graphs",
        "checkpoints": "nacre.extensions.fleet.checkpoints:open_postgres_saver",
        "graphs": "nacre.extensions.fleet.graph_store:GraphStore",
        "keys": "nacre.extensions.fleet.shared_state:SharedKeyStore",
        "rates": "nacre.extensions.fleet.shared_state:SharedRateLimiter",
        "runs": "nacre.extensions.fleet.shared_state:open_shared_runs",
    },
    serve="nacre.extensions.fleet.shared_state:share_state",
)
