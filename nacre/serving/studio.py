"""The page and the API on the port of `langgraph dev`, next to the platform's routes; langgraph.json names `app`."""

from graph.builder import load_settings
from nacre.serving.app import create_app

app = create_app(load_settings(), alone=False)
