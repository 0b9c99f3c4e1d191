"""What the HTTP app is assembled from: limits, authentication, errors, health, metrics and the routes under /api.

In reading order:

    api/                the routes under /api
    dependencies        what routes take: turn service, runs, threads, metrics, graph name
    auth                request -> caller; rate limits
    limits              middleware: lengths of paths, request ids, access log
    bodies              middleware: authentication before a body is read, its size and its JSON
    error_handlers      error -> reply
    error_formats       the reply in the format of a protocol
    look_up             a slot for the look-ups of a caller
    disconnect          end work whose client has disconnected
    health              /healthz, /readyz, /metrics
    metrics             Prometheus counters
    logs                log lines as text or JSON
    connection          uvicorn's connection with a time limit
    event_loop          uvloop, if installed
"""
