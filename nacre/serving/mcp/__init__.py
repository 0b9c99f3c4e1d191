"""The MCP server: graphs as tools of agents.

In reading order:

    server     tools, resources and prompts in one server
    tools      the tools
    ask        the tool `ask`: progress, and questions back
    verified_tools  tools for questions that people confirmed
    resources  schemas and layers as resources
    records    their structured output
    http       the server at /mcp; `cli.mcp` runs it on standard input and output
"""
