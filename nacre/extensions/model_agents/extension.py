"""The declaration of the agents by a chat model."""

from nacre.extension import Extension

_HOME = "nacre.extensions.model_agents"

EXTENSION = Extension(
    "model_agents",
    services={
        "team": f"{_HOME}.team:build_team",
        "prefill": f"{_HOME}.query_writer:prefill_prompts",
        "occurrences": f"{_HOME}.look_up:find_occurrences",
        "look_up_sql": f"{_HOME}.look_up:look_up_sql",
        "look_up_sparql": f"{_HOME}.look_up:look_up_sparql",
        "schema_sparql": f"{_HOME}.schema_sparql:schema_sparql",
    },
)
