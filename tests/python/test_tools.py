"""kenaz dataset, datacmp and shell."""
import pathlib
import re
import shutil
import subprocess
import tempfile
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

    def test_shell_mistakes(self):
        script = b"let x\nlet x = \nprint\nprint none\nlet x = [1,\nnonsense\ndownload x\n\n"
        done = self.kenaz("shell", "--reference", HERE / "values.fut", stdin=script, code=1)
        self.assertEqual(done.count(b"error: "), 7)
        self.assertIn(b"Unknown variable: none", done)
        self.assertIn(b"let NAME = VALUE", self.kenaz("shell", "--reference", HERE / "values.fut",
                                                     stdin=b"help\n"))


if __name__ == "__main__":
    unittest.main()
