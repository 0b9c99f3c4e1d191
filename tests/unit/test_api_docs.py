"""The page of the API's documentation: what an OpenAPI document says, escaped, with links that lead somewhere."""

import re

from nacre.serving.page.pages import api_docs_page

SPEC = {
    "info": {"title": "Nacre <b>", "description": "Questions & answers"},
    "paths": {
        "/api/lamps/{name}": {
            "post": {
                "description": "Light a <script>lamp</script>.",
                "parameters": [
                    {"name": "name", "in": "path", "required": True, "schema": {"type": "string", "maxLength": 200}},
                    {"name": "k", "in": "query", "schema": {"type": "integer", "minimum": 1, "default": 8}},
                ],
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Lamp"}}}},
                "responses": {"200": {"description": "Lit", "content": {"text/plain": {"schema": {"type": "string"}}}}},
            }
        }
    },
    "components": {
        "schemas": {
            "Lamp": {
                "properties": {
                    "colour": {"enum": ["red", "green"]},
                    "parts": {
                        "type": "array",
                        "items": {"anyOf": [{"$ref": "#/components/schemas/Lamp"}, {"type": "null"}]},
                    },
                },
                "required": ["colour"],
            }
        }
    },
}
PAGE = api_docs_page(SPEC)


def test_every_operation_parameter_and_field_is_there() -> None:
    text = " ".join(re.sub(r"<[^>]+>", " ", PAGE.partition("<h2>Operations")[2]).split())
    assert "POST /api/lamps/{name}" in text
    assert "name path string characters: at most 200" in text
    assert "k query, optional integer at least 1. default: 8" in text
    assert "Body application/json Lamp" in text
    assert "Replies 200 text/plain string Lit" in text
    assert "colour &#x27;red&#x27; or &#x27;green&#x27;" in text
    assert "parts optional list of Lamp or null" in text


def test_links_lead_to_what_they_name() -> None:
    assert set(re.findall(r'href="#([^"]+)"', PAGE)) == {"post-api-lamps-name", "schema-Lamp"}
    assert set(re.findall(r'<section id="([^"]+)"', PAGE)) == {"post-api-lamps-name", "schema-Lamp"}


def test_texts_are_escaped() -> None:
    assert "<script" not in PAGE
    assert "Nacre &lt;b&gt;" in PAGE
