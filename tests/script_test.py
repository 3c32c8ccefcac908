#!/usr/bin/env python3
"""Inputs of test blocks that are scripts which read files.

    script_test.py KENAZ SERVER [OPTION..]     e.g. --reference"""
import os
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

KENAZ, SERVER = "", []


def png(rows):
    """A picture of (red, green, blue, alpha) in rows."""
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))
    lines = b"".join(b"\0" + bytes(sum(row, ())) for row in rows)
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 6, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
            + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))


class Scripts(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="kenaz_test_")
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def write(self, name, content):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return path

    def run_test(self, program):
        path = self.write("p.fut", program)
        done = subprocess.run([KENAZ, "test", "--no-color", *SERVER[1:], path], text=True,
                              timeout=120, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout

    def test_pictures(self):
        self.write("p.png", png([[(1, 2, 3, 255), (4, 5, 6, 7)]]))
        code, report = self.run_test("""-- ==
-- script input { $loadimg "p.png" } output { [[0xff010203u32, 0x07040506u32]] }
entry main (xs: [][]u32) = xs""")
        self.assertEqual(code, 0, report)

    def test_stored_values_of_opaque_types(self):
        program = """type~ pair = {a: i64, b: []i32}
entry make (n: i64): pair = {a = n, b = [1, 2, 3]}
entry sum (p: pair) = p.a + i64.i32 (i32.sum p.b)
"""
        path = self.write("q.fut", program)
        stored = os.path.join(self.folder, "pair.data")
        commands = f"restore {self.write('n', '4i64')} n i64\ncall make p n\nstore {stored} p\n"
        done = subprocess.run([*SERVER, path], input=commands, text=True, timeout=120,
                              stdout=subprocess.PIPE)
        self.assertNotIn("FAILURE", done.stdout)
        code, report = self.run_test("""-- ==
-- entry: sum
-- script input { $restore "pair" "pair.data" } output { 10i64 }
""" + program)
        self.assertEqual(code, 0, report)

    def test_values_of_sum_types(self):
        code, report = self.run_test("""-- ==
-- script input { #circle {x = 1, y = 2} 5 } output { 25f64 }
-- script input { let r = 3.0 in (#square r) } output { 9f64 }
-- script input { #nothing } output { 0f64 }
type~ shape = #circle {x: i32, y: i32} f64 | #square f64 | #nothing
entry main (s: shape): f64 =
  match s case #circle _ r -> r * r case #square a -> a * a case #nothing -> 0
""")
        self.assertEqual(code, 0, report)

    def test_constants(self):
        code, report = self.run_test("""-- ==
-- script input { ([3000000000, 1], {a = -128}, empty([0]f32)) } output { 2999999873i64 }
-- script input { ([0xf16], {a = 1}, [f32.inf, 2]) } output { 3865i64 }
-- script input { ([1], {a = 300}, [1]) } output { 1i64 }
entry main (xs: []i64) (r: {a: i8}) (ys: []f32): i64 =
  i64.sum xs + i64.i8 r.a + length ys
""")
        self.assertEqual(code, 1, report)
        self.assertIn("300 does not fit in i8", report)
        self.assertIn("2 of 3 runs", report)

    def test_wrong_uses(self):
        for script, message in [('$restore "i32"', "takes a type and a file's name"),
                                ("$loadimg 5", "takes a file's name"),
                                ('$loadimg "no.png"', "no.png"),
                                ('$loadfoo "x"', "there is no builtin $loadfoo")]:
            code, report = self.run_test(f"""-- ==
-- script input {{ {script} }} output {{ 1 }}
entry main (x: i32) = x""")
            self.assertEqual(code, 1)
            self.assertIn(message, report)
        for script, message in [("#green", "side has no constructor #green"),
                                ("#left", "the script gives #left 0 values, not 1"),
                                ("{x = 1}", "the script gives a record of")]:
            code, report = self.run_test(f"""-- ==
-- script input {{ {script} }} output {{ 1 }}
type side = #left i32 | #right
entry main (s: side): i32 = match s case #left x -> x case #right -> 0""")
            self.assertEqual(code, 1)
            self.assertIn(message, report)


if __name__ == "__main__":
    KENAZ, SERVER = sys.argv[1], sys.argv[2:]
    unittest.main(argv=sys.argv[:1], verbosity=2)
