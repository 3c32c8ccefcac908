"""Servers for the tests of the Python client, in every way in which it reaches one."""
import os
import pathlib
import re
import subprocess
import tempfile
import time
import unittest

import kenaz

BIN = pathlib.Path(os.environ["KENAZ_BIN"])
SERVER = BIN / "kenaz-server"
DEVICE = os.environ.get("KENAZ_TEST_DEVICE", "cpu")
OPTIONS = ["--reference"] if DEVICE == "reference" else ["--device", DEVICE]
# What is no matter of the connection is asked on the device.
WAYS = ("subprocess", "unix") if DEVICE == "reference" else ("subprocess", "unix", "tcp", "tls")
HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = HERE / "program.fut"
TOKEN = "a-token-for-tests"


class Listening:
    """A server on sockets: `unix` and `tcp` are its addresses, or `tls` alone with `ca` and TOKEN."""

    def __init__(self, program=PROGRAM, options=(), tls=False):
        self.scratch = tempfile.TemporaryDirectory(prefix="kenaz_python_")
        folder = pathlib.Path(self.scratch.name)
        self.unix, self.ca = f"unix://{folder}/socket", folder / "certificate"
        words = ["--listen", self.unix, "--listen", "tcp://127.0.0.1:0"]
        if tls:
            (folder / "token").write_text(TOKEN + "\n")
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                            "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=kenaz",
                            "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2",
                            "-keyout", folder / "key", "-out", self.ca],
                           check=True, stderr=subprocess.DEVNULL)
            words = ["--listen", "tcp://127.0.0.1:0", "--tls-cert", self.ca, "--tls-key",
                     folder / "key", "--token-file", folder / "token"]
        self.log = folder / "log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([SERVER, *OPTIONS, *words, *options, program],
                                            stdin=subprocess.DEVNULL, stderr=log)
        wanted = 1 if tls else 2
        end = time.monotonic() + 60
        while len(found := re.findall(r"listening on (\S+)", self.log.read_text())) < wanted:
            if self.process.poll() is not None or time.monotonic() > end:
                self.process.kill()
                raise RuntimeError(self.log.read_text())
            time.sleep(0.01)
        self.tcp = next(url for url in found if not url.startswith("unix"))
        self.tls = self.tcp.replace("tcp://", "tls://")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        self.process.terminate()
        self.process.wait(60)
        self.scratch.cleanup()


def start(program=PROGRAM, **more):
    return kenaz.open(program, server=str(SERVER), options=OPTIONS, **more)


class WithServer(unittest.TestCase):
    """`self.server` on a Unix socket; a subclass is run in other ways by `in_every_way`."""
    WAY = "unix"
    PROGRAM_FILE = PROGRAM

    @classmethod
    def setUpClass(cls):
        cls.listening = None
        if cls.WAY != "subprocess":
            cls.listening = Listening(cls.PROGRAM_FILE, tls=cls.WAY == "tls")
            cls.addClassCleanup(cls.listening.close)
        cls.server = cls.join()
        cls.addClassCleanup(cls.server.close)

    @classmethod
    def join(cls, **more):
        """One more session."""
        if cls.WAY == "subprocess":
            return start(cls.PROGRAM_FILE)
        if cls.WAY == "tls":
            return kenaz.connect(cls.listening.tls, token=TOKEN, tls=cls.listening.ca, **more)
        return kenaz.connect(getattr(cls.listening, cls.WAY), **more)


def in_every_way(cls):
    """The class once for each way to a server, in the module that defines it."""
    import sys
    module = sys.modules[cls.__module__]
    for way in WAYS:
        name = f"{cls.__name__}_{way}"
        setattr(module, name, type(name, (cls,), {"WAY": way, "__module__": cls.__module__}))
    return None  # itself it is no test
