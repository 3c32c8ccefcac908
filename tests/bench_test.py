#!/usr/bin/env python3
"""kenaz bench, as people and tools meet it: docs/bench.md.

    bench_test.py KENAZ SERVER OPTION..     e.g. --device cpu, or --reference"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support.terminal import on_terminal  # noqa: E402

KENAZ, SERVER, OPTIONS = "", "", []
DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs")
PROGRAM = """
-- ==
-- entry: inc
-- random input { [1000]i32 }
-- random input { [100000]i32 }
-- ==
-- entry: sum
-- tiny input { [1, 2, 3] } output { 6 }
entry inc (xs: []i32) = map (+1) xs
entry sum (xs: []i32): i32 = reduce (+) 0 xs
"""
ENDLESS = """
-- ==
-- input { 1000000000000i64 }
-- input { 1i64 }
entry main (n: i64) = loop x = 0i64 for i < n do x * 3 + i
"""
TWICE = """
-- ==
-- random input { [10]i32 [20]i32 }
entry main [n][m] (xs: [n]i32) (ys: [m]i32) =
  (map (* 3) xs,
   map (* 3) ys)
"""
REFUSED = ["--backend", "--futhark", "--pass-compiler-option", "--cache-extension", "--runner"]
LIMIT = 120  # seconds that a command may take


def results(name, times, bytes=0):
    """A file's content with one dataset."""
    return {name: {"datasets": {"[1000]i32": {"runtimes": times, "bytes": {"device": bytes}}}}}


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="kenaz_test_")
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        self.write("p.fut", PROGRAM)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text if isinstance(text, str) else json.dumps(text))

    def read(self, name):
        with open(self.path(name)) as file:
            return file.read()

    def words(self, *options):
        return [KENAZ, "bench", "--server", SERVER, *OPTIONS, *options]

    def bench(self, *options, code=0):
        done = subprocess.run(self.words(*options), cwd=self.folder, text=True, timeout=LIMIT,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def texts(self, name):
        """What stands in a picture."""
        tree = xml.etree.ElementTree.fromstring(self.read(name))
        return ["".join(e.itertext()) for e in tree.iter("{http://www.w3.org/2000/svg}text")]


class Measures(Case):
    def test_everything_of_one_run(self):
        text = self.bench("-r", "3", "--no-convergence-phase", "-P", "--json", "r.json", "--plot",
                          "p.svg", "--trace", "t.json", "p.fut").stdout
        rows = [line for line in text.splitlines() if line.startswith(("  inc", "  sum"))]
        self.assertEqual([row.split("  ")[1] for row in rows],
                         ["inc [1000]i32", "inc [100000]i32", 'sum #0 ("[1, 2, 3]")'])
        self.assertNotIn("\x1b", text)
        self.check_json(json.loads(self.read("r.json")))
        for label in ["inc", "run time", "size (elements)"]:
            self.assertIn(label, self.texts("p.svg"))
        self.assertNotIn("sum", self.texts("p.svg"))  # its dataset has no size
        trace = json.loads(self.read("t.json"))["traceEvents"]
        calls = [e for e in trace if e["ph"] == "X" and e["name"].startswith("call ")]
        self.assertEqual([e["name"] for e in calls], ["call inc", "call inc", "call sum"])
        if "--reference" in OPTIONS:
            self.assertIn("* arguments and results, by the time of the call", text)
            self.assertNotIn("A copy moves", text)
        else:
            self.assertRegex(text, r"A copy moves [\d.]+ GB/s on this device")
            self.check_kernels(text, trace)

    def check_json(self, written):
        self.assertEqual(list(written), ["p.fut:inc", "p.fut:sum"])
        datasets = written["p.fut:inc"]["datasets"]
        self.assertEqual(list(datasets), ["[1000]i32", "[100000]i32"])
        for data in datasets.values():
            self.assertGreaterEqual(len(data["runtimes"]), 3)
            self.assertTrue(all(isinstance(time, int) for time in data["runtimes"]))
            self.assertEqual(set(data["bytes"]), {"space 'device'"})
            known = set() if "--reference" in OPTIONS else {"device"}
            self.assertEqual(set(data["profiling"]), {"events", "memory"} | known)
            self.assertEqual(data["stderr"], "")
        self.assertEqual(datasets["[100000]i32"]["kenaz"]["value_bytes"], 800000)

    def check_kernels(self, text, trace):
        """Three launches of one kernel each, at their places; bytes known by arithmetic."""
        kernels = [e for e in trace if e["ph"] == "X" and e["name"].startswith("inc_map")]
        self.assertEqual([e["args"]["bytes"] for e in kernels], [8000, 800000])
        self.assertTrue(all(e["args"]["place"].startswith("p.fut:9:") for e in kernels))
        self.assertRegex(text, r"inc_map_\d+ +1 +[\d.]+ us +[\d.]+% +781\.2 KiB +[\d.]+ +[\d.]+%"
                               r"  p\.fut:9:")
        written = json.loads(self.read("r.json"))["p.fut:inc"]["datasets"]["[100000]i32"]
        self.assertEqual(written["kenaz"]["kernel_bytes"], 800000)
        self.assertGreater(written["kenaz"]["device_us"], 0)

    def test_kernels_with_equal_code_have_rows_of_their_own(self):
        if "--reference" in OPTIONS:
            return
        self.write("twice.fut", TWICE)
        text = self.bench("-r", "1", "--no-convergence-phase", "-P", "--lines", "twice.fut").stdout
        rows = re.findall(r"(main_map_\d+) +1 +[\d.]+ us +[\d.]+% +(\d+ B) .*  twice\.fut:(\d):", text)
        self.assertEqual(sorted(row[1:] for row in rows), [("160 B", "6"), ("80 B", "5")])
        self.assertEqual(len({name for name, _, _ in rows}), 2)
        for line, bytes in (5, "80 B"), (6, "160 B"):
            self.assertRegex(text, rf"twice\.fut:{line} +{bytes} ")
        self.assertNotIn("not on the interpreter", text)


class Servers(Case):
    def test_lines_have_bytes_and_time(self):
        text = self.bench("-r", "1", "--no-convergence-phase", "--lines", "-e", "inc", "p.fut").stdout
        if "--reference" in OPTIONS:
            self.assertIn("no lines: the server does not tell what its device is like", text)
            return
        # Of the map's 782 workgroups 8 run: each element is read once, and written once.
        line = re.escape(PROGRAM.splitlines()[8])
        self.assertRegex(text, r"\n    inc_map_\d+ +[\d.]+ us\n      p\.fut:9 +7\d\d\.\d KiB +[\d.]+"
                               r" +[\d.]+% +7\d\d\.\d KiB +[\d.]+  " + line + r"\n")

    def test_a_compiled_program(self):
        kind = "c" if "--reference" in OPTIONS else "vulkan"
        subprocess.run([KENAZ, kind, "--server", "p.fut", "-o", "p"], cwd=self.folder, check=True)
        done = subprocess.run([KENAZ, "bench", "--skip-compilation", "--no-convergence-phase", "-e",
                               "sum", "p.fut"],
                              cwd=self.folder, text=True, timeout=LIMIT, stdout=subprocess.PIPE)
        self.assertEqual(done.returncode, 0)
        self.assertIn("  sum #0", done.stdout)

    def test_a_dataset_that_takes_too_long(self):
        self.write("endless.fut", ENDLESS)
        # Half a second of it goes by with runs of the other dataset.
        text = self.bench("--timeout", "4", "--no-convergence-phase", "endless.fut", code=1).stdout
        self.assertRegex(text, r"main #0 .*in time")
        self.assertRegex(text, r"main #1 .* us ")

    def test_progress_on_terminals(self):
        words = self.words("--no-convergence-phase", "-e", "sum", "p.fut")
        status, text = on_terminal(words, cwd=self.folder)
        self.assertEqual(status, 0)
        self.assertRegex(text, r"\r\x1b\[Ksum #0 .*\[#+\.*\]  \d+ runs\r\x1b\[K")


class Chooses(Case):
    def test_nothing_is_left(self):
        for options in (["--ignore-files", r"p\.fut$"], ["--exclude", "tiny", "-e", "sum"]):
            self.assertEqual(self.bench(*options, "p.fut").stdout, "")
        self.write("spec.fut", "-- nothing\n")
        self.assertEqual(self.bench("--spec-file", "spec.fut", "p.fut").stdout, "")

    def test_what_is_not_there_is_named(self):
        self.assertIn("no dataset is of an entry point nobody",
                      self.bench("-e", "nobody", "p.fut", code=2).stderr)
        for options in (["nofile.fut"], ["--spec-file", "nofile.fut", "p.fut"]):
            self.assertIn("nofile.fut", self.bench(*options, code=2).stderr)

    def test_what_is_refused_is_named(self):
        for option in REFUSED:
            error = self.bench(option, "x", "p.fut", code=2).stderr
            self.assertIn(f"{option}: not here: ", error)
        both = self.bench("--tuning", ".t", "--no-tuning", "p.fut", code=2)
        self.assertIn("--tuning", both.stderr)
        self.assertIn("no programs", self.bench(code=2).stderr)


class Files(Case):
    def test_comparison(self):
        times = [100 + k % 4 for k in range(20)]
        self.write("before.json", results("p.fut", times, 1000))
        self.write("after.json", results("p.fut", [2 * time for time in times], 1000))
        files = ["--results", "after.json", "--compare", "before.json"]
        self.assertRegex(self.bench(*files).stdout,
                         r"p\.fut\n.*\n  \[1000\]i32 .* 0\.50x  slower \(p <")
        self.bench(*files, "--tolerance", "1.5", code=1)
        self.bench(*files, "--tolerance", "2.5")
        files[1] = "before.json"
        same = self.bench(*files, "--tolerance", "1")
        self.assertIn("1.00x  no significant difference", same.stdout)
        self.write("bad.json", "{")
        self.assertIn("bad.json", self.bench("--results", "bad.json", code=2).stderr)

    def test_pictures_of_several_files(self):
        self.write("old.json", results("p.fut:f", [100, 120]))
        self.write("new.json", results("p.fut:f", [50, 60]))
        self.bench("--results", "old.json", "--results", "new.json", "--plot", "p.svg")
        self.assertIn("f, old", self.texts("p.svg"))
        self.assertIn("f, new", self.texts("p.svg"))
        self.write("none.json", {"p.fut": {"datasets": {"small": {"runtimes": [1], "bytes": {}}}}})
        self.bench("--results", "none.json", "--plot", "q.svg", code=2)


class Page(Case):
    def test_names_every_option(self):
        with open(os.path.join(DOCS, "bench.md")) as file:
            page = file.read()
        options = set(re.findall(r"--[a-z][a-z-]+", self.bench("--help").stdout)) - {"--help"}
        named = set(re.findall(r"`(?:-\w, )?(--[a-z][a-z-]+)", page))
        self.assertEqual(options - named, set())
        self.assertEqual(named - options - set(REFUSED), set())

    def test_picture(self):
        self.bench("--results", os.path.join(DOCS, "bench.json"), "--plot", "p.svg")
        with open(os.path.join(DOCS, "bench.svg")) as file:
            self.assertEqual(file.read(), self.read("p.svg"))


if __name__ == "__main__":
    KENAZ, SERVER, *OPTIONS = sys.argv[1:]
    # What does not depend on the device needs to be tested once.
    unittest.main(argv=["bench_test", *([] if "--reference" in OPTIONS else ["Measures"])])
