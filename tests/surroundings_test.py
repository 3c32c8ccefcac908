#!/usr/bin/env python3
"""Runs a server in surroundings that it did not choose: full and closed streams, pipes and folders
where files should be, limits on files, drivers that do not come back.

    surroundings_test.py SERVER [OPTION..]     e.g. --device cpu"""
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support.server import Line, Server  # noqa: E402

SERVER = []
TIMEOUT = 120
PROGRAM = "entry numbers (n: i64): []i64 = iota n\nentry twice (x: i32): i32 = 2 * x\n"
ENDLESS = """
def never = loop x = 1i64 while x >= 0 do (x + 1) & 0xff
entry waits (n: i64): i64 = never + n
entry twice (x: i32): i32 = 2 * x
"""
# The driver compiles so many loops one after the other for minutes (other ones each time, because
# Mesa keeps what it has compiled).
SALT = random.randrange(1, 1 << 31)
SLOW = ("entry slow (n: i64): []i64 = map (\\i -> let x = i\n"
        + "".join(f"let x = loop x for j < n do x * {k + 3} + (j ^ x) % {SALT}\n" for k in range(200))
        + "in x) (iota n)\n")


class Surroundings(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="kenaz_test_")
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        self.env = {**os.environ, "XDG_CACHE_HOME": self.folder + "/cache"}

    def path(self, name):
        return os.path.join(self.folder, name)

    def program(self, text=PROGRAM, name="p.fut"):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def run_server(self, *words, lines="", **options):
        return subprocess.run([SERVER[0], *words], input=lines, text=True, env=self.env,
                              timeout=TIMEOUT, **{"stdout": subprocess.PIPE,
                                                  "stderr": subprocess.PIPE, **options})

    # ---- streams

    def test_errors_are_told_by_the_status_where_stderr_takes_nothing(self):
        bad = self.program("entry f (x: i32) = (x", "bad.fut")
        for words, status in [(["--check", bad], 2), (["--check", self.path("absent.fut")], 2),
                              (["--no-such-option"], 1)]:
            self.assertEqual(self.run_server(*words).returncode, status)
            with open("/dev/full", "w") as full:
                self.assertEqual(self.run_server(*words, stderr=full).returncode, status)
            for streams in ["2>&-", "<&- >&- 2>&-"]:
                done = subprocess.run(["bash", "-c", f'"$@" {streams}', "bash", SERVER[0], *words],
                                      env=self.env, timeout=TIMEOUT)
                self.assertEqual(done.returncode, status, (words, streams))

    def test_what_cannot_be_printed_is_a_failure(self):
        for words in [["--help"], ["--version"], ["--list-devices"],
                      ["--dump", "lowered", self.program()]]:
            self.assertEqual(self.run_server(*words).returncode, 0, words)
            with open("/dev/full", "w") as full:
                done = self.run_server(*words, stdout=full)
            self.assertEqual(done.returncode, 1, words)
            self.assertIn("No space left on device", done.stderr)
            done = subprocess.run(["bash", "-c", '"$@" >&-', "bash", SERVER[0], *words],
                                  env=self.env, stderr=subprocess.DEVNULL, timeout=TIMEOUT)
            self.assertEqual(done.returncode, 1, words)

    # ---- files

    def test_only_files_are_programs(self):
        os.mkdir(self.path("folder.fut"))
        os.mkfifo(self.path("pipe.fut"))
        for path, why in [("folder.fut", "It is a directory."), ("/dev/zero", "not a regular file"),
                          ("pipe.fut", "not a regular file"), ("/proc/self/mem", "Input/output")]:
            done = self.run_server("--check", os.path.join(self.folder, path))
            self.assertEqual(done.returncode, 2, path)
            self.assertIn(why, done.stderr)
        done = self.run_server("--check", self.program('import "pipe"\n' + PROGRAM))
        self.assertEqual(done.returncode, 2)
        self.assertIn("not a regular file", done.stderr)

    def test_only_files_are_tuning_files(self):
        done = self.run_server("--tuning", "/dev/zero", self.program())
        self.assertEqual(done.returncode, 1)
        self.assertIn("not a regular file", done.stderr)

    def test_a_limit_on_files_fails_the_command_only(self):
        def limited():
            resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))

        with open(self.path("n"), "w") as file:
            file.write("100000i64 4i32")
        done = self.run_server(*SERVER[1:], self.program(), preexec_fn=limited, lines="\n".join([
            f"restore {self.path('n')} n i64 x i32", "call numbers xs n",
            f"store {self.path('out')} xs", "call twice y x", f"store {self.path('out2')} y"]))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("%%% FAILURE"), 1, done.stdout)
        self.assertIn("File too large", done.stdout)
        self.assertTrue(os.path.getsize(self.path("out2")))

    # ---- constants and compilers that take their time

    def test_constants_have_the_time_of_a_call(self):
        with open(self.path("n"), "w") as file:
            file.write("1i64 4i32")
        done = self.run_server(*SERVER[1:], "--call-timeout", "0.5", self.program(ENDLESS),
                               lines="\n".join([f"restore {self.path('n')} n i64 x i32",
                                                "call waits y n", "call twice y x"]))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("%%% FAILURE"), 1, done.stdout)
        self.assertIn("--call-timeout", done.stdout)
        self.assertIn("a top-level constant cannot be computed", done.stderr)

    def test_sigterm_ends_a_server_that_computes_constants(self):
        process = subprocess.Popen([*SERVER, "--listen", "unix://" + self.path("socket"),
                                    self.program(ENDLESS)], env=self.env, stderr=subprocess.DEVNULL)
        time.sleep(1)
        process.terminate()
        self.assertEqual(process.wait(20), -signal.SIGTERM)

    def test_sigterm_does_not_wait_for_the_drivers_compiler(self):
        server = Server([*SERVER, "--drain-timeout", "0", self.program(SLOW)], listen=(),
                        env=self.env)
        client = Line.unix(server.path)
        client.upload("n", "i64", b"b\x02\x00 i64" + (2).to_bytes(8, "little"))
        client.send("call slow y n\n")
        time.sleep(1)
        start = time.monotonic()
        self.assertEqual(server.stop(), 0)
        self.assertLess(time.monotonic() - start, 20)  # on a busy machine, sanitized
        self.assertFalse(os.path.exists(server.path))
        client.close()
        server.scratch.cleanup()


if __name__ == "__main__":
    SERVER = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
