"""The command line: a module for a command or a few commands that belong together.

In reading order:
    main          arguments -> a command and an exit code
    ask           `nacre ask`, `nacre chat`
    ingest        `nacre ingest`, `nacre index`, `nacre attach`
    graphs        `nacre graphs`, `report`, `export`, `remove`, `doctor`
    serve         `nacre serve`, `nacre mcp`, `nacre keys`
    options       options of several commands -> the context of a turn; settings -> library and embedder
    turn_display  a turn on the terminal
"""
