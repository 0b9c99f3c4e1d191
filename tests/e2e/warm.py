"""What every process of Nacre computes first, computed once for those that are forked from the one that imports this.

Nothing here may start a thread: it would be missing in the forked processes.
"""

import gc
import tempfile

from graph.state import RECORDS
from nacre.config.settings import Settings
from nacre.language.tokens import tokenize
from nacre.records.json_form import prepare_adapters
from nacre.serving.app import create_app

tokenize("words")
prepare_adapters(*RECORDS)
with tempfile.TemporaryDirectory() as folder:
    create_app(Settings(data=folder, embedder="none", _env_file=None)).openapi()
tempfile.tempdir = None  # each process has its own TMPDIR
gc.collect()
gc.freeze()
