"""A graph as a tool of a LangGraph agent.  python langchain_tool.py [FOLDER-OR-ADDRESS] [GRAPH] [QUESTION]

Set AGENT_MODEL (such as openai:gpt-4o-mini) to use a real model. Otherwise a scripted model passes the question to the
tool and repeats its result.
"""

import os
import sys

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from nacre import Nacre

argument = dict(enumerate(sys.argv))
WHERE = argument.get(1, "data")
GRAPH = argument.get(2, "bmw")
QUESTION = argument.get(3, "Which BMW X5 variants are there?")


class Scripted(BaseChatModel):
    """Calls its only tool with the question, then repeats the answer."""

    tool: str = ""

    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, **kwargs):
        return Scripted(tool=tools[0].name)

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        last = messages[-1]
        if last.type == "human":
            call = {"name": self.tool, "args": {"question": last.text}, "id": "1"}
            message = AIMessage("", tool_calls=[call])
        else:
            message = AIMessage(f"The graph says: {last.text}")
        return ChatResult(generations=[ChatGeneration(message=message)])


with Nacre(WHERE, key=os.environ.get("NACRE_KEY")) as nacre:
    tool = nacre.graph(GRAPH).as_tool()
    agent = create_agent(os.environ.get("AGENT_MODEL") or Scripted(), [tool])
    messages = agent.invoke({"messages": [("user", QUESTION)]})["messages"]
    print(messages[-1].text)
    # the tool's artifact is the whole record
    print(next(message.artifact for message in messages if message.type == "tool")["values"])
