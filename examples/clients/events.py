"""The HTTP API: a turn as server-sent events.  python events.py [ADDRESS] [GRAPH] [QUESTION]

With curl:  curl -N http://127.0.0.1:8200/api/ask -H 'Content-Type: application/json' -d '{"question": "..."}'
"""

import json
import os
import sys

import httpx
from httpx_sse import connect_sse

argument = dict(enumerate(sys.argv))
ADDRESS = argument.get(1, "http://127.0.0.1:8200")
GRAPH = argument.get(2, "bmw")
QUESTION = argument.get(3, "Which BMW X5 variants are there?")

key = os.environ.get("NACRE_KEY")
headers = {"Authorization": f"Bearer {key}"} if key else {}
with httpx.Client(base_url=ADDRESS, headers=headers, timeout=60) as client:
    with connect_sse(client, "POST", "/api/ask", json={"question": QUESTION, "graph": GRAPH}) as source:
        for event in source.iter_sse():
            payload = json.loads(event.data)
            if event.event == "query":
                print("query:", payload["text"])
            elif event.event == "token":
                print(payload, end="", flush=True)
            elif event.event == "answer":
                print()
                print(payload["values"], payload["status"], payload["confidence"])
            elif event.event == "error":
                sys.exit(payload["message"])
