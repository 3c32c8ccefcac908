"""What test cases that start servers have in common."""
import os
import tempfile
import unittest

from support.server import Line, Server, Waiting


class WithServers(Waiting, unittest.TestCase):
    """A test has a folder of its own, with a cache for its servers, and ends what it has started."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="kenaz_test_")
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def write(self, name, text):
        """The path of a file in the folder."""
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        return path

    def serve(self, command, listen=("tcp://127.0.0.1:0",)):
        """A server; see Server."""
        server = Server(command, listen=listen,
                        env={**os.environ, "XDG_CACHE_HOME": os.path.join(self.folder, "cache")})
        self.addCleanup(server.stop)
        return server

    def join(self, server):
        """A connection to it."""
        line = Line.unix(server.path, self.patience)
        self.addCleanup(line.close)
        return line
