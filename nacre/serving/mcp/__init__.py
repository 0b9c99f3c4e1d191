"""The MCP server: graphs as tools of agents.

In reading order:
    server  tools, resources and prompts in one server; the server over HTTP
    tools   the tools and their records
    ask     the tool `ask`: progress, and questions back
"""
