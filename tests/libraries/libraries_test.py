#!/usr/bin/env python3
"""The libraries that ship with the server mean the same as operations here and as plain Futhark:

    libraries_test.py KENAZ SERVER OPTION..     e.g. --device cpu, or --reference

A copy that differs by a comment is compiled as it stands, and must pass the same tests."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

FOLDER = os.path.dirname(os.path.abspath(__file__))
SHIPPED = os.path.join(FOLDER, "../../kernels/prelude/library/kenaz")
KENAZ, SERVER, OPTIONS = "", "", []


class Libraries(unittest.TestCase):
    def passes(self, program):
        run = subprocess.run([KENAZ, "test", "--server", SERVER, *OPTIONS, program],
                             capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_sorts(self):
        self.passes(os.path.join(FOLDER, "sorting.fut"))

    def test_plain_sorts(self):
        with tempfile.TemporaryDirectory(prefix="kenaz_test_") as folder:
            program = shutil.copy(os.path.join(FOLDER, "sorting.fut"), folder)
            copy = os.path.join(folder, "kenaz")
            shutil.copytree(SHIPPED, copy)
            with open(os.path.join(copy, "radix.fut"), "a") as file:
                file.write("-- A copy.\n")
            self.passes(program)


if __name__ == "__main__":
    KENAZ, SERVER, *OPTIONS = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
