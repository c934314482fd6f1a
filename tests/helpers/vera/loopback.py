"""HTTP servers on loopback, and pickles that would execute code."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files without a log."""

    def log_message(self, *args):
        pass


@contextmanager
def run_server(handler: type[BaseHTTPRequestHandler] | partial) -> Iterator[ThreadingHTTPServer]:
    """Run a server on a free port until the block ends; its address is 127.0.0.1 and `server_port`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def serve_folder(folder: Path) -> Iterator[str]:
    """Serve the files of a folder; yields the address."""
    with run_server(partial(QuietHandler, directory=str(folder))) as server:
        yield f"http://127.0.0.1:{server.server_port}"


class MaliciousPickle:
    """Its pickle creates a folder when it is loaded by `pickle.loads`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)
