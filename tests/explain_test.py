#!/usr/bin/env python3
"""kenaz explain, as people and tools meet it: docs/explain.md.

    explain_test.py KENAZ SERVER [OPTION..]     e.g. --device cpu"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

KENAZ, SERVER = "", []
PROGRAM = """
entry sums [n][m] (xss: [n][m]f32): [n]f32 =
  map (\\xs -> let s = reduce (+) 0 xs in reduce f32.max 0 (map (/ s) xs)) xss
entry swap (xs: *[]i32) (n: i64): []i32 =
  loop xs for i < n do let xs[i] = xs[xs[i] % 4] in xs
"""
FIELDS = {"kind", "place", "space", "versions", "plans", "group_size", "width", "width_why",
          "reads", "writes", "fused", "in_thread"}


class Explain(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="kenaz_test_")
        self.addCleanup(scratch.cleanup)
        self.program = os.path.join(scratch.name, "p.fut")
        with open(self.program, "w") as file:
            file.write(PROGRAM)

    def explain(self, *options, program=None):
        return subprocess.run(
            [KENAZ, "explain", "--server", *SERVER, *options, program or self.program],
            text=True, timeout=120, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_the_text_quotes_the_program_and_names_the_parameter(self):
        done = self.explain()
        self.assertEqual(done.returncode, 0, done.stderr)
        for part in ["entry sums\n", f"{self.program}:3:", "      reduce (+) 0 xs\n",
                     "maps, where sums.enough_outer_par_0 <= n_",
                     "all, where sums.enough_outer_par_0 > n_",
                     "plan ", "this version leaves it there", "entry swap\n", "  one thread",
                     "because   it works on single elements of arrays"]:
            self.assertIn(part, done.stdout)

    def test_reads_that_only_depend_on_outer_indices_leave_segments_to_threads(self):
        waves = os.path.join(os.path.dirname(self.program), "waves.fut")
        with open(waves, "w") as file:
            file.write("""
entry waves [k] (ts: [k]f32) (n: i64) (m: i64): [k][n]f32 =
  map (\\t -> tabulate n (\\x -> f32.sum (tabulate m (\\i -> f32.cos (t * f32.i64 (x * i)))))) ts
""")
        report = json.loads(self.explain("--json", program=waves).stdout)
        entry, = [e for e in report["entries"] if e["name"] == "waves"]
        sums, = [o for o in entry["operations"] if o["kind"] == "reduce"]
        self.assertEqual(sums["width_why"], "across")

    def test_an_attribute_of_a_combinator_does_not_stop_optimisation_inside_of_it(self):
        attributed = os.path.join(os.path.dirname(self.program), "attributed.fut")
        with open(attributed, "w") as file:
            file.write("""
entry attributed [k][n] (xss: [k][n]i64): [k][n]i64 =
  #[flattening(only_inner)]
  map (\\xs -> let ys = scan (+) 0 xs in scan i64.max 0 (map2 (*) ys (iota n))) xss
""")
        report = json.loads(self.explain("--json", program=attributed).stdout)
        entry, = [e for e in report["entries"] if e["name"] == "attributed"]
        self.assertEqual([o["kind"] for o in entry["operations"]], ["scan", "scan"])

    def test_json_has_the_documented_fields(self):
        done = self.explain("--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(set(report), {"device", "entries", "one_version"})
        sums, swap = [e for e in report["entries"] if e["name"] != "constants"]
        self.assertEqual([o["kind"] for o in sums["operations"]], ["map", "reduce", "reduce"])
        for operation in sums["operations"]:
            has_reason = operation["width"] == 1
            self.assertEqual(set(operation), FIELDS if has_reason else FIELDS - {"width_why"})
            self.assertEqual(operation["place"]["file"], self.program)
            version, = operation["versions"]
            self.assertEqual(version["parameter"], "sums.enough_outer_par_0")
            self.assertEqual(version["at_most"], version["name"] == "maps")
        self.assertEqual(sums["operations"][1]["plans"][-1]["when"], "always")
        self.assertEqual([o.get("one_thread_why") for o in swap["operations"]], ["elements"])

    def test_a_wrong_program_is_told(self):
        with open(self.program, "w") as file:
            file.write("entry f (x: i32) = y\n")
        done = self.explain()
        self.assertEqual(done.returncode, 2)
        self.assertIn('Unknown name "y"', done.stderr)


if __name__ == "__main__":
    KENAZ, SERVER = sys.argv[1], sys.argv[2:]
    unittest.main(argv=sys.argv[:1])
