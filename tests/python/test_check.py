"""kenaz check --json and --watch, and the index of errors."""
import json
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

KENAZ = pathlib.Path(os.environ["KENAZ_BIN"]) / "kenaz"
ROOT = pathlib.Path(__file__).resolve().parents[2]
GOOD = "entry main (x: i32): i32 = x\n"
WRONG = "entry main (x: i32): i32 = mian\n"


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="kenaz-check-"))
        self.env = os.environ | {"XDG_CACHE_HOME": str(self.folder / "cache")}

    def tearDown(self):
        shutil.rmtree(self.folder)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def check(self, *words):
        done = subprocess.run([KENAZ, "check", "--json", *words], cwd=self.folder, env=self.env,
                              text=True, capture_output=True, timeout=300)
        return done.returncode, json.loads(done.stdout)


class Json(Folder):
    def test_what_a_diagnostic_has(self):
        self.write("a.fut", "def f = 1i32\nentry main (xs: []i32) = (mpa f xs)\n")
        code, found = self.check("a.fut")
        self.assertEqual(code, 2)
        self.assertEqual(found["version"], 1)
        self.assertEqual(found["programs"],
                         [{"file": "a.fut", "accepted": False, "files": ["a.fut"]}])
        [diagnostic] = found["diagnostics"]
        rendered = diagnostic.pop("rendered")
        self.assertTrue(rendered.startswith("Error at a.fut:2:27-30:\n"), rendered)
        self.assertEqual(diagnostic, {
            "file": "a.fut", "severity": "error", "code": "unknown-name",
            "range": {"start": {"line": 2, "column": 27}, "end": {"line": 2, "column": 30}},
            "message": 'Unknown name "mpa".', "hints": ['Did you mean "map"?'], "related": []})

    def test_folders_are_one_document(self):
        self.write("p/a.fut", 'import "lib/bad"\n')
        self.write("p/b.fut", 'import "lib/bad"\n')
        self.write("p/c.fut", GOOD)
        self.write("p/lib/bad.fut", WRONG)
        code, found = self.check("p")
        self.assertEqual(code, 2)
        self.assertEqual([p["accepted"] for p in found["programs"]], [False, False, True, False])
        self.assertEqual(found["programs"][0]["files"], ["p/a.fut", "p/lib/bad.fut"])
        # What is wrong with the import is said once.
        self.assertEqual([d["file"] for d in found["diagnostics"]], ["p/lib/bad.fut"])

    def test_warnings(self):
        self.write("a.fut", "entry main (x: i32) = #[trace] x\n")
        code, found = self.check("a.fut")
        self.assertEqual((code, found["diagnostics"][0]["severity"]), (0, "warning"))
        self.assertEqual(self.check("-w", "a.fut")[1]["diagnostics"], [])
        self.assertEqual(self.check("--Werror", "a.fut")[0], 2)

    def test_later_stages(self):
        self.write("a.fut", "def power (x: f64) (n: i64) : f64 = if n == 0 then 1 else x * power x (n - 1)\n"
                            "entry main (x: f64) = jvp (\\y -> power y 3) x 1\n")
        code, found = self.check("a.fut")
        self.assertEqual((code, found["diagnostics"][0]["code"]), (2, "unsupported"))
        self.assertEqual(found["diagnostics"][0]["range"]["start"]["line"], 2)
        self.assertEqual(self.check("--types-only", "a.fut")[0], 0)


    def test_what_is_not_there(self):
        (self.folder / "empty").mkdir()
        for path, message in (("none.fut", "none.fut: no such file or folder"),
                              ("empty", "there are no .fut files in these folders")):
            code, found = self.check(path)
            [diagnostic] = found["diagnostics"]
            self.assertEqual((code, diagnostic["message"], diagnostic["severity"]),
                             (1, message, "error"))
            self.assertNotIn("file", diagnostic)
            self.assertEqual(found["programs"], [])


