"""Open a tantivy index without writing to its folder: folder -> index."""

import os
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from typing import Any

from nacre.errors import ToolError
from nacre.stores.search.file_integrity import DamagedIndex, check_sizes, engine_panics, verify_seal


class IndexFolder:
    """A read-only handle on one index folder. Nothing is written to it, so any number of processes may read it."""

    def __init__(self, folder: Path, name: str) -> None:
        """Open the index; raises DamagedIndex if its files changed. Error messages call it `name`."""
        import tantivy

        self._folder, self._name, self._sizes = folder, name, verify_seal(folder)
        # tantivy writes a lock file into the folder of each index it opens, so it gets a private folder of links
        private = tempfile.mkdtemp(prefix="nacre-index-")
        self._close = weakref.finalize(self, rmtree, private, ignore_errors=True)
        for file in folder.iterdir():
            if file.suffix != ".lock":
                os.symlink(file.absolute(), os.path.join(private, file.name))
        try:
            with engine_panics(name):
                index = tantivy.Index.open(private)
                self.schema: Any = index.schema
                self.searcher: Any = index.searcher()
        except BaseException:
            self.close()
            raise

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Check the files before reading: raises ToolError `unavailable` if a file was truncated since it was opened,
        because reading it would crash the process, or if the engine panics."""
        try:
            check_sizes(self._folder, self._sizes)
        except DamagedIndex as error:
            raise ToolError("unavailable", f"{self._name} is {error}") from None
        with engine_panics(self._name):
            yield

    def close(self) -> None:
        """Remove the private folder. Do not use the handle afterwards."""
        self._close()
