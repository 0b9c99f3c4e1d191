"""Groups of commands, each with a name of its own.

In reading order:

    keys     `nacre keys add | list | revoke`
    layer    `nacre layer check | apply | show | remove | schema`
    model    `nacre model`
"""
