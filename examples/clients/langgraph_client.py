"""LangGraph's SDK.  python langgraph_client.py [ADDRESS] [GRAPH] [QUESTION]"""

import sys

from langgraph_sdk import get_sync_client

argument = dict(enumerate(sys.argv))
ADDRESS = argument.get(1, "http://127.0.0.1:8200/langgraph")
GRAPH = argument.get(2, "bmw")
QUESTION = argument.get(3, "Which BMW X5 variants are there?")

with get_sync_client(url=ADDRESS) as client:
    thread = client.threads.create()["thread_id"]
    inputs = {"question": QUESTION, "graph": GRAPH}
    record = {}
    for part in client.runs.stream(thread, "nacre", input=inputs, stream_mode=["custom", "values"]):
        if part.event == "custom" and part.data.get("type") == "token":
            print(part.data["text"], end="", flush=True)
        elif part.event == "values":
            record = part.data.get("answer") or record
    print()
    print(record["values"], record["status"], record["confidence"])
