#!/usr/bin/env python3
"""Property tests as users meet them: programs beside this file, and what kenaz test says of them.

    property_test.py KENAZ [--rewrite] [OPTION..]     e.g. --device cpu

A program's .out has the report of `kenaz test --seed 1`; --rewrite writes it, to be read."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
KENAZ, OPTIONS, REWRITE = "", [], False


class Properties(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="kenaz_test_")
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def run_test(self, name, *options, text=None):
        """What is reported, without times, of a copy of the program."""
        path = os.path.join(self.folder, name)
        if text is None:
            shutil.copy(os.path.join(HERE, name), path)
        else:
            with open(path, "w") as file:
                file.write(text)
        done = subprocess.run([KENAZ, "test", *OPTIONS, "--no-color", *options, name],
                              cwd=self.folder, text=True, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, re.sub(r"; [0-9.]+ s$", "", done.stdout, flags=re.M)

    def read(self, name):
        with open(os.path.join(self.folder, name), "rb") as file:
            return file.read()

    def compare(self, program):
        code, report = self.run_test(program + ".fut", "--seed", "1")
        expected = os.path.join(HERE, program + ".out")
        if REWRITE:
            with open(expected, "w") as file:
                file.write(report)
        with open(expected) as file:
            self.assertEqual(report, file.read())
        self.assertEqual(code, 1)

    def test_counterexamples_of_all_types(self):
        self.compare("counterexamples")

    def test_shrinking(self):
        self.compare("shrinking")

    def test_crashes(self):
        self.compare("crashes")

    def test_wrong_declarations(self):
        self.compare("declarations")

    def test_what_fails_is_left_in_files(self):
        self.run_test("shrinking.fut", "--seed", "1", "-e", "few_ones")
        five_ones = b"b\x02\x01 i64" + b"".join(n.to_bytes(8, "little") for n in (5, 1, 1, 1, 1, 1))
        self.assertEqual(self.read("shrinking_few_ones.counterexample"), five_ones)
        self.assertIn(b"Property few_ones (size=20, seed=1)", self.read("shrinking.prop_result"))
        self.assertEqual(len(os.listdir(self.folder)), 3)

    def test_numbers_of_tests_sizes_and_tries(self):
        text = """-- ==
-- property: short
entry count (size: i64) (_: u64) = iota size
#[prop(gen(count))]
entry short (xs: []i64) = length xs < 40"""
        self.assertEqual(self.run_test("p.fut", "-n", "0", text=text)[0], 0)
        self.assertEqual(self.run_test("p.fut", "-m", "39", text=text)[0], 0)
        self.assertEqual(os.listdir(self.folder), ["p.fut"])
        code, report = self.run_test("p.fut", "-m", "44", text=text)
        self.assertEqual(code, 1)
        self.assertIn("39i64]", report)
        code, report = self.run_test("shrinking.fut", "-e", "below_ten", "--num-tries", "0")
        self.assertIn("Counterexample: 1000i32", report)

    def test_a_shrinker_that_does_nothing(self):
        text = """-- ==
-- property: short
entry same (xs: []i32) (_: u64) = xs
#[prop(shrink(same), size(5))]
entry short (xs: []i32) = length xs < 3"""
        code, report = self.run_test("p.fut", "--seed", "1", "--timeout", "30", text=text)
        self.assertEqual(code, 1)
        self.assertIn("Counterexample: [", report)

    def test_a_property_that_there_is_not(self):
        code, report = self.run_test("shrinking.fut", "-e", "none_such")
        self.assertEqual(code, 2)
        self.assertIn("no case is of an entry point or property none_such", report)

    def test_another_run_takes_other_candidates(self):
        text = "-- ==\n-- property: never\n#[prop]\nentry never (x: u64) = x == x + 1\n"
        self.assertEqual(len({self.run_test("p.fut", text=text)[1] for _ in range(3)}), 3)

    def test_a_property_without_end(self):
        text = """-- ==
-- property: endless
#[prop]
entry endless (x: i32) = (loop y = x while y != y / 2 * 2 + 2 do y + 1) == 0"""
        code, report = self.run_test("p.fut", "--timeout", "3", "--seed", "1", text=text)
        self.assertEqual(code, 1)
        self.assertRegex(report, "while testing property endless: in its generator at size=50 and "
                                 "seed=[0-9]+, in the property itself")


if __name__ == "__main__":
    KENAZ, OPTIONS = sys.argv[1], [o for o in sys.argv[2:] if o != "--rewrite"]
    REWRITE = "--rewrite" in sys.argv
    unittest.main(argv=sys.argv[:1], verbosity=2)
