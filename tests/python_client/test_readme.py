"""The tutorial's code, as it stands there."""
import doctest
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from support import BIN, DEVICE, HERE

README = HERE.parent.parent / "client/python/README.md"


class Readme(unittest.TestCase):
    def test_tutorial(self):
        text = README.read_text()
        old, path = os.getcwd(), os.environ["PATH"]
        with tempfile.TemporaryDirectory(prefix="kenaz_python_readme_") as folder:
            # Servers as PATH has them, but on the tests' device.
            launcher = pathlib.Path(folder) / "kenaz-server"
            launcher.write_text(f'#!/bin/sh\nexec {BIN}/kenaz-server --device {DEVICE} "$@"\n')
            launcher.chmod(0o755)
            os.environ["PATH"] = f"{folder}:{path}"
            os.chdir(folder)
            try:
                programs = re.findall(r"```futhark\n(.*?)```", text, re.DOTALL)
                pathlib.Path("dot.fut").write_text(programs[0])
                code = "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
                test = doctest.DocTestParser().get_doctest(code, {}, "README.md", str(README), 0)
                self.assertGreater(len(test.examples), 25)
                report = []
                result = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
                self.assertEqual(result.failed, 0, "".join(report))
            finally:
                os.chdir(old)
                os.environ["PATH"] = path


class Examples(unittest.TestCase):
    def test_mandelbrot(self):
        root = HERE.parent.parent
        with tempfile.TemporaryDirectory(prefix="kenaz_python_example_") as folder:
            picture = folder + "/picture.png"
            done = subprocess.run(
                [sys.executable, root / "examples/python_mandelbrot.py", "--device", DEVICE, picture],
                env={**os.environ, "KENAZ_SERVER": str(BIN / "kenaz-server")}, check=True,
                stdout=subprocess.PIPE, text=True)
            self.assertRegex(done.stdout, r"^\S+: 2 calls, [0-9.]+ ms on the device\n$")
            subprocess.run([root / "scripts/compare_png", root / "examples/python_mandelbrot.png",
                            picture], check=True)
