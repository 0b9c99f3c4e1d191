"""Open a tantivy index to read and leave its folder as it is: folder -> index."""

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
    """A read-only handle on one index folder, which stays untouched: any number of processes may read it."""

    def __init__(self, folder: Path, name: str) -> None:
        """Open the index; raises Damaged where its files are not as they were written. `name` is what people read."""
        import tantivy

        self._folder, self._name, self._sizes = folder, name, verify_seal(folder)
        # tantivy takes a lock file in the folder of each index it opens, also to read; so it is given its own folder
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
        """What is read within is whole: raises ToolError `unavailable` where a file was cut short since it was opened,
        which would be fatal to read, or where the engine panics."""
        try:
            check_sizes(self._folder, self._sizes)
        except DamagedIndex as error:
            raise ToolError("unavailable", f"{self._name} is {error}") from None
        with engine_panics(self._name):
            yield

    def close(self) -> None:
        """Remove the private folder; the handle must not be used any more."""
        self._close()
