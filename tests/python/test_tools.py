"""kenaz dataset, datacmp and shell; and what all subcommands have in common."""
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import futhark_data
import numpy as np

from support import DEVICE, HERE, KENAZ, Socket


class Tools(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="kenaz-python-"))

    def tearDown(self):
        shutil.rmtree(self.folder)

    def kenaz(self, *words, stdin=b"", code=0):
        done = subprocess.run([KENAZ, *words], cwd=self.folder, input=stdin, capture_output=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout

    def test_generated_data(self):
        data = self.kenaz("dataset", "-b", "--i16-bounds=-5:5", "-g", "[100][3]i16", "-g", "f32",
                          "--text", "-g", "7u8", "-t", "-g", "[2]bool")
        self.assertTrue(data.endswith(b"7u8\n[2]bool\n"))
        path = self.folder / "data"
        path.write_bytes(data[:-len(b"7u8\n[2]bool\n")])
        with open(path, "rb") as f:
            xs, x = futhark_data.load(f)
        self.assertEqual((xs.shape, xs.dtype, x.dtype), ((100, 3), np.int16, np.float32))
        self.assertEqual((xs.min(), xs.max()), (-5, 5))
        self.assertEqual(data, self.kenaz("dataset", "-s1", "-b", "--i16-bounds=-5:5", "-g",
                                          "[100][3]i16", "-gf32", "--text", "-g", "7u8", "-t", "-g",
                                          "[2]bool"))
        self.assertNotEqual(self.kenaz("dataset", "-s2", "-gi64"), self.kenaz("dataset", "-gi64"))
        for wrong in (["-g", "nothing"], ["--i8-bounds=3:1"], ["word"], ["--nonsense"]):
            self.assertEqual(self.kenaz("dataset", *wrong, code=1), b"")

    def test_converted_data(self):
        text = b"[[1i8, 2i8], [3i8, 4i8]]\n-f32.inf\ntrue\n"
        binary = self.kenaz("dataset", "--binary", stdin=text)
        self.assertEqual(binary[:7], b"b\x02\x02  i8")
        self.assertEqual(self.kenaz("dataset", stdin=binary), text)
        self.assertEqual(self.kenaz("dataset", "-t", stdin=binary), b"[2][2]i8\nf32\nbool\n")
        self.kenaz("dataset", stdin=b"[1, 2", code=1)

    def test_compared_data(self):
        for name, text in {"a": "[1.0, 2.0]", "b": "[1.001, 2.0]", "c": "[1.1, 2.0]"}.items():
            (self.folder / name).write_text(text)
        self.assertEqual(self.kenaz("datacmp", "a", "b"), b"")
        self.assertNotEqual(self.kenaz("datacmp", "a", "c", code=2), b"")
        self.kenaz("datacmp", "a", "none", code=1)
        self.kenaz("datacmp", "a", code=1)

    SCRIPT = b"""let xs = [1, 2, 3]
call increment ys xs
print ys
store file ys
restore file zs []i32
print zs
let m = 1.5f32
let x = 2.0
call particle p m x
print p
let m = 7i32
let two = 2i32
call divide t m two
print t
quit
nonsense
"""

    def test_shell(self):
        options = ["-d", DEVICE, HERE / "values.fut"]
        wanted = ("runtime: N\n[2i32, 3i32, 4i32]\n[2i32, 3i32, 4i32]\nruntime: N\n"
                  "{at = [2f64, 3f64, 4f64], mass = 1.5f32}\nruntime: N\n(3i32, 1i32)\n")
        def normal(text):
            return re.sub(r"runtime: \d+", "runtime: N", text.decode())
        self.assertEqual(normal(self.kenaz("shell", *options, stdin=self.SCRIPT)), wanted)
        (self.folder / "file").unlink()
        server = Socket(HERE / "values.fut", self.folder, f"unix://{self.folder}/socket")
        try:
            remote = ["shell", server.url, "--token-file", "token"]
            self.assertEqual(normal(self.kenaz(*remote, stdin=self.SCRIPT)), wanted)
            self.assertTrue((self.folder / "file").exists())
        finally:
            server.close()

    def test_shell_calls_plots_and_pictures(self):
        (self.folder / "p.fut").write_text(
            "entry twice (x: i32): i32 = 2 * x\n"
            "entry ramp (n: i64) (by: f32): []f32 = map (\\i -> by * f32.i64 i) (iota n)\n"
            "entry grey (n: i64): [][]f32 = tabulate_2d n n (\\i j -> f32.i64 (i + j) / 8)\n"
            "entry total (xs: []f32): f32 = f32.sum xs\n")
        script = (b"twice 4\ntwice (twice 4)\nramp 3 0.5\nlet xs = ramp 200 0.5\nprint xs\n"
                  b"total xs\nlet xs = ramp 3 1\nplot xs\ntotal [1f32, 2]\nlet g = grey 4\n"
                  b"png g g.png\nvars\n")
        wanted = ("8i32\n16i32\n[0f32, 0.5f32, 1f32]\n"
                  "[0f32, 0.5f32, 1f32, ..., 98.5f32, 99f32, 99.5f32]\n"
                  "[200]f32: 0 .. 99.5, mean 49.75, standard deviation 28.8672\n9950f32\n"
                  "2 |  *\n" + 4 * "  |\n" + "  | *\n" + 5 * "  |\n" + "0 |*\n  +---\n"
                  "[3]f32: 0 .. 2, mean 1, standard deviation 0.816497\n3f32\n"
                  "g [][]f32 64\nxs []f32 12\n")
        options = ["shell", "-d", DEVICE, "p.fut"]
        self.assertEqual(self.kenaz(*options, stdin=script).decode(), wanted)
        self.assertTrue((self.folder / "g.png").read_bytes().startswith(b"\x89PNG"))
        done = self.kenaz(*options, code=1, stdin=b"twice\ntwice 1.5\ntwice nosuch\nplot\nvars\n"
                          b"twice {1}\nlet x = twice true\nlet y = twice (ramp 1 1)\nvars\n")
        self.assertEqual(done.count(b"error: "), 7, done)
        self.assertNotIn(b"_", done)

    SHAPES = """type point = {x: f64, y: f32}
type~ shape = #circle point f64 | #polygon ([]f32) | #nothing
entry norm (p: point): f64 = p.x * p.x + f64.f32 p.y
entry swap (p: (i32, bool)): (bool, i32) = (p.1, p.0)
entry area (s: shape): f64 =
  match s case #circle _ r -> r * r case #polygon xs -> f64.f32 (f32.sum xs) case #nothing -> -1
entry both (a: {x: i32, y: i32}) (b: {x: i64, y: i64}): i64 = i64.i32 a.x + b.y
entry line (a: point) (b: point): {from: point, to: point} = {from = a, to = b}
"""

    def test_shell_records_tuples_and_sums(self):
        (self.folder / "p.fut").write_text(self.SHAPES)
        conversation = [
            ("let r = {x = 1, y = 2.0f32}", ""), ("print r", "{x = 1f64, y = 2f32}"),
            ("norm r", "3f64"), ("r.x", "1f64"), ("let c = r.y", ""), ("print c", "2f32"),
            ("norm {y = 3, x = 2}", "7f64"), ("norm {x = r.x, y = c}", "3f64"),
            ("{y = c, x = norm r}", "{x = 3f64, y = 2f32}"),
            ("let t = (5, false)", ""), ("swap t", "(false, 5i32)"), ("(swap (1, true)).1", "1i32"),
            ("let s = #circle {x = 1, y = 1} 3", ""),
            ("print s", "#circle {x = 1f64, y = 1f32} 3f64"), ("area s", "9f64"),
            ("area #nothing", "-1f64"), ("area (#polygon [1.0, 2.5])", "3.5f64"),
            ("#circle r 2", "#circle {x = 1f64, y = 2f32} 2f64"),
            ("let q: {x: i64, y: i64} = {x = 1, y = 2}", ""), ("both {x = 40, y = 0} q", "42i64"),
            ("let l = line r {x = 0, y = 0}", ""), ("l.from.y", "2f32"),
            ("let l = {from = l.to, to = r}", ""),
            ("print l", "{from = {x = 0f64, y = 0f32}, to = {x = 1f64, y = 2f32}}"),
            ("let b: i64 = 5", ""), ("print b", "5i64"),
            ("let w = {x = 1, y = 2}", "error: say which type this has, as in `let NAME: point = "
             "..`: point, {x: i32, y: i32}, {x: i64, y: i64}"),
            ("{z = 1}",
             "error: no type of the program's entry points has this value (see `types`)"),
            ("norm {x = 1}", "error: a record with other fields is given for point"),
            ("norm (1, 2)", "error: a tuple of 2 is given for point"),
            ("swap (1, 2)", "error: the script gives a value of type i32 for bool"),
            ("r.z", "error: point has no field z"), ("c.x", "error: f32 has no field x"),
            ("nosuch.x", "error: Unknown variable: nosuch"),
            ("area #square", "error: shape has no constructor #square"),
            ("area (#circle r)", "error: #circle takes 2 values, but 1 are given"),
            ("let w: i64 = 1.5", "error: the script gives a value of type f64 for i64"),
            ("let w: = 5", "error: let NAME = VALUE, for instance: let xs = [1f32, 2, 3]"),
            ("let w: point = r", "error: r is no entry point; if it is a variable, `print` shows "
             "it and `rename` gives it another name"),
            ("{x = 1", "error: script, at '': expected '}'"),
            ("vars", "b i64 8\nc f32 4\nl \"{from: point, to: point}\" 24\n"
             "q \"{x: i64, y: i64}\" 16\nr point 12\ns shape 21\nt \"(i32, bool)\" 5")]
        script = "".join(line + "\n" for line, _ in conversation)
        wanted = "".join(answer + "\n" for _, answer in conversation if answer)
        done = self.kenaz("shell", "-d", DEVICE, "p.fut", stdin=script.encode(), code=1)
        self.assertEqual(done.decode(), wanted)

    def test_shell_constants(self):
        (self.folder / "p.fut").write_text(
            "entry long (x: i64) = x\nentry byte (x: i8) = x\nentry real (x: f32) = x\n"
            "entry bytes (xs: [][]u8) = xs\nentry count (xs: []f32) = length xs\n"
            "entry sum (p: {a: i8, b: i64}) = i64.i8 p.a + p.b\n")
        large = "error: the script gives {0} for {1}: line 1, column {2}: {3} does not fit in {4}"
        conversation = [
            ("long 3000000000", "3000000000i64"), ("long 0xf16", "3862i64"),
            ("byte 300", large.format("300", "i8", 1, "300", "i8")), ("byte -128", "-128i8"),
            ("bytes [[256, 1]]", large.format("[[256, 1]]", "[][]u8", 3, "256", "u8")),
            ("let v: i8 = 300", large.format("300", "i8", 1, "300", "i8")),
            ("sum {a = 1, b = 3000000000}", "3000000001i64"),
            ("sum {a = 300, b = 1}", large.format("300", "i8", 1, "300", "i8")),
            ("real f32.inf", "f32.inf"), ("real (f32.nan)", "f32.nan"), ("real 0xf16", "3862f32"),
            ("count empty([0]f32)", "0i64"), ("count [1, f32.inf]", "2i64"),
            ("let x = f32.inf", ""), ("real x", "f32.inf")]
        script = "".join(line + "\n" for line, _ in conversation)
        wanted = "".join(answer + "\n" for _, answer in conversation if answer)
        done = self.kenaz("shell", "--reference", "p.fut", stdin=script.encode(), code=1)
        self.assertEqual(done.decode(), wanted)

    def test_shell_on_a_terminal(self):
        (self.folder / "p.fut").write_text("entry same (xs: []u8) = xs\n"
                                           "entry wait (n: i64) = loop x = n for i < n do x * 3 + i\n")
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(self.folder)
            os.execve(KENAZ, [KENAZ, "shell", "--reference", "--history", "history", "p.fut"],
                      os.environ | {"LC_ALL": "C.UTF-8", "TERM": "xterm"})
        self.addCleanup(os.close, terminal)

        def ask(keys, answer):
            """What is shown up to the answer."""
            os.write(terminal, keys.encode())
            text, end = b"", time.monotonic() + 60
            while answer.encode() not in text:
                ready, _, _ = select.select([terminal], [], [], end - time.monotonic())
                self.assertTrue(ready, (keys, text))
                text += os.read(terminal, 65536)
            return text

        ask("", "kenaz> ")
        ask("let x = 5\n", "kenaz> ")
        ask("no command", "command")
        ask("\x03", "kenaz> ")  # the line is gone, what there was is not, and the server neither
        ask("print x\n", "5i32\r\nkenaz> ")
        ask("same \"\u00e4\"\n", "[195u8, 164u8]\r\nkenaz> ")
        self.assertIn("print", (self.folder / "history").read_text())
        ask("wait 1000000000000\n", "\r\n")
        time.sleep(0.2)
        os.write(terminal, b"\x03")  # a call ends with the shell
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), -signal.SIGINT)
        self.assertIn("wait", (self.folder / "history").read_text())

    def test_shell_mistakes(self):
        # The lines without words at its end are no mistakes.
        script = (b"let x\nlet x = \nprint\nprint none\nlet x = [1,\nnonsense\ndownload x\n"
                  b"\n\r\n \t\v\f\n\"\n")
        done = self.kenaz("shell", "--reference", HERE / "values.fut", stdin=script, code=1)
        self.assertEqual(done.count(b"error: "), 7)
        self.assertIn(b"Unknown variable: none", done)
        self.assertIn(b"let NAME = VALUE", self.kenaz("shell", "--reference", HERE / "values.fut",
                                                     stdin=b"help\n"))

    def test_full_disks(self):
        """What cannot be written is an error, and nothing stays behind."""
        (self.folder / "a").write_text("1")
        (self.folder / "b").write_text("2")
        (self.folder / "test.fut").write_text(
            "-- ==\n-- input { 1 } output { 1 }\nentry main (x: i32): i32 = x\n")
        (self.folder / "tmp").mkdir()
        (self.folder / "iota.fut").write_text("entry main (n: i64): []i64 = iota n\n")
        run = ["run", "--reference", "iota.fut"]
        shell = ["shell", "--reference", "iota.fut"]
        for words, stdin, code in [
                (run, b"5i64", 1),  # fails when it is flushed; the next one before
                (run, b"100000i64", 1), ([*run, "-b"], b"5i64", 1), ([*run, "-b"], b"100000i64", 1),
                (["test", "--reference", "test.fut"], b"", 1),
                (["bench", "--reference", "-r1", "--no-convergence-phase", "test.fut"], b"", 1),
                (["dataset", "-g", "i32"], b"", 1), (["dataset", "-g", "[100000]i32"], b"", 1),
                (["dataset", "-t"], b"1 2", 1), (["dataset", "-b"], b"1 2", 1),
                (["datacmp", "a", "b"], b"", 2), (shell, b"types\nhelp\n", 1),
                (["--help"], b"", 1), (["dataset", "--help"], b"", 1)]:
            with self.subTest(words=words, stdin=stdin), open("/dev/full", "wb") as full:
                done = subprocess.run([KENAZ, *words], cwd=self.folder, input=stdin, stdout=full,
                                      stderr=subprocess.PIPE,
                                      env=os.environ | {"TMPDIR": str(self.folder / "tmp")})
                self.assertEqual(done.returncode, code, done.stderr)
                if code == 1:
                    self.assertIn(b"No space left on device", done.stderr)
                self.assertEqual(list((self.folder / "tmp").iterdir()), [])


if __name__ == "__main__":
    unittest.main()
