"""How the page attaches an address."""

from pathlib import Path

from fastapi import FastAPI

from nacre.serving.page.pages import PageFiles


def add_form(app: FastAPI, *, alone: bool) -> None:
    """Add the form of the page, which asks for /api/attachments."""
    app.state.attaches = True
    app.mount("/attach/files", PageFiles(directory=str(Path(__file__).with_name("static"))))
