"""How to get a chat model and what it adds: settings -> one line, for users who have none."""

from typing import TYPE_CHECKING

from nacre.config.local_files import chosen_model, models_folder

if TYPE_CHECKING:
    from nacre.config.settings import Settings

MODEL_BENEFITS = (
    "The rules answer. A chat model also reads questions that they can't, writes descriptions, reads other languages"
)


def model_advice(settings: "Settings") -> str:
    """The line; "" if a model is set or forbidden."""
    if settings.model or settings.forbid_models:
        return ""
    file = chosen_model(models_folder(settings))
    if file is not None and file.is_file():
        return f"{MODEL_BENEFITS}: {file.name} is installed, set NACRE_MODEL=local"
    return (
        f"{MODEL_BENEFITS}. For a local one run nacre model get and set NACRE_MODEL=local (or openai:NAME, ollama:NAME)"
    )
