"""Calls, failures, records, much data and many calls."""
import pathlib

import futhark_server
import numpy as np

from support import EveryWay, in_every_way


@in_every_way
class Program(EveryWay):
    PROGRAM = "values.fut"

    def fails(self, text, command, *args):
        with self.assertRaises(futhark_server.Failure) as caught:
            command(*args)
        self.assertIn(text, str(caught.exception))

    def test_what_there_is(self):
        self.assertEqual(self.server.cmd_inputs("element"), ["[]i32", "i64"])
        self.assertEqual(self.server.cmd_output("divide"), ["(i32, i32)"])
        self.assertIn("particle", self.server.cmd_types())
        self.assertIn("heavier", self.server.cmd_entry_points())
        self.assertEqual(self.server.cmd_tuning_params("halve"), [])

    def test_calls(self):
        self.server.put_value("xs", np.arange(1000, dtype=np.int32))
        lines = self.server.cmd_call("increment", "ys", "xs")
        self.assertRegex(lines[-1], r"^runtime: \d+$")
        self.assertEqual(self.server.get_value("ys").tolist(), list(range(1, 1001)))
        self.server.cmd_rename("ys", "zs")
        self.server.cmd_clear()
        self.fails("Unknown variable: zs", self.server.get_value, "zs")

    def test_failures(self):
        s = self.server
        self.fails("Unknown entry point: none", s.cmd_call, "none", "x")
        self.fails("Unknown variable: a", s.cmd_call, "halve", "x", "a")
        self.fails("Unknown variable: a", s.cmd_free, "a")
        s.put_value("n", np.int32(7))
        self.fails("Variable already exists: n", s.put_value, "n", np.int32(8))
        self.fails("Wrong input type.  Expected []i32, got i32.",
                   s.cmd_call, "element", "x", "n", "n")
        self.fails("Assertion is false: (x % 2 == 0)", s.cmd_call, "halve", "x", "n")
        s.put_value("xs", np.arange(3, dtype=np.int32))
        s.put_value("i", np.int64(3))
        self.fails("Index [3] out of bounds for array of shape [3]",
                   s.cmd_call, "element", "x", "xs", "i")
        s.put_value("zero", np.int32(0))
        self.fails("division by zero", s.cmd_call, "divide", "x", "n", "zero")
        self.fails("Unknown variable: x", s.get_value, "x")
        self.fails("Failed to open", s.cmd_store, "/nonexistent/folder/file", "n")
        self.fails("Failed to open", s.cmd_restore, "/nonexistent/file", ("y", "i32"))
        self.assertEqual(s.get_value("n"), 7)  # all is well still

    def test_bad_files(self):
        s, path = self.server, pathlib.Path(self.folder) / "bad"
        path.write_bytes(b"b\x02\x01 i32\x03\x00\x00\x00\x00\x00\x00\x00short")
        self.fails("Failed to restore variable x", s.cmd_restore, str(path), ("x", "[]i32"))
        path.write_text("1i32 2i32")
        self.fails("Expected EOF after reading 1 values", s.cmd_restore, str(path), ("y", "i32"))
        self.assertEqual(s.get_value("y"), 1)
        self.fails("Failed to restore variable w", s.cmd_restore, str(path), ("v", "i32"),
                   ("w", "[]i32"))
        self.assertEqual(s.get_value("v"), 1)
        self.fails("Unknown variable: w", s.get_value, "w")

    def test_records(self):
        s = self.server
        s.put_value("m", np.float32(1.5))
        s.put_value("x", np.float64(10))
        s.cmd_call("particle", "p", "m", "x")
        fields = dict(line.split(" ", 1) for line in s.cmd_fields("particle"))
        self.assertEqual(fields, {"at": "[]f64", "mass": "f32"})
        s.cmd_call("heavier", "q", "p")
        s.cmd_project("qm", "q", "mass")
        s.cmd_project("qa", "q", "at")
        self.assertEqual(s.get_value("qm"), 3)
        self.assertEqual(s.get_value("qa").tolist(), [10, 11, 12])
        s.cmd("new", "r", "particle", "qa", "qm")
        self.assertEqual(s.get_value_bytes("r"), s.get_value_bytes("q"))
        s.put_value_bytes(s.get_value_bytes("p"), ("again", "particle"))
        self.assertEqual(s.get_value_bytes("again"), s.get_value_bytes("p"))
        self.fails("No such field", s.cmd_project, "z", "q", "charge")
        self.fails("Not a record type", s.cmd_fields, "i32")

    def test_tuples(self):
        s = self.server
        s.put_value("a", np.int32(-7))
        s.put_value("b", np.int32(2))
        s.cmd_call("divide", "t", "a", "b")
        self.assertEqual(s.get_value("t"), (-4, 1))
        self.assertEqual(s.cmd("outputs", "divide"), ["i32", "i32"])
        s.cmd_call("divide", "quotient", "rest", "a", "b")  # as old clients want it
        self.assertEqual(s.get_value("rest"), 1)

    def test_much_data(self):
        s = self.server
        xs = np.arange(32 << 20, dtype=np.int64)  # 256 MiB
        s.put_value("xs", xs)
        self.assertEqual(s.cmd("shape", "xs"), [str(xs.size)])
        s.cmd_call("total", "sum", "xs")
        self.assertEqual(s.get_value("sum"), xs.size * (xs.size - 1) // 2)
        self.assertTrue(np.array_equal(s.get_value("xs"), xs))

    def test_many_calls(self):
        s = self.server
        s.put_value("x0", np.zeros(10, dtype=np.int32))
        for i in range(100):
            s.cmd_call("increment", f"x{i + 1}", f"x{i}")
            s.cmd_free(f"x{i}")
        self.assertEqual(s.get_value("x100").tolist(), [100] * 10)
