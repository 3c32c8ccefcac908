"""What is installed."""
import ast
import pathlib
import subprocess
import tarfile
import unittest
import zipfile

import kenaz

from support import BIN, SERVER


class Package(unittest.TestCase):
    def test_it_is_the_installed_one_and_of_the_servers_version(self):
        self.assertIn("site-packages", kenaz.__file__)
        version = subprocess.run([SERVER, "--version"], capture_output=True, text=True, check=True)
        self.assertEqual(version.stdout.split()[-1], kenaz.__version__)

    def test_distributions_are_whole(self):
        dist = BIN / "python_client/dist"
        (wheel,), (sdist,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
        self.assertEqual(wheel.name, f"kenaz-{kenaz.__version__}-py3-none-any.whl")
        names = {n.split("/", 1)[1] for n in tarfile.open(sdist).getnames() if "/" in n}
        self.assertLessEqual({"LICENSE", "README.md", "pyproject.toml"}, names)
        modules = {n for n in names if n.startswith("kenaz/") and n.endswith((".py", ".typed"))}
        self.assertIn("kenaz/py.typed", modules)
        self.assertLessEqual(modules, set(zipfile.ZipFile(wheel).namelist()))

    def test_python_3_9_can_read_it(self):
        for path in pathlib.Path(kenaz.__file__).parent.glob("*.py"):
            ast.parse(path.read_text(), feature_version=(3, 9))