class Index(Folder):
    def test_every_code_has_an_example(self):
        table = (ROOT / "kernels/diagnostics/codes.def").read_text()
        codes = re.findall(r'^CODE\("([\w-]+)"', table, re.MULTILINE)
        text = (ROOT / "docs/errors.md").read_text()
        entries = re.findall(r"^## ([\w-]+)\n(?:(?!^## ).*\n)*?```futhark\n((?:.*\n)*?)```", text,
                             re.MULTILINE)
        self.assertEqual(sorted(code for code, _ in entries), sorted(codes))
        self.assertEqual(sorted(re.findall(r"^## ([\w-]+)$", text, re.MULTILINE)), sorted(codes))
        for code, example in entries:
            self.write(f"{code}.fut", example)
        _, found = self.check(*(f"{code}.fut" for code, _ in entries))
        first = {}
        for diagnostic in found["diagnostics"]:
            first.setdefault(diagnostic["file"], (diagnostic["code"], diagnostic["message"]))
        self.assertEqual({f"{code}.fut": first[f"{code}.fut"] for code in codes},
                         {f"{code}.fut": (code, first[f"{code}.fut"][1]) for code in codes})


class Watch(Folder):
    def start(self, *words):
        self.process = subprocess.Popen([KENAZ, "check", "--watch", "--json", *words],
                                        cwd=self.folder, env=self.env, stdout=subprocess.PIPE,
                                        bufsize=0)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.stdout.close)
        self.addCleanup(self.process.kill)

    def next(self):
        """The rejected programs of the next document."""
        ready, _, _ = select.select([self.process.stdout], [], [], 60)
        self.assertTrue(ready, "nothing was checked")
        document = json.loads(self.process.stdout.readline())
        return [p["file"] for p in document["programs"] if not p["accepted"]]

    def until(self, wanted):
        """A change may be seen in two steps."""
        end = time.monotonic() + 60
        while (found := self.next()) != wanted:
            self.assertLess(time.monotonic(), end, found)

    def test_changes_of_programs_and_imports(self):
        self.write("p/a.fut", 'import "../lib/l"\nentry main = two\n')
        self.write("p/b.fut", GOOD)
        self.write("lib/l.fut", "def two = 2i32\n")
        self.start("p")
        self.assertEqual(self.next(), [])
        self.write("p/b.fut", WRONG)
        self.until(["p/b.fut"])
        self.write("lib/l.fut", "def three = 3i32\n")
        self.until(["p/a.fut", "p/b.fut"])
        # As editors do it: a new file in the old one's place.
        self.write("lib/new", "def two = 2i32\n")
        (self.folder / "lib/new").rename(self.folder / "lib/l.fut")
        self.until(["p/b.fut"])
        self.write("p/c.fut", WRONG)
        self.until(["p/b.fut", "p/c.fut"])
        (self.folder / "p/b.fut").unlink()
        self.until(["p/c.fut"])
        self.process.send_signal(signal.SIGINT)
        self.assertEqual(self.process.wait(60), 0)

    def test_an_import_that_appears(self):
        self.write("a.fut", 'import "l"\n')
        self.start("a.fut")
        self.assertEqual(self.next(), ["a.fut"])
        self.write("l.fut", "def two = 2i32\n")
        self.until([])

    def test_a_program_that_is_away_for_a_moment(self):
        self.write("a.fut", GOOD)
        # Its documents change the folder that it watches.
        with open(self.folder / "documents", "w") as written:
            process = subprocess.Popen([KENAZ, "check", "--watch", "--json", "a.fut"],
                                       cwd=self.folder, env=self.env, stdout=written)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)

        def documents(count):
            end = time.monotonic() + 60
            while True:
                lines = (self.folder / "documents").read_text().splitlines()
                if len(lines) >= count:
                    return [json.loads(line) for line in lines]
                self.assertLess(time.monotonic(), end, lines)
                time.sleep(0.05)

        documents(1)
        (self.folder / "a.fut").rename(self.folder / "b")
        [diagnostic] = documents(2)[1]["diagnostics"]
        self.assertEqual(diagnostic["message"], "a.fut: no such file or folder")
        for k in range(5):  # as many changes, each seen by itself
            self.write("c", str(k))
            time.sleep(0.2)
        self.assertEqual(len(documents(2)), 2)
        (self.folder / "b").rename(self.folder / "a.fut")
        self.assertEqual(documents(3)[2]["programs"][0]["accepted"], True)

    def test_text_for_people(self):
        self.write("a.fut", WRONG)
        process = subprocess.Popen([KENAZ, "check", "--watch", "a.fut"], cwd=self.folder,
                                   env=self.env, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        lines = []
        while not lines or not lines[-1].startswith("kenaz: "):
            lines.append(process.stderr.readline())
        self.assertEqual(lines[0], "Error at a.fut:1:28-32:\n")
        self.assertEqual(lines[-1], "kenaz: 1 of 1 programs is rejected; watching 1 files\n")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(60), 0)


if __name__ == "__main__":
    unittest.main()
