"""The declaration of AG-UI."""

from nacre.extension import Extension

EXTENSION = Extension("agui", requires=("ag_ui",), routes="nacre.extensions.agui.routes:add_agui")
