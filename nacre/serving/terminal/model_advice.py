"""What a chat model would add, and how to get one: settings -> one line for those who have none."""

from typing import TYPE_CHECKING

from nacre.config.local_files import chosen_model, models_folder

if TYPE_CHECKING:
    from nacre.config.settings import Settings

MODEL_BENEFITS = (
    "Rules answer. A chat model also reads questions that they can't, words descriptions, takes other languages"
)


def model_advice(settings: "Settings") -> str:
    """The line, "" where a model is set or forbidden."""
    if settings.model or settings.forbid_models:
        return ""
    file = chosen_model(models_folder(settings))
    if file is not None and file.is_file():
        return f"{MODEL_BENEFITS}: {file.name} is there, set NACRE_MODEL=local"
    return f"{MODEL_BENEFITS}. For one on this machine: nacre model get, then NACRE_MODEL=local (or openai:NAME, ollama:NAME)"
