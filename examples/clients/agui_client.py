"""AG-UI from Python: a run is a stream of events.  python agui_client.py [ADDRESS] [GRAPH] [QUESTION]"""

import json
import os
import sys
import uuid

import httpx
from httpx_sse import connect_sse

argument = dict(enumerate(sys.argv))
ADDRESS = argument.get(1, "http://127.0.0.1:8200")
GRAPH = argument.get(2, "bmw")
QUESTION = argument.get(3, "Which BMW X5 variants are there?")

key = os.environ.get("NACRE_KEY")
headers = {"Authorization": f"Bearer {key}"} if key else {}
# the thread is the conversation, which the server stores: the last message is the question
run = {
    "threadId": str(uuid.uuid4()),
    "runId": str(uuid.uuid4()),
    "messages": [{"id": str(uuid.uuid4()), "role": "user", "content": QUESTION}],
}
state = {}
with (
    httpx.Client(headers=headers, timeout=60) as client,
    connect_sse(client, "POST", f"{ADDRESS}/agui", params={"graph": GRAPH}, json=run) as events,
):
    for each in events.iter_sse():
        event = json.loads(each.data)
        if event["type"] == "TEXT_MESSAGE_CONTENT":
            print(event["delta"], end="", flush=True)
        elif event["type"] == "STATE_DELTA":
            state |= {change["path"].rpartition("/")[2]: change["value"] for change in event["delta"]}
        elif event["type"] == "RUN_ERROR":
            print("failed:", event["message"])
        elif event["type"] == "RUN_FINISHED":
            # an outcome of type "interrupt" asks which reading was meant; answer it with `resume`
            print(f"\n{event['outcome']['type']}: {state['values']} {state['status']} {state['confidence']}")
            print("sources:", [citation["source"] for citation in state["citations"]])
