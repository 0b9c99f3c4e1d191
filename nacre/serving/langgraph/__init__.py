"""LangGraph's API at /langgraph: each graph is an assistant, each conversation a thread, each turn a run.

Written from the published clients (langgraph_sdk, @langchain/langgraph-sdk). In reading order:

    routes             the routes, and those of the server itself
    requests           what clients send
    assistant_records  graphs as assistants
    assistant_routes   routes of assistants
    messages           questions and answers as messages
    snapshots          stored checkpoints as a tree of states
    thread_states      threads and their states as JSON
    thread_routes      routes of threads
    asked_turn         what a run asks, and from which checkpoint it starts
    stream_parts       events of a turn in the stream modes of clients
    running            start, find and follow runs
    run_routes         routes of runs
"""
