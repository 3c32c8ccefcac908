"""kenaz vulkan's launchers and their command lines."""
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from support import BIN, DEVICE, HERE, KENAZ, Socket


class Launchers(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="kenaz python '"))
        shutil.copy(HERE / "values.fut", self.folder)

    def tearDown(self):
        shutil.rmtree(self.folder)

    def run_in(self, *words, stdin=""):
        return subprocess.run(words, cwd=self.folder, input=stdin, capture_output=True, text=True)

    def compile(self, *options, program="values.fut"):
        return self.run_in(KENAZ, *options, program)

    def test_servers(self):
        self.assertEqual(self.compile("vulkan", "--server").returncode, 0)
        done = self.run_in("./values", "--log", "--dev", DEVICE, "--default-threshold", "7",
                           stdin="inputs element\n")
        self.assertEqual(done.stdout, "%%% OK\n[]i32\ni64\n%%% OK\n")
        self.assertEqual(done.returncode, 0)
        for wrong in (["--nonsense"], ["positional"], ["-b"], ["--default"]):
            done = self.run_in("./values", *wrong)
            self.assertEqual((done.returncode, done.stdout), (1, ""), wrong)
            self.assertIn("Usage: ./values", done.stderr)
        done = self.run_in("./values", "--param", "nothing=1")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("Unknown parameter: nothing", done.stderr)
        self.assertEqual(self.run_in("./values", "--print-params").returncode, 0)
        self.assertIn("--cache-file=FILE", self.run_in("./values", "-h").stdout)

    def test_executables(self):
        self.assertEqual(self.compile("vulkan", "-w", "-o", "run").returncode, 0)
        done = self.run_in("./run", "-d", DEVICE, "-e", "increment", stdin="[1, 2, 3]")
        self.assertEqual((done.stdout, done.returncode), ("[2i32, 3i32, 4i32]\n", 0))
        done = self.run_in("./run", "-d", DEVICE, "-edivide", "-r", "3", "-t", "times",
                           stdin="7 2 -- a comment")
        self.assertEqual(done.stdout, "3i32\n1i32\n")
        self.assertEqual(len((self.folder / "times").read_text().split()), 3)
        done = self.run_in("./run", "-d", DEVICE, "-e", "halve", stdin="3")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("Assertion is false", done.stderr)
        done = self.run_in("./run", "-n", "-d", DEVICE, "-e", "halve", stdin="4")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertEqual(self.run_in("./run").returncode, 1)  # there is no main

    def test_reference(self):
        self.assertEqual(self.compile("c", "-o", "run").returncode, 0)
        done = self.run_in("./run", "-e", "total", stdin="[1, 2, 3]")
        self.assertEqual((done.stdout, done.returncode), ("6i64\n", 0))

    def test_rejected_programs(self):
        (self.folder / "bad.fut").write_text("entry main: i32 = nothing\n")
        for command in (["vulkan"], ["c", "--server"], ["check"]):
            done = self.compile(*command, program="bad.fut")
            self.assertEqual(done.returncode, 2)
            self.assertIn('Unknown name "nothing"', done.stderr)
        self.assertFalse((self.folder / "bad").exists())
        self.assertEqual(self.compile("vulkan", "--library").returncode, 1)
        self.assertEqual(self.compile("vulkan", "--nonsense").returncode, 1)

    def test_the_bridge_fails_where_there_is_no_server(self):
        done = self.run_in(KENAZ, "connect", "unix:///nonexistent/socket")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("cannot connect to /nonexistent/socket", done.stderr)
        self.assertEqual(self.run_in(KENAZ, "connect", "./program").returncode, 2)

    def test_the_bridge_without_the_token(self):
        server = Socket(self.folder / "values.fut", self.folder, "tcp://127.0.0.1:0")
        try:
            (self.folder / "wrong").write_text("guess")
            done = self.run_in(KENAZ, "connect", server.url, "--token-file", "wrong")
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            done = self.run_in(KENAZ, "connect", "--ignore-arguments", "./prog", "-L", server.url,
                               "--token-file", "token", stdin="inputs total\n")
            self.assertEqual(done.stdout, "%%% OK\n[]i64\n%%% OK\n", done.stderr)
        finally:
            server.close()

    def test_named_sessions(self):
        server = Socket(self.folder / "values.fut", self.folder, "unix://%s/s" % self.folder)
        try:
            (self.folder / "five").write_text("5")
            connect = [KENAZ, "connect", server.url, "--token-file", "token"]
            self.run_in(*connect, "--session", "mine", stdin="restore five x i32\n")
            done = self.run_in(*connect, "--session", "mine", stdin="type x\n")
            self.assertEqual(done.stdout, "%%% OK\ni32\n%%% OK\n")
            done = self.run_in(*connect, stdin="type x\n")
            self.assertIn("Unknown variable: x", done.stdout)
        finally:
            server.close()


if __name__ == "__main__":
    unittest.main()
