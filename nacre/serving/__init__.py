"""Interfaces of Nacre: command line, HTTP, web page, OpenAI, MCP and LangServe, all over one turn service.

In reading order:
    turn_service        settings -> events and record of a turn; every interface asks through it
    runs                running and recent turns, which clients follow, leave and resume
    threads             stored conversations: list, read, fork, edit, delete
    transcript          an event stream -> its record; a conversation -> Markdown; rows -> CSV;
                        what agents and front ends of other vendors get of an answer
    keys                API keys and their owners
    telemetry           metrics and traces of turns
    errors              errors of requests
    app                 the HTTP app
    http/               what the app is assembled from: limits, authentication, errors, routes under /api
    page/               the web page
    openai              OpenAI's API at /v1
    langserve           LangServe at /ask
    mcp/                the MCP server
    cli/                the command line
    studio              the app beside `langgraph dev`
"""
