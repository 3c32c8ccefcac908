"""The subcommands of kenaz as a person meets them: what is refused, what is said, and where."""
import os
import pathlib
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from terminal import on_terminal  # noqa: E402

BIN = pathlib.Path(os.environ["KENAZ_BIN"])
DEVICE = os.environ.get("KENAZ_TEST_DEVICE", "cpu")
WRONG = "entry main (x: i32): i32 = y\n"
WRONG_TEXT = """Error at wrong.fut:1:28-29:
Unknown name "y".

  1 | entry main (x: i32): i32 = y
    |                            ^
"""


class Commands(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="kenaz-commands-"))
        (self.folder / "tmp").mkdir()
        self.env = os.environ | {"TMPDIR": str(self.folder / "tmp"), "TERM": "xterm",
                                 "XDG_CACHE_HOME": str(self.folder / "cache")}
        self.env.pop("NO_COLOR", None)

    def tearDown(self):
        shutil.rmtree(self.folder)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def run_words(self, *words, stdin="", **more):
        return subprocess.run(words, cwd=self.folder, env=self.env, input=stdin, text=True,
                              capture_output=True, timeout=300, **more)

    def kenaz(self, *words, stdin="", code=0):
        done = self.run_words(BIN / "kenaz", *words, stdin=stdin)
        self.assertEqual(done.returncode, code, (words, done.stdout, done.stderr))
        return done

    def on_terminal(self, *words, stdin=subprocess.DEVNULL):
        """What a command writes whose standard output and error are a terminal."""
        return on_terminal(words, stderr=True, cwd=self.folder, env=self.env, stdin=stdin)[1]

    def test_diagnostics_show_the_text(self):
        self.write("wrong.fut", WRONG)
        self.assertEqual(self.kenaz("check", "wrong.fut", code=2).stderr, WRONG_TEXT)
        # Neither the client nor anybody else has to add anything.
        self.assertEqual(self.kenaz("run", "--reference", "wrong.fut", code=1).stderr, WRONG_TEXT)
        self.assertEqual(self.kenaz("bench", "--reference", "wrong.fut", code=0).stderr, "")
        tested = self.kenaz("test", "--reference", "wrong.fut", code=1).stdout
        self.assertIn("FAIL wrong.fut\n  " + WRONG_TEXT.replace("\n", "\n  ").rstrip() + "\n",
                      tested.replace("\n  \n", "\n\n").replace("\n\n", "\n  \n"))
        self.write("wrong.fut", "-- ==\n-- input { 1 }\n" + WRONG)
        self.assertIn("    |                            ^\n",
                      self.kenaz("bench", "--reference", "wrong.fut", code=1).stderr)
        done = self.run_words(BIN / "kenaz-server", "wrong.fut")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("    |                            ^\n", done.stderr)

    def test_refusals_of_later_stages_show_the_text(self):
        self.write("power.fut", "def f (x: f64) (n: i64): f64 = if n == 0 then 1 else x * f x (n - 1)\n"
                                "entry main (x: f64) = jvp (\\y -> f y 3) x 1\n")
        text = self.kenaz("check", "power.fut", code=2).stderr
        self.assertIn("the derivative of a function that calls itself is not supported", text)
        self.assertIn("  2 | entry main (x: f64) = jvp (\\y -> f y 3) x 1\n"
                      "    |                                  ^^^^^\n", text)

    def test_colours_on_terminals_only(self):
        self.write("wrong.fut", "-- ==\n-- input { 1 }\n" + WRONG)
        for words in (["check"], ["run", "--reference"], ["test", "--reference"],
                      ["bench", "--reference"]):
            with self.subTest(words=words):
                words = [BIN / "kenaz", *words, "wrong.fut"]
                self.assertIn("\x1b[1;31mError\x1b[0m at wrong.fut:3:28-29:",
                              self.on_terminal(*words))
                self.assertNotIn("\x1b", self.run_words(*words).stdout)
                self.assertNotIn("\x1b", self.run_words(*words).stderr)
                self.env["NO_COLOR"] = "1"
                text = self.on_terminal(*words).replace("\x1b[K", "")  # progress
                self.assertNotIn("\x1b", text)
                self.assertIn("Error at wrong.fut:3:28-29:", text)
                del self.env["NO_COLOR"]

    def test_check_of_what_no_server_could_load(self):
        self.write("calls.fut", "def f (x: f64) (n: i64): f64 = if n == 0 then 1 else x * f x (n - 1)\n"
                                "entry main (x: f64) = jvp (\\y -> f y 3) x 1\n")
        self.assertIn("calls.fut:2:", self.kenaz("check", "calls.fut", code=2).stderr)
        self.kenaz("check", "--types-only", "calls.fut")
        self.kenaz("vulkan", "calls.fut", code=2)
        self.assertFalse((self.folder / "calls").exists())

    def test_check_of_folders_and_several_files(self):
        self.write("good.fut", "import \"lib/part\"\nentry main = part\n")
        self.write("lib/part.fut", "def part = 1i32\n")
        self.assertEqual(self.kenaz("check", ".", "good.fut").stderr, "")
        self.write("lib/wrong.fut", WRONG)
        text = self.kenaz("check", "lib", "good.fut", code=2).stderr
        self.assertIn("Error at lib/wrong.fut:1:28-29:", text)
        self.assertTrue(text.endswith("kenaz: 1 of 3 programs are rejected\n"), text)
        (self.folder / "empty").mkdir()
        self.kenaz("check", "empty", code=1)
        self.kenaz("check", "none.fut", code=1)

    def test_folders_are_no_programs(self):
        (self.folder / "dir").mkdir()
        self.assertIn("is a directory", self.kenaz("run", "dir", code=1).stderr)
        self.assertIn("is a directory", self.kenaz("vulkan", "dir", "-o", "x", code=2).stderr)
        self.assertFalse((self.folder / "x").exists())
        for folder, name in ((".", "."), ("dir/..", "."), ("..", "..")):
            for command, code in (("run", 1), ("explain", 2)):
                self.assertIn(f'Could not read file "{name}": It is a directory.',
                              self.kenaz(command, folder, code=code).stderr)

    def test_warnings(self):
        self.write("trace.fut", "-- ==\n-- input { 1 } output { 1 }\n"
                                "entry main (x: i32): i32 = #[trace] x\n")
        warning = "Warning at trace.fut:3:30-35:\nThe attribute \"trace\" has no effect"
        self.assertIn(warning, self.kenaz("check", "trace.fut").stderr)
        self.assertIn(warning, self.kenaz("check", "trace.fut").stderr)  # out of the cache
        self.assertEqual(self.kenaz("check", "-w", "trace.fut").stderr, "")
        self.assertEqual(self.kenaz("check", "-W", "trace.fut").stderr, "")
        self.assertIn("treated as errors",
                      self.kenaz("check", "--Werror", "trace.fut", code=2).stderr)
        self.assertIn(warning, self.kenaz("run", "--reference", "trace.fut", stdin="1").stderr)
        self.assertIn("WARNING trace.fut\n", self.kenaz("test", "--reference", "trace.fut").stdout)
        self.assertNotIn("WARN", self.kenaz("test", "-w", "--reference", "trace.fut").stdout)

    def test_tuning_files_of_futhark(self):
        self.write("t.fut", "-- ==\n-- input { 1 } output { 1 }\nentry main (x: i32): i32 = x\n")
        self.write("t.fut.tuning", "default_threshold=1\nmain.b=2\nmain.c=3\nmain.d=4\n")
        warning = ("t.fut.tuning sets parameters that the program does not have: "
                   "default_threshold, main.b, main.c and 1 more\n")
        text = self.kenaz("test", "--reference", "t.fut").stdout
        self.assertEqual(text.count(warning), 1)
        self.assertIn("1 of 1 programs passed", text)
        self.assertNotIn("tuning", self.kenaz("test", "--no-tuning", "--reference", "t.fut").stdout)
        self.kenaz("bench", "-r1", "--no-convergence-phase", "--reference", "t.fut")
        self.write("t.fut.tuning", "nonsense\n")
        self.kenaz("test", "--reference", "t.fut", code=1)

    def test_bench_looks_at_results(self):
        self.write("b.fut", "-- ==\n-- input { 1i32 } output { 7i32 }\n-- input { 2i32 }\n"
                            "-- a_long_name input { 3i32 } output { 3i32 }\n"
                            "entry main (x: i32): i32 = x\n")
        text = self.kenaz("bench", "-r2", "--no-convergence-phase", "--reference", "b.fut", "--json",
                          "json", code=1).stdout
        self.assertIn("a wrong result: expected 7i32, got 1i32", text)
        rows = [line for line in text.splitlines() if line.startswith("  main")]
        self.assertEqual(len(rows), 3)
        self.assertEqual(len(rows[1]), len(rows[2]))  # columns
        self.assertEqual(len(text.splitlines()[1]), len(rows[1]))
        self.assertIn("a wrong result", (self.folder / "json").read_text())

    def test_the_only_entry_point(self):
        self.write("one.fut", "entry twice (x: i32): i32 = x * 2\n")
        self.assertEqual(self.kenaz("run", "--reference", "one.fut", stdin="4").stdout, "8i32\n")
        self.write("two.fut", "entry twice (x: i32): i32 = x * 2\nentry main (x: i32): i32 = x\n")
        self.assertEqual(self.kenaz("run", "--reference", "two.fut", stdin="4").stdout, "4i32\n")
        text = self.kenaz("run", "--reference", "two.fut", "-e", "twcie", code=1).stderr
        self.assertIn("Did you mean 'twice'?", text)
        self.write("none.fut", "def x = 1i32\n")
        self.assertEqual(self.kenaz("run", "--reference", "none.fut", code=1).stderr,
                         "kenaz: The program has no entry points.\n")

    def test_standard_input_holds_the_arguments_only(self):
        self.write("none.fut", "entry main: i32 = 5\n")
        self.write("one.fut", "entry main (x: i32): i32 = x\n")
        for program, stdin, code, message in [
                ("none.fut", "", 0, ""),
                ("none.fut", "ab", 0, ""),
                ("one.fut", "1 2", 1, "standard input has more than the 1 values"),
                ("one.fut", "1 ab", 1, 'standard input: line 1, column 3: "ab" is not a value')]:
            with self.subTest(program=program, stdin=stdin):
                done = self.kenaz("run", "--reference", program, stdin=stdin, code=code)
                self.assertIn(message, done.stderr)
        # Nobody types the end of what is not asked for.
        ours, theirs = pty.openpty()
        self.assertIn("5i32", self.on_terminal(BIN / "kenaz", "run", "--reference", "none.fut",
                                               stdin=theirs))
        os.close(theirs)
        os.close(ours)

    def test_timeouts(self):
        self.write("t.fut", "-- ==\n-- input { 1 } output { 1 }\nentry main (x: i32): i32 = x\n")
        for seconds in ("1e10", "1e300", "inf"):
            self.kenaz("test", "--reference", "--timeout", seconds, "t.fut")
        for words in (["test", "--timeout", "nan"], ["test", "--timeout", "-1"],
                      ["bench", "--timeout", "nan"], ["autotune", "--call-timeout", "nan"],
                      ["shell", "--connect-timeout", "-1"]):
            self.assertIn("is no number of seconds", self.kenaz(*words, "t.fut", code=2).stderr)

    def test_entry_points_of_tests(self):
        self.write("t.fut", "-- ==\n-- entry: a\n-- input { 1 } output { 1 }\n"
                            "-- ==\n-- entry: b\n-- input { 1 } output { 2 }\n"
                            "entry a (x: i32) = x\nentry b (x: i32) = x\n")
        self.assertIn("t.fut:6: b #0", self.kenaz("test", "--reference", "t.fut", code=1).stdout)
        self.assertIn("1 of 1 runs", self.kenaz("test", "--reference", "-e", "a", "t.fut").stdout)

    def test_a_reader_that_leaves(self):
        self.write("iota.fut", "entry main (n: i64): []i64 = iota n\n")
        process = subprocess.Popen([BIN / "kenaz", "run", "--reference", "iota.fut"],
                                   cwd=self.folder, env=self.env, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdin.write(b"1000000i64")
        process.stdin.close()
        process.stdout.read(10)
        process.stdout.close()
        self.assertEqual(process.stderr.read(), b"")
        process.stderr.close()
        self.assertEqual(process.wait(), -13)  # SIGPIPE, as for any program
        self.assertEqual(list((self.folder / "tmp").iterdir()), [])

    def test_signals_leave_no_files(self):
        self.write("endless.fut", "-- ==\n-- input { 1000000000000i64 }\n"
                                  "entry main (n: i64) = loop x = n for i < n do x * 3 + i\n")
        (self.folder / "values").write_text("1000000000000i64")
        made = self.folder / "tmp"
        for number, command in ((signal.SIGINT, "run"), (signal.SIGTERM, "run"),
                                (signal.SIGHUP, "test"), (signal.SIGINT, "bench")):
            with self.subTest(number=number, command=command), \
                    open(self.folder / "values") as values:
                process = subprocess.Popen([BIN / "kenaz", command, "--reference", "endless.fut"],
                                           cwd=self.folder, env=self.env, stdin=values,
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                end = time.monotonic() + 60
                while not list(made.iterdir()) and time.monotonic() < end:
                    time.sleep(0.02)
                time.sleep(0.5)  # the call runs
                process.send_signal(number)
                self.assertEqual(process.communicate(timeout=60)[1], b"")
                self.assertEqual(process.returncode, -number)
                self.assertEqual(list(made.iterdir()), [])

    def test_launchers_whose_program_is_gone(self):
        self.write("one.fut", "entry main (x: i32): i32 = x\n")
        self.kenaz("vulkan", "one.fut")
        (self.folder / "one.fut").rename(self.folder / "other.fut")
        done = self.run_words("./one", stdin="1")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("/one.fut: No such file or directory\nThis launcher only names", done.stderr)

    def test_help(self):
        self.assertIn("  datacmp  ", self.kenaz("--help").stdout)
        for words in (["check"], ["connect"], ["test"]):
            self.assertNotIn("datacmp", self.kenaz(*words, "--help").stdout)
        self.assertIn("Usage: kenaz connect [OPTIONS] URL", self.kenaz("connect", "--help").stdout)
        self.assertIn("--tolerance", self.kenaz("datacmp", "--help").stdout)

    def test_unknown_subcommands(self):
        self.assertEqual(self.kenaz("tset", code=2).stderr,
                         "kenaz: there is no subcommand tset; did you mean test?\n"
                         "Run kenaz --help for the list.\n")
        done = self.kenaz("man", "--help", code=2)
        self.assertIn("there is no subcommand man", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_tolerance(self):
        self.write("a", "[1.0, 2.0]")
        self.write("b", "[1.1, 2.2]")
        self.assertIn("greatest error 0.2", self.kenaz("datacmp", "a", "b", code=2).stdout)
        self.kenaz("datacmp", "--tolerance", "0.1", "a", "b")
        self.kenaz("datacmp", "--tolerance=-1", "a", "b", code=1)
        self.kenaz("datacmp", "--tolerance=x", "a", "b", code=1)


if __name__ == "__main__":
    unittest.main()
