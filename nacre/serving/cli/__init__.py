"""The command line: a module for a command or a few commands that belong together.

In reading order:
    main          arguments -> a command and an exit code
    ask           `nacre ask`, `nacre chat`
    ingest        `nacre ingest`, `nacre index`
    attach        `nacre attach`
    graphs        `nacre graphs`, `report`, `export`, `remove`, `doctor`
    layer         `nacre layer check | draft | apply | show | remove | schema`
    examples      `nacre examples add | import | export | list | check | approve | remove`
    evaluate      `nacre eval`, `nacre compare`, `nacre calibrate`
    serve         `nacre serve`, `nacre mcp`, `nacre keys`
    options       options of several commands -> the context of a turn
    open_library  settings -> library and embedder; versions that differ in their layers
    turn_display  a turn on the terminal
"""
