"""Open a tantivy index to read and leave its folder as it is: folder -> index."""

import os
import tempfile
import weakref
from pathlib import Path
from shutil import rmtree
from typing import Any


class IndexFolder:
    """A read-only handle on one index folder, which stays untouched: any number of processes may read it."""

    def __init__(self, folder: Path) -> None:
        import tantivy

        # tantivy takes a lock file in the folder of each index it opens, also to read; so it is given its own folder
        private = tempfile.mkdtemp(prefix="nacre-index-")
        self._close = weakref.finalize(self, rmtree, private, ignore_errors=True)
        for file in folder.iterdir():
            if file.suffix != ".lock":
                os.symlink(file.absolute(), os.path.join(private, file.name))
        try:
            index = tantivy.Index.open(private)
        except BaseException:
            self.close()
            raise
        self.schema: Any = index.schema
        self.searcher: Any = index.searcher()

    def close(self) -> None:
        """Remove the private folder; the handle must not be used any more."""
        self._close()
