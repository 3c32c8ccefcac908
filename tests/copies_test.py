#!/usr/bin/env python3
"""Which kernels copy a transpose whose shape is known at run time only: those that ran are events.

    copies_test.py SERVER [OPTION..]     e.g. --device cpu"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

SERVER = []
PROGRAM = """
entry numbers (n: i64) (m: i64) : [n][m]i32 =
  map (\\i -> map (\\j -> i32.i64 (i * m + j)) (iota m)) (iota n)
entry turned [n][m] (xs: [n][m]i32) : [m][n]i32 = transpose xs
entry turned_part [n][m] (xs: [n][m]i32) = transpose xs[:, 1:]
"""


class Copies(unittest.TestCase):
    def kernels(self, entry, n, m):
        """The names of those that the call runs, without the entry's and their numbers."""
        with tempfile.TemporaryDirectory(prefix="kenaz_test_") as folder:
            program, sizes = os.path.join(folder, "p.fut"), os.path.join(folder, "sizes")
            with open(program, "w") as file:
                file.write(PROGRAM)
            with open(sizes, "w") as file:
                file.write(f"{n}i64 {m}i64")
            # As on a GPU, which many threads fill.
            command = [*SERVER, "--threads", "262144", "--profile", program]
            lines = [f"restore {sizes} n i64 m i64", "call numbers xs n m", f"call {entry} ys xs",
                     "report", ""]
            done = subprocess.run(command, input="\n".join(lines), text=True, timeout=120,
                                  env={**os.environ, "XDG_CACHE_HOME": folder},
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertNotIn("%%% FAILURE", done.stdout)
        report = next(line for line in done.stdout.splitlines() if line.startswith("{"))
        names = [event["name"] for event in json.loads(report)["events"]]
        behind = names[names.index(f"call {entry}"):]
        return [name[len(entry) + 1:].split("_", 2)[2:] for name in behind
                if name.startswith(f"{entry}_copy_")]

    def test_one_row_or_column_is_in_order_already(self):
        self.assertEqual(self.kernels("turned", 1, 5003), [[]])
        self.assertEqual(self.kernels("turned", 5003, 1), [[]])

    def test_few_rows_or_columns(self):
        self.assertEqual(self.kernels("turned", 3, 4001), [["of_strips"]])
        self.assertEqual(self.kernels("turned", 4001, 3), [["into_strips"]])

    def test_columns_of_wider_rows_are_no_run(self):
        self.assertEqual(self.kernels("turned_part", 4001, 4), [["flat"]])

    def test_others_go_by_tiles(self):
        self.assertEqual(self.kernels("turned", 64, 68), [["words"]])
        self.assertEqual(self.kernels("turned", 65, 67), [["transpose"]])


if __name__ == "__main__":
    SERVER = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
