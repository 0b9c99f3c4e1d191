"""The declaration of LangGraph's API."""

from nacre.extension import Extension

EXTENSION = Extension("langgraph_api", routes="nacre.extensions.langgraph_api.routes:add_langgraph_api")
