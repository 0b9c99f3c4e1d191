"""What the HTTP app is assembled from: limits, authentication, errors, health, and the routes under /api.

In reading order:
    middleware    limits of paths and bodies, request ids, access log; error replies; uvicorn's connection
    auth          request -> caller; rate limits
    dependencies  what routes take: turn service, runs, threads, metrics, graph name; the slot of a look-up
    ask           ask a question; resume or stop its turn; queries, options and model calls; stored conversations
    graphs        graphs, schemas, reports; things, classes and tables
    layer         names of classes and properties
    health        /healthz, /readyz, /metrics
"""
