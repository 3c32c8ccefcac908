#!/usr/bin/env python3
"""kenaz observe of compute shaders in SPIR-V, as glslangValidator makes them: what they compute, and
what is told of it. docs/observe.md.

    shaders_test.py KENAZ SERVER GLSLANG"""
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import unittest

KENAZ, SERVER, GLSLANG = "", "", ""
SHADERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "shaders")


def line_of(shader, text):
    """The number of the line that holds the text."""
    with open(os.path.join(SHADERS, shader + ".comp"), encoding="utf-8") as file:
        numbers = [n for n, line in enumerate(file, 1) if text in line]
    assert len(numbers) == 1, (shader, text, numbers)
    return numbers[0]


def f32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


class Shaders(unittest.TestCase):
    scratch = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="kenaz_test_")
        cls.addClassCleanup(cls.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def compiled(self, shader, *options):
        """The file of its SPIR-V, with debug information unless options say otherwise."""
        options = options or ("-g", "--target-env", "vulkan1.2")
        out = self.path(shader + re.sub(r"[^\w.]", "", "".join(options)) + ".spv")
        if not os.path.exists(out):
            done = subprocess.run([GLSLANG, "-V", *options, "-o", out, shader + ".comp"], text=True,
                                  cwd=SHADERS, stdout=subprocess.PIPE, timeout=60)
            self.assertEqual(done.returncode, 0, done.stdout)
        return out

    def observe(self, spv, *options):
        return subprocess.run([KENAZ, "observe", "--server", SERVER, spv, *options], text=True,
                              timeout=120, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def report(self, spv, *options):
        done = self.observe(spv, "--json", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return json.loads(done.stdout)

    def data(self, name, layout, values):
        with open(self.path(name), "wb") as file:
            file.write(struct.pack(f"<{len(values)}{layout}", *values))
        return self.path(name)

    def result(self, name, layout):
        with open(self.path(name), "rb") as file:
            data = file.read()
        return list(struct.unpack(f"<{len(data) // struct.calcsize(layout)}{layout}", data))

    def rows(self, report, **wanted):
        return [r for r in report["rows"] if all(r.get(k) == v for k, v in wanted.items())]

    def row(self, report, **wanted):
        found = self.rows(report, **wanted)
        self.assertEqual(len(found), 1, (wanted, report["rows"]))
        return found[0]

    def test_vectors_are_added(self):
        a = [f32(k / 3) for k in range(200)]
        b = [f32(k * 7) for k in range(200)]
        expected = [f32(f32(2.5 * x) + y) for x, y in zip(a, b)]
        options = ["--buffer", "0,0=" + self.data("a", "f", a), "--buffer", "0,1=" + self.data("b", "f", b),
                   "--buffer", "0,2=undefined:800", "--push", "u32:200", "--push", "f32:2.5",
                   "--dispatch", "4", "--out", "0,2=" + self.path("c")]
        for compiler in [("-g", "--target-env", "vulkan1.2"), ("--target-env", "vulkan1.0"), ("-g0",),
                         ("-gVS", "--target-env", "vulkan1.3")]:
            report = self.report(self.compiled("vector_add", *compiler), *options)
            self.assertEqual(self.result("c", "f"), expected, compiler)
        names = {r.get("array") for r in report["rows"] if r["kind"] in ("load", "store")}
        self.assertEqual(names, {"A", "B", "C"})
        self.assertEqual([f for f in report["findings"] if "sectors" in f["text"]], [])

    def test_a_line_goes_on_where_its_branches_meet(self):
        line = line_of("chosen", "to[i] =")
        for compiler in [("-g",), ("-gVS",)]:
            report = self.report(self.compiled("chosen", *compiler), "--buffer", "0=iota:f32:128", "--buffer", "1=zeros:512",
                                 "--dispatch", "2", "--out", "1=" + self.path("to"))
            self.assertEqual(self.result("to", "f"),
                             [k if k % 2 == 0 else k // 2 * 2.0 for k in range(128)])
            places = {(r["kind"], r["place"] and r["place"]["line"]) for r in report["rows"]
                      if r["kind"] in ("load", "store")}
            self.assertEqual(places, {("load", line), ("store", line)}, compiler)

    def test_figures_stand_by_the_lines_of_the_text(self):
        line = line_of("transposed", "to[p.x * height + p.y] = v;")
        values = list(range(64 * 32))
        options = ["--buffer", "1,0=" + self.data("from", "I", values), "--buffer", "1,3=zeros:8192",
                   "--spec", "4=64", "--dispatch", "2,16", "--out", "1,3=" + self.path("to")]
        for compiler in [("-g",), ("-gVS",)]:
            report = self.report(self.compiled("transposed", *compiler), *options)
            self.assertEqual(self.result("to", "I"),
                             [values[y * 64 + x] for x in range(64) for y in range(32)])
            store = self.row(report, kind="store")
            self.assertEqual((store["place"]["file"], store["place"]["line"]), ("transposed.comp", line))
            self.assertEqual(store["access"]["requests"], 64)
            self.assertEqual(store["access"]["sectors"], 64 * 32)
            self.assertEqual(store["access"]["strides"], {"32": 64})
            load = self.row(report, kind="load")
            self.assertEqual(load["place"]["line"], line_of("transposed", "uint v ="))
            self.assertEqual(load["access"]["sectors"], load["access"]["least_sectors"])
            self.assertEqual([f["place"]["line"] for f in report["findings"]], [line])
            self.assertIn("elements 32 apart", report["findings"][0]["text"])
        done = self.observe(self.compiled("transposed", "-g"), *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        shown, = [l for l in done.stdout.splitlines() if "to[p.x * height + p.y] = v;" in l
                  and " | " in l]
        self.assertEqual(shown.split()[:4], ["64", "8192", "2048", "256"])
        self.assertIn(f"transposed.comp:{line}:3-30  to[p.x * height + p.y] = v;", done.stdout)
        page = self.path("page.html")
        self.assertEqual(self.observe(self.compiled("transposed", "-g"), "--html", page, *options).stdout, "")
        with open(page, encoding="utf-8") as file:
            self.assertIn("to[p.x * height + p.y] = v;", file.read())

    def test_without_lines_instructions_are_shown(self):
        done = self.observe(self.compiled("transposed", "-g0"), "--buffer", "1,0=iota:u32:1024",
                            "--buffer", "1,3=zeros:4096", "--spec", "4=32", "--dispatch", "1,16")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"\n +32 +4096 +1024 +128 +32\.0 +\d+ \| +OpStore \d+ \d+\n")

    def test_workgroups_reduce(self):
        values = [random.Random(1).randrange(-1000, 1000) for _ in range(1000)]
        expected = []
        for k in range(0, 1000, 128):
            expected += [sum(values[k:k + 128])] * 2
        for subgroup in [8, 32, 64]:
            report = self.report(self.compiled("reduce"), "--buffer",
                                 "In=" + self.data("in", "i", values), "--buffer", "Out=undefined:64",
                                 "--dispatch", "8", "--subgroup", str(subgroup), "--out",
                                 "Out=" + self.path("sums"))
            self.assertEqual(self.result("sums", "i"), expected)
            self.assertEqual(report["subgroup_size"], subgroup)
            self.assertEqual(report["kernels"][0]["workgroups_run"], 8)
        # What is called counts for its own line.
        self.assertEqual(self.row(report, kind="load", array="In")["place"]["line"],
                         line_of("reduce", "values[i] : 0"))

    def test_histograms_meet_in_their_bins(self):
        values = [random.Random(2).randrange(1 << 30) for _ in range(640)]
        expected = [sum(v % 7 == k for v in values) for k in range(7)]
        report = self.report(self.compiled("histogram"), "--buffer",
                             "0,0=" + self.data("values", "I", values), "--buffer", "0,1=zeros:28",
                             "--dispatch", "10", "--out", "0,1=" + self.path("bins"))
        self.assertEqual(self.result("bins", "I"), expected)
        line = line_of("histogram", "atomicAdd")
        self.assertEqual(self.row(report, kind="atomic")["place"]["line"], line)
        self.assertTrue(any(f["place"]["line"] == line and "change one place" in f["text"]
                            for f in report["findings"]), report["findings"])

    def test_a_race_is_found_between_its_lines(self):
        store, load = (line_of("race", t) for t in ["tile[t] = data[t];", "data[t] = tile[63 - t];"])
        found = 0
        for seed in range(1, 9):
            done = self.observe(self.compiled("race"), "--buffer", "0,0=iota:u32:64",
                                f"--pass-option=--seed={seed}")
            if done.returncode == 0:
                continue
            self.assertIn("The shader has ", done.stderr)
            lines = [int(n) for n in re.findall(r"race\.comp:(\d+):", done.stderr)]
            # Or a thread reads what nobody has written yet.
            wanted = {store, load} if "has a race" in done.stderr else {load}
            self.assertEqual(set(lines), wanted, done.stderr)
            self.assertIn("1 workgroup of 64 threads, of which 0 have run", done.stdout)
            found += "has a race" in done.stderr
        self.assertGreater(found, 0)

    def test_what_is_outside_of_a_buffer_is_found_with_its_calls(self):
        done = self.observe(self.compiled("outside"), "--buffer", "0,0=zeros:500")
        self.assertEqual(done.returncode, 1)
        self.assertIn("The shader has an access outside of a block", done.stderr)
        self.assertIn("of a block of 500 bytes", done.stderr)
        self.assertEqual([int(n) for n in re.findall(r"outside\.comp:(\d+):", done.stderr)],
                         [line_of("outside", "data[t + 64]"), line_of("outside", "shift(gl_")])

    def test_structures_lie_as_they_are_laid_out(self):
        count, size = 40, 48  # vec3, float, mat2, int[3], and a gap to a multiple of 16
        particles, expected = [], []
        for i in range(count):
            place, mass, turn, kind = [i, 2 * i, 3 * i], 2, [1, 0, 0, 1], [i, i + 1, i + 2]
            particles.append(struct.pack("<3ff4f3i4x", *place, mass, *turn, *kind))
            moved = [p + mass * g * 0.5 for p, g in zip(place, [0, 1, -4])]
            kind[i % 3] += [10, 20][i % 2]
            turn[2 + i % 2] = i
            expected.append(struct.pack("<3ff4f3i4x", *moved, mass, *turn, *kind))
        self.assertEqual({len(p) for p in particles}, {size})
        head = struct.pack("<I12x", count)
        with open(self.path("particles"), "wb") as file:
            file.write(head + b"".join(particles))
        uniform = struct.pack("<3fff12xf12x", 0, 1, -4, 0.5, 10, 20)
        with open(self.path("step"), "wb") as file:
            file.write(uniform)
        self.report(self.compiled("particles"), "--buffer", "0,0=" + self.path("particles"), "--buffer",
                    "0,1=" + self.path("step"), "--dispatch", "2", "--out", "0,0=" + self.path("moved"))
        with open(self.path("moved"), "rb") as file:
            self.assertEqual(file.read(), head + b"".join(expected))

    def test_push_constants_may_be_addresses(self):
        report = self.report(self.compiled("reference"), "--buffer", "x=iota:u32:100", "--buffer",
                             "y=undefined:400", "--push", "u64:&x,&y", "--push", "u32:100", "--dispatch",
                             "2", "--out", "y=" + self.path("y"))
        self.assertEqual(self.result("y", "I"), [k * 3 if k % 2 == 0 else k // 3 for k in range(100)])
        branch = self.row(report, kind="branch")
        self.assertEqual(branch["place"]["line"], line_of("reference", "if (i % 2 == 0)"))
        self.assertEqual(branch["branch"]["divergent"], branch["branch"]["requests"])
        self.assertEqual(self.row(report, kind="loop")["place"]["line"], line_of("reference", "for (uint i"))

    def test_some_workgroups_stand_for_all(self):
        report = self.report(self.compiled("histogram"), "--buffer", "0,0=random:u32:64000", "--buffer",
                             "0,1=zeros:1024", "--dispatch", "1000", "--groups", "3")
        self.assertEqual((report["kernels"][0]["workgroups"], report["kernels"][0]["workgroups_run"]),
                         (1000, 3))

    def refusal(self, spv, *options):
        done = self.observe(spv, *options)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "")
        return done.stderr

    def test_what_cannot_be_run_is_named(self):
        add = self.compiled("vector_add")
        self.assertRegex(self.refusal(self.compiled("picture")),
                         r"OpTypeImage is not read \(instruction \d+\)")
        self.assertIn("the shader uses buffer 0,0: give it by --buffer; its buffers: 0,0 (A), 0,1 (B), "
                      "0,2 (C)", self.refusal(add, "--push", "u32:1,1"))
        buffers = [w for k in range(3) for w in ("--buffer", f"0,{k}=zeros:4")]
        self.assertIn("push constants of 4 bytes at byte 4: --push gives 4 bytes",
                      self.refusal(add, *buffers, "--push", "u32:1"))
        self.assertIn("its constants: 4 (width, u32)",
                      self.refusal(self.compiled("transposed"), "--spec", "1=1"))
        self.assertIn("no compute shader other in it, but main", self.refusal(add, "--entry", "other"))
        for option, value, why in [("--buffer", "0,0", "there is no = in it"),
                                   ("--buffer", "0,0=zeros:x", "x is no number"),
                                   ("--buffer", "0,0=u8:256", "256 is no u8"),
                                   ("--buffer", "0,0=/nowhere", "/nowhere cannot be read"),
                                   ("--buffer", "0,=zeros:4", "is no number"),
                                   ("--dispatch", "1,2,3,4", "more than X,Y,Z"),
                                   ("--push", "u64:&x", "there is no buffer &x"),
                                   ("--spec", "4", "it is no ID=VALUE")]:
            self.assertIn(why, self.refusal(add, option, value))
        self.assertIn("there is no such --buffer",
                      self.refusal(add, *buffers, "--push", "u32:1,1", "--out", "0,9=" + self.path("no")))
        program = self.path("p.fut")
        with open(program, "w", encoding="utf-8") as file:
            file.write("entry main (x: i64): i64 = x\n")
        self.assertIn("are for shaders", self.refusal(program, "--dispatch", "2"))

    def test_any_file_is_read_or_refused(self):
        with open(self.compiled("particles"), "rb") as file:
            good = file.read()
        spoilt = random.Random(3)
        for run in range(24):
            words = bytearray(good)
            if run % 4 == 0:
                del words[spoilt.randrange(len(words)):]
            for _ in range(1 + run % 3):
                if words:
                    words[spoilt.randrange(len(words))] = spoilt.randrange(256)
            with open(self.path("spoilt.spv"), "wb") as file:
                file.write(words)
            done = self.observe(self.path("spoilt.spv"), "--buffer", "0,0=zeros:4096", "--buffer",
                                "0,1=zeros:64", "--groups", "1")
            self.assertIn(done.returncode, (0, 1), done.stderr)
            self.assertEqual(done.returncode == 1, "kenaz-server: " in done.stderr, done.stderr)


if __name__ == "__main__":
    KENAZ, SERVER, GLSLANG = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1])
