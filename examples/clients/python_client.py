"""Python: a data folder, or a server, as an object.  python python_client.py [FOLDER-OR-ADDRESS] [GRAPH] [QUESTION]"""

import os
import sys

from nacre import Nacre, NacreError

argument = dict(enumerate(sys.argv))
WHERE = argument.get(1, "data")
GRAPH = argument.get(2, "bmw")
QUESTION = argument.get(3, "Which BMW X5 variants are there?")

with Nacre(WHERE, key=os.environ.get("NACRE_KEY")) as nacre:
    graph = nacre.graph(GRAPH)
    reply = graph.ask(QUESTION)
    print(reply.text)
    print(reply.values, reply.status, reply.confidence)
    for citation in reply.citations:
        print(f"[{citation['n']}] {citation['source']}: {citation['text'][:100]}")

    # a conversation; its answers can be streamed
    chat = graph.chat()
    chat.ask(QUESTION)
    for token in chat.stream("How many are there?"):
        print(token, end="", flush=True)
    print()

    try:
        nacre.graph("no-such-graph").ask("What?")
    except NacreError as error:
        print("Refused:", error)
