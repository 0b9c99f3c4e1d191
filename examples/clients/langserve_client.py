"""LangServe's RemoteRunnable.  python langserve_client.py [ADDRESS] [GRAPH] [QUESTION]"""

import os
import sys

from langserve import RemoteRunnable

argument = dict(enumerate(sys.argv))
ADDRESS = argument.get(1, "http://127.0.0.1:8200")
GRAPH = argument.get(2, "bmw")
QUESTION = argument.get(3, "Which BMW X5 variants are there?")

key = os.environ.get("NACRE_KEY")
ask = RemoteRunnable(f"{ADDRESS}/ask", headers={"Authorization": f"Bearer {key}"} if key else {})
inputs = {"question": QUESTION, "graph": GRAPH, "thread": None}
for token in ask.stream(inputs):
    print(token, end="", flush=True)
print()
record = ask.invoke(inputs)
print(record["values"], record["status"], record["confidence"])
