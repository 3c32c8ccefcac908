#!/usr/bin/env python3
"""Tuning parameters as users meet them: options, files, commands of the protocol, kenaz autotune.

    tuning_test.py KENAZ SERVER [OPTION..]     e.g. --device cpu"""
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support.server import Line, Server  # noqa: E402

KENAZ, SERVER = "", []
NAME = "scaled.enough_outer_par_0"
PROGRAM = """
-- ==
-- entry: scaled
-- input { [[1f32, 2f32], [3f32, 5f32], [4f32, 4f32]] } output { [2f32, 5f32, 4f32] }
-- random input { [2][500]f32 }
entry scaled [n][m] (xss: [n][m]f32): [n]f32 =
  map (\\xs -> let most = reduce f32.max 0 xs
              in reduce (+) 0 (map (\\x -> if x == most then most else 0) xs) / f32.i64 (i64.max 1
                   (i64.sum (map (\\x -> i64.bool (x == most)) xs)))) xss
-- ==
-- entry: twice
-- input { 2 } output { 4 }
entry twice (x: i32): i32 = 2 * x
"""
CALL = ["restore {}/in xss [][]f32", "call scaled ys xss", "free ys", "free xss"]


class Tuning(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="kenaz_test_")
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        self.env = {**os.environ, "XDG_CACHE_HOME": self.folder + "/cache"}
        self.program = self.write("p.fut", PROGRAM)
        self.write("in", "[[1f32, 2f32], [3f32, 5f32], [4f32, 4f32]]")

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def run_words(self, *words, lines=()):
        lines = "".join(line.replace("{}", self.folder) + "\n" for line in lines)
        return subprocess.run(words, input=lines, text=True, env=self.env, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def serve(self, *options, lines=CALL):
        return self.run_words(*SERVER, "--log", *options, self.program, lines=lines)

    def compared(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("%%% FAILURE", done.stdout)
        return [line for line in done.stdout.splitlines() if line.startswith("Compared")]

    def test_parameters_are_listed_with_their_classes(self):
        listed = self.run_words(SERVER[0], "--print-params", self.program)
        self.assertEqual(listed.stdout, f"{NAME} (threshold(1024,))\n")
        listed = self.run_words(SERVER[0], "--print-params", "--device", "interpreter", "--threads",
                                "4096", self.program)
        self.assertEqual(listed.stdout.splitlines()[0], f"{NAME} (threshold(4096,))")
        done = self.serve(lines=["tuning_params scaled", "tuning_params twice",
                                 f"tuning_param_class {NAME}", "tuning_params nope"])
        lines = done.stdout.splitlines()
        self.assertEqual(lines[:4], ["%%% OK", NAME, "%%% OK", "%%% OK"])
        self.assertRegex(lines[4], r"^threshold\(\d+,\)$")
        self.assertIn("Unknown entry point: nope", lines)

    def test_values_from_options_and_files_decide_at_run_time(self):
        file = self.write("a.tuning", f"-- ours\n{NAME}=3\n")
        for options, holds in [([], "false"), (["--param", NAME + "=3"], "true"),
                               (["--param", NAME + "=4"], "false"), (["--tuning", file], "true"),
                               (["--tuning", file, "--param", NAME + "=4"], "false"),
                               (["--param", NAME + "=0"], "false"),
                               (["--default-threshold", "1"], "true")]:
            self.assertEqual(self.compared(self.serve(*options)),
                             [f"Compared {NAME} <= 3: {holds}."], options)

    def test_what_is_no_parameter_or_no_value_is_told(self):
        done = self.serve("--param", "x=1")
        self.assertEqual((done.returncode, done.stderr),
                         (1, "kenaz-server: Unknown parameter: x\n"))
        self.assertEqual(self.serve("--param", NAME).returncode, 1)
        bad = self.write("bad.tuning", f"{NAME}=many\n")
        done = self.serve("--tuning", bad)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"When loading tuning file '{bad}': Invalid line 1", done.stderr)

    def test_files_of_futharks_own_are_no_error(self):
        file = self.write("foreign.tuning", "main.suff_outer_par_6=32768\nmain.tile_size_1=16\n")
        done = self.serve("--tuning", file)
        self.assertEqual(len(self.compared(done)), 1)
        self.assertIn("sets parameters that the program does not have: "
                      "main.suff_outer_par_6, main.tile_size_1", done.stderr)

    def test_the_command_sets_what_later_calls_compare_and_0_is_the_default(self):
        done = self.serve(lines=[*CALL, f"set_tuning_param {NAME} 2", *CALL,
                                 f"set_tuning_param {NAME} 0", *CALL])
        self.assertEqual(self.compared(done), [f"Compared {NAME} <= 3: {b}."
                                               for b in ("false", "true", "false")])

    def test_a_session_sets_values_for_itself_alone(self):
        server = Server([*SERVER, "--log", "--root", self.folder, self.program], env=self.env)
        one, other = Line.unix(server.path), Line.unix(server.path)
        one.request(f"set_tuning_param {NAME} 1")
        for line, holds in [(one, "true"), (other, "false"), (one, "true")]:
            line.request("restore in xss [][]f32")
            self.assertIn(f"Compared {NAME} <= 3: {holds}.", line.request("call scaled ys xss"))
            line.request("free ys xss")
        one.close()
        other.close()
        self.assertEqual(server.stop(), 0)
        server.scratch.cleanup()

    def test_the_evaluator_has_them_too(self):
        done = self.run_words(SERVER[0], "--reference", "--stage", "seg", "--param", NAME + "=1",
                              self.program, lines=["tuning_params scaled", *CALL])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("%%% FAILURE", done.stdout)
        self.assertIn(NAME, done.stdout.splitlines())

    def test_autotune_writes_a_file_that_the_tools_use(self):
        options = ["--server", *SERVER]
        done = self.run_words(KENAZ, "autotune", "--runs", "2", *options, self.program)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.program + ".tuning") as file:
            text = file.read()
        self.assertRegex(text, rf"^({NAME}=\d+|-- {NAME} is best as it is)\n$")
        tested = self.run_words(KENAZ, "test", *options, self.program)
        self.assertEqual(tested.returncode, 0, tested.stdout + tested.stderr)
        done = self.run_words(KENAZ, "autotune", "--entry-point", "twice", *options, self.program)
        self.assertIn("nothing to tune", done.stdout)


if __name__ == "__main__":
    KENAZ, SERVER = sys.argv[1], sys.argv[2:]
    unittest.main(argv=sys.argv[:1])
