"""What the settings say of the models: Settings -> limits, and size, name and priors of the model that writes
queries."""

from agents.models.limits import Limits
from agents.models.priors import Priors, Size, calibrated_counts, model_priors, model_size_class
from agents.models.structured_output import StructuredOutput
from nacre.config.local_files import model_file
from nacre.config.local_model import is_local
from nacre.config.models import is_own_server
from nacre.config.settings import Settings
from nacre.stores.sqlite.model_replies import ModelReplies

# tokens of schema and of evidence that a model is shown if no setting says (given)
SMALL_SCHEMA, LARGE_SCHEMA = 1500, 6000
SMALL_EVIDENCE, LARGE_EVIDENCE = 350, 2500


def model_limits(settings: Settings) -> Limits:
    """The limits of model calls. A small model is shown less of the schema and of the evidence."""
    is_small = query_model_size(settings) == "small"
    tokens = settings.schema_tokens or (SMALL_SCHEMA if is_small else LARGE_SCHEMA)
    evidence = settings.evidence_tokens or (SMALL_EVIDENCE if is_small else LARGE_EVIDENCE)
    return Limits(
        seconds=settings.model_seconds,
        retries=settings.model_retries,
        evidence_tokens=evidence,
        schema_tokens=tokens,
        busy_retries=settings.busy_retries,
        exchanges=settings.max_rounds,
        cache=ModelReplies(settings.model_cache) if settings.model_cache else None,
        output=StructuredOutput(settings.model_output),
    )


def query_model_size(settings: Settings) -> Size:
    """The size class of the model that writes queries."""
    return settings.model_size or model_size_class(query_model_name(settings), own_server=is_own_server(settings))


def query_model_name(settings: Settings) -> str:
    """The name of the model that writes queries; of a local model the name of its file."""
    name = settings.model_sql or settings.model or ""
    if not is_local(name):
        return name
    try:
        return model_file(settings, name).name
    except ValueError:
        # the missing file is reported when the model is opened
        return name


def query_priors(settings: Settings) -> Priors:
    """How often that model's queries are right, as `nacre calibrate` measured it; else the priors of its size class."""
    return model_priors(query_model_size(settings), calibrated_counts(settings.data, query_model_name(settings)))
