"""docs/studio.md shows the graph that the code draws, and the routes that the app has."""

import re
from pathlib import Path

from graph.builder import compose
from nacre.serving.app import create_app

PAGE = (Path(__file__).parents[2] / "docs/studio.md").read_text()


def test_the_drawing_is_the_codes(settings):
    drawn = re.search(r"```mermaid\n(.*?)\n```", PAGE, re.DOTALL)
    assert drawn is not None
    composition = compose(settings)
    assert drawn[1].strip() == composition.build().get_graph().draw_mermaid().strip()
    composition.library.close()


def test_beside_a_platform_its_own_routes_are_left_alone(settings):
    paths = set(create_app(settings, alone=False).openapi()["paths"])
    platform = {
        "/assistants",
        "/threads",
        "/runs",
        "/store",
        "/docs",
        "/redoc",
        "/openapi.json",
        "/info",
        "/ok",
        "/metrics",
        "/mcp",
    }
    assert paths & platform == set()
    assert all(
        path.startswith(("/api", "/ask", "/v1", "/agui", "/healthz", "/readyz")) or path == "/" for path in paths
    ), paths
    assert "/metrics" in create_app(settings).openapi()["paths"]
