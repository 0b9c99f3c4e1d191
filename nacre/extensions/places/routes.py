"""POST /api/graphs/{graph}/places: IRIs of things -> their latitude and longitude, for maps."""

from fastapi import FastAPI

from nacre.extensions.places.places import Place, find_places
from nacre.serving.http.dependencies import ERROR_RESPONSES, GraphLookUpDep
from nacre.serving.http.graphs import LabelRequest, read_graph


def add_places(app: FastAPI, *, alone: bool) -> None:
    """Add the route."""

    @app.post("/api/graphs/{graph}/places", summary="Look up places", tags=["graphs"], responses=ERROR_RESPONSES)
    def places(look_up: GraphLookUpDep, body: LabelRequest) -> dict[str, Place]:
        """Latitude and longitude of the things that have them, or a shape in well-known text; others are omitted."""
        return read_graph(look_up, "thing", lambda opened: find_places(opened, body.iris))
