"""LangGraph's API at /langgraph: each graph is an assistant, each conversation a thread, each turn a run.

Written from the published clients (langgraph_sdk, @langchain/langgraph-sdk). In reading order:
    routes         the routes, and those of the server itself and of assistants
    thread_routes  threads and their states
    run_routes     runs: start, stream, wait, join, cancel
    running        runs of the turn service, and the parts of their streams
    thread_states  stored checkpoints -> snapshots -> JSON; where a turn begins
    requests       bodies -> validated requests; messages; assistants
"""
