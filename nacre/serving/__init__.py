"""Interfaces of Nacre: command line, HTTP, web page, OpenAI, MCP, AG-UI, A2A and LangServe, all over one turn service.

In reading order:

    turn_service        settings -> events and record of a turn; every interface asks through it
    turn_events         the record at the end of an event stream
    agent_answer        what other agents get of an answer, and the options that they choose from
    fair_slots          slots for concurrent work, shared fairly between callers
    errors              errors of requests and their HTTP status
    runs                turns in progress, which clients can leave and resume
    conversations/      stored conversations, their locks and exports; conversations that clients send along
    verified/           questions that people confirmed: what a caller may see, confirm, approve and remove
    fleet/              keys, runs and graphs that several servers share
    uploads/            files and addresses that callers bring, and the processes that make graphs of them
    keys                API keys and the callers that they stand for
    tracing             OpenTelemetry spans of a turn
    prefill_schema      the schema prompt of a local model, computed ahead
    garbage_collection  fewer pauses for garbage collection
    langserve           LangServe at /ask
    app                 settings -> the HTTP app with all its routes
    studio              the app under `langgraph dev`
    http/               the parts of the HTTP app: authentication, limits, errors, health; api/ holds its routes
    openai/             the OpenAI API at /v1
    langgraph/          LangGraph's API at /langgraph
    mcp/                the MCP server, at /mcp and on standard input
    agui/               AG-UI at /agui
    a2a/                A2A at /a2a, if the extra `agents` is installed
    page/               the web page and its static files
    cli/                the commands
    terminal/           output and checks that the commands share
"""
