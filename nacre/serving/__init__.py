"""Ways in: command line, HTTP, LangServe."""
