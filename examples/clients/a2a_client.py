"""A2A's client: the card, then a message.  python a2a_client.py [ADDRESS] [GRAPH] [QUESTION]"""

import asyncio
import os
import sys
import uuid

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import Message, Part, Role, SendMessageRequest
from google.protobuf.json_format import MessageToDict

argument = dict(enumerate(sys.argv))
ADDRESS = argument.get(1, "http://127.0.0.1:8200")
GRAPH = argument.get(2, "bmw")
QUESTION = argument.get(3, "Which BMW X5 variants are there?")


async def main():
    key = os.environ.get("NACRE_KEY")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with httpx.AsyncClient(headers=headers, timeout=60) as http:
        card = await A2ACardResolver(http, ADDRESS).get_agent_card()
        print("skills:", [skill.id for skill in card.skills])
        client = ClientFactory(ClientConfig(httpx_client=http, streaming=True)).create(card)
        message = Message(message_id=uuid.uuid4().hex, role=Role.ROLE_USER, parts=[Part(text=QUESTION)])
        message.metadata.update({"graph": GRAPH})
        async for event in client.send_message(SendMessageRequest(message=message)):
            for part in event.artifact_update.artifact.parts:
                if part.text:
                    print(part.text, end="", flush=True)
                else:
                    answer = MessageToDict(part.data)
                    values = [int(each) if each == int(each) else each for each in answer["values"]
                              if isinstance(each, float)] or answer["values"]  # fmt: skip
                    print(f"\n{values} {answer['status']} {answer['confidence']}")


asyncio.run(main())
