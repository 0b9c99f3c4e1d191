"""OpenAI's client: a graph is a model.  python openai_client.py [ADDRESS] [GRAPH] [QUESTION]"""

import os
import sys

from openai import OpenAI

argument = dict(enumerate(sys.argv))
ADDRESS = argument.get(1, "http://127.0.0.1:8200")
GRAPH = argument.get(2, "bmw")
QUESTION = argument.get(3, "Which BMW X5 variants are there?")

client = OpenAI(base_url=f"{ADDRESS}/v1", api_key=os.environ.get("NACRE_KEY", "none"))
print("models:", [model.id for model in client.models.list()])

# the messages are the conversation; the server stores nothing
messages = [{"role": "user", "content": QUESTION}]
reply = client.chat.completions.create(model=GRAPH, messages=messages)
print(reply.choices[0].message.content)
print(reply.nacre["values"], reply.nacre["status"], reply.nacre["confidence"])

messages += [reply.choices[0].message, {"role": "user", "content": "How many are there?"}]
for chunk in client.chat.completions.create(model=GRAPH, messages=messages, stream=True):
    print(chunk.choices[0].delta.content or "", end="", flush=True)
print()
