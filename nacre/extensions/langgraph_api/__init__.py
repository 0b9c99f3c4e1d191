"""LangGraph's API at /langgraph: each graph is an assistant, each conversation a thread, each turn a run.

Written from the published clients (langgraph_sdk, @langchain/langgraph-sdk). In reading order:
    routes         the routes of the server itself, of assistants and of threads
    runs           the routes of runs; starting, finding and following them
    thread_states  stored checkpoints -> snapshots -> JSON; where a turn begins
    requests       bodies -> validated requests; messages; assistants
"""
