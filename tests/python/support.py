"""The ways in which futhark-server's users reach a server of ours, and what their tests share."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading
import unittest

import futhark_server

BIN = pathlib.Path(os.environ["KENAZ_BIN"])
DEVICE = os.environ.get("KENAZ_TEST_DEVICE", "cpu")
KENAZ = BIN / "kenaz"
HERE = pathlib.Path(__file__).resolve().parent
TOKEN = "a token for tests"


class Launcher:
    """The executable that `kenaz vulkan --server` writes."""

    def __init__(self, program, folder, *options):
        self.path = folder / "program"
        subprocess.run([KENAZ, "vulkan", "--server", program, "-o", self.path], check=True)
        self.options = ["-d", DEVICE, *options]

    def open(self):
        return futhark_server.Server(str(self.path), *self.options)

    def close(self):
        pass


class Socket:
    """`kenaz connect` to a server on a socket. The rest is what a launcher may be told."""

    def __init__(self, program, folder, address, *options):
        token = folder / "token"
        token.write_text(TOKEN.replace(" ", "-") + "\n")
        self.process = subprocess.Popen(
            [BIN / "kenaz-server", "--listen", address, "--token-file", token, "-d", DEVICE,
             *options, program], stderr=subprocess.PIPE, text=True)
        self.url = None
        log = []
        for line in self.process.stderr:
            log.append(line)
            if match := re.search(r"listening on (.+)", line):
                self.url = match.group(1)
                break
        if self.url is None:
            raise RuntimeError("the server does not listen:\n" + "".join(log))
        self.log = threading.Thread(target=self.process.stderr.read)  # or it would block
        self.log.start()
        self.options = ["connect", self.url, "--token-file", str(token), "-L", "--tuning", "none"]

    def open(self):
        return futhark_server.Server(str(KENAZ), *self.options)

    def close(self):
        self.process.terminate()
        code = self.process.wait()
        self.log.join()
        self.process.stderr.close()
        if code != 0:
            raise RuntimeError(f"the server ended with {code}")


def ways(program, folder):
    """Name and maker of each way."""
    return {
        "launcher": lambda: Launcher(program, folder),
        "unix": lambda: Socket(program, folder, f"unix://{folder}/socket"),
        "tcp": lambda: Socket(program, folder, "tcp://127.0.0.1:0"),
    }


class EveryWay(unittest.TestCase):
    """A test case whose tests run in every way: derive from it, give PROGRAM, and
    define the tests in the derived class; `self.server` is a futhark_server.Server."""

    PROGRAM = None  # path of a .fut file
    WAY = None

    @classmethod
    def setUpClass(cls):
        if cls.WAY is None:
            raise unittest.SkipTest("runs once for each way")
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="kenaz-python-"))
        cls.way = None
        try:
            cls.way = ways(cls.program(), cls.folder)[cls.WAY]()
        except BaseException:
            shutil.rmtree(cls.folder)
            raise

    @classmethod
    def program(cls):
        return HERE / cls.PROGRAM

    @classmethod
    def tearDownClass(cls):
        if cls.WAY is None:
            return
        try:
            cls.way.close()
        finally:
            shutil.rmtree(cls.folder)

    def setUp(self):
        self.server = self.way.open()

    def tearDown(self):
        self.server.__exit__(None, None, None)
        self.assertEqual(self.server.proc.returncode, 0)


def in_every_way(case):
    """Decorates an EveryWay: adds a class per way to the module."""
    import sys
    module = sys.modules[case.__module__]
    for way in ("launcher", "unix", "tcp"):
        name = f"{case.__name__}_{way}"
        setattr(module, name, type(name, (case,), {"WAY": way, "__module__": case.__module__}))
    return case
