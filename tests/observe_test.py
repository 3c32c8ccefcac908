#!/usr/bin/env python3
"""kenaz observe: figures of programs whose accesses are known by arithmetic. docs/observe.md.

    observe_test.py KENAZ SERVER"""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from html.parser import HTMLParser

KENAZ, SERVER = "", ""
PROGRAM = """entry strided (xs: []f32) (k: i64): []f32 =
  map (\\i -> xs[i * k]) (iota 1024)
entry rows [n][m] (xss: [n][m]f32): [n]f32 =
  map (\\i -> loop s = 0 for j < m do s + xss[i, j]) (iota n)
entry parity (n: i64): []i64 =
  map (\\i -> if i % 2 == 0 then loop s = i for k < 10 do s * s + k else i) (iota n)
entry wrong (n: i64): []i64 =
  scatter (replicate 1 0) (replicate n 0) (iota n)
-- </td></table><script>alert("&amp;")</script> <!-- ' -- \u03bb \t.
entry last (n: i64): i64 =
  let sums = #[opaque] scan (+) 0 (iota n) in sums[n - 1]
entry late (n: i64): i64 =
  let xs = #[opaque] map (\\i -> i + 1) (iota n)
  in i64.sum (map (\\i -> xs[i * xs[i]]) (iota n))
entry later (n: i64): i64 =
  let xs = #[opaque] map (\\i -> i + 1) (iota n) in xs[xs[n - 1]]
entry spread [n] (k: i64) (is: [n]i64): [k]i64 =
  scatter (replicate k 0)
          (map (% k) is)
          (map (* 2) is)
entry pair [n] (left: [n]i64) (right: [n]i64): [n]i64 = map2 (+) left right
entry twice [n][m] (xs: [n]i64) (ys: [m]i64) =
  (map (* 3) xs,
   map (* 3) ys)
"""
FIELDS = {"memory", "bytes_each", "requests", "threads", "bytes", "sectors", "least_sectors",
          "lines", "least_lines", "bank_turns", "least_bank_turns", "threads_at_one_place",
          "classes", "strides", "requests_by_sectors", "requests_by_threads"}
VOID = {"meta"}


class Page(HTMLParser):
    """The elements of a page; `tables`: rows by their class, each a list of the texts of its cells;
    `source`: the lines of programs."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.links, self.ids, self.attributes = [], set(), [], set(), set()
        self.tables, self.source, self.text = {}, [], ""
        self.row = self.cell = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.add(tag)
        self.attributes |= set(attrs)
        if "id" in attrs:
            self.ids.add(attrs["id"])
        if "href" in attrs:
            self.links.append(attrs["href"])
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.row = self.tables.setdefault(attrs.get("class", ""), [])
            self.row.append([])
        if tag in ("td", "th"):
            self.row[-1].append("")
            self.cell = attrs.get("class", "")
            if self.cell == "code":
                self.source.append("")

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open, self.getpos())
        self.open.pop()
        if tag in ("td", "th"):
            self.cell = None

    def handle_data(self, data):
        self.text += data
        if self.cell is not None:
            self.row[-1][-1] += data
        if self.cell == "code":
            self.source[-1] += data

    def handle_comment(self, data):
        raise AssertionError("a comment: " + data)


class Observe(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="kenaz_test_")
        self.addCleanup(scratch.cleanup)
        self.program = os.path.join(scratch.name, "p.fut")
        with open(self.program, "w", encoding="utf-8") as file:
            file.write(PROGRAM)

    def observe(self, entry, values, *options):
        return subprocess.run(
            [KENAZ, "observe", "--server", SERVER, "-e", entry, *options, self.program],
            input=values, text=True, timeout=120, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def report(self, entry, values, subgroup_size):
        done = self.observe(entry, values, "--json", f"--pass-option=--subgroup-size={subgroup_size}")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report["subgroup_size"], subgroup_size)
        return report

    def the_row(self, report, **wanted):
        rows = [r for r in report["rows"] if "access" in r and r["access"]["memory"] == "device"
                and all(r[k] == v for k, v in wanted.items())]
        self.assertEqual(len(rows), 1, report["rows"])
        self.assertEqual(set(rows[0]["access"]), FIELDS)
        return rows[0]["access"]

    def test_a_stride_touches_as_many_sectors_as_it_must(self):
        for size in [8, 32, 64]:
            for stride in [1, 2, 4, 8, 16]:
                values = f"[{', '.join(['1f32'] * (1024 * stride))}] {stride}i64"
                report = self.report("strided", values, size)
                load = self.the_row(report, kind="load")
                self.assertEqual(load["requests"], 1024 // size)
                self.assertEqual(load["threads"], 1024)
                self.assertEqual(load["bytes"], 4096)
                self.assertEqual(load["least_sectors"], 128)
                self.assertEqual(load["sectors"], 128 * min(stride, 8))
                told = [f for f in report["findings"] if f"elements {stride} apart" in f["text"]]
                self.assertEqual(len(told), stride > 1, report["findings"])

    def test_rows_read_by_threads_of_their_own_are_told_with_their_line(self):
        row = "[" + ", ".join(["1f32"] * 65) + "]"
        done = self.observe("rows", f"[{', '.join([row] * 256)}]")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"  {self.program}:4:42-51  xss[i, j]\n      The loads of xss touch 32.0 sectors of 32 "
                      "bytes in a subgroup, where 4.0 could hold the bytes. Neighbouring threads "
                      "access elements 65 apart.", done.stdout)
        line, = [l for l in done.stdout.splitlines() if l.endswith(PROGRAM.splitlines()[3])]
        # 256 threads: 8 subgroups, each 65 loads of 32 sectors and a store of 4. (Rows of 64 are loaded
        # by vectors.)
        self.assertEqual(line.split()[:5], ["528", str(256 * 66 * 4), str(8 * (65 * 32 + 4)),
                                            str(8 * 66 * 4), "32.0"])

    def test_branches_that_diverge_are_told(self):
        report = self.report("parity", "256i64", 8)
        branches = [r for r in report["rows"] if r["kind"] == "branch" and
                    r["branch"]["divergent"] == 256 // 8]
        self.assertEqual(len(branches), 1, report["rows"])
        self.assertEqual(branches[0]["branch"]["taken"], 128)
        self.assertTrue(any("both ways of a branch in 100%" in f["text"]
                            for f in report["findings"]), report["findings"])

    def test_a_page_holds_the_report(self):
        row = "[" + ", ".join(["1f32"] * 65) + "]"
        values = f"[{', '.join([row] * 256)}]"
        report = self.report("rows", values, 32)
        file = self.program + ".html"
        done = self.observe("rows", values, "--html", file)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        with open(file, encoding="utf-8") as page_file:
            text = page_file.read()
        page = Page(text)
        self.assertEqual(page.open, [])
        self.assertEqual(page.source, PROGRAM.splitlines())
        self.assertTrue(page.tags.isdisjoint(
            {"script", "link", "img", "iframe", "object", "embed", "base", "form"}), page.tags)
        self.assertTrue(page.attributes <= {"charset", "name", "content", "lang", "id", "class",
                                            "href", "style", "open", "colspan", "http-equiv"}, page.attributes)
        self.assertNotIn("url(", text)
        self.assertNotIn("@import", text)
        self.assertTrue(page.links)
        self.assertTrue({l for l in page.links} <= {"#" + i for i in page.ids}, page.links)
        self.check_rows(page, report)
        for finding in report["findings"]:
            self.assertIn(finding["text"], page.text)
        for kernel in report["kernels"]:
            plural = "" if kernel["launches"] == 1 else "es"
            self.assertIn(f"{kernel['name']}: {kernel['launches']} launch{plural}, "
                          f"{kernel['workgroups']} workgroups", page.text)
        # The line that touches most sectors is the warmest.
        warmest, = page.tables["h5"]
        self.assertEqual(warmest[:2], ["4", PROGRAM.splitlines()[3]])
        self.assertEqual(warmest[2:], ["528", str(256 * 66 * 4), str(8 * (65 * 32 + 4)),
                                       str(8 * 66 * 4), "32.0"])

    def check_rows(self, page, report):
        place = lambda r: r["place"]["range"].rpartition("/")[2] if r["place"] else "?"
        accesses, branches = [], []
        for r in report["rows"]:
            if "access" in r:
                a = r["access"]
                turns = "sectors" if a["memory"] == "device" else "bank_turns"
                cells = [place(r), r["kind"], r.get("array", ""), str(a["requests"]),
                         f"{a['threads'] / a['requests']:.1f}"]
                cells += [str(a[k]) for k in ("bytes", turns, "least_" + turns,
                                              "threads_at_one_place")]
                if a["memory"] == "device":
                    cells.append(str(r.get("written", {}).get("never_read", "")))
                accesses.append(cells)
            if "branch" in r:
                branches.append([place(r), r["kind"]] + [
                    str(r["branch"][k]) for k in ("requests", "threads", "taken", "divergent")])
        self.assertTrue(accesses and branches)
        self.assertEqual(sorted(page.tables["access"]), sorted(accesses))
        self.assertEqual(len(page.tables["how"]), len(accesses))
        self.assertEqual(sorted(page.tables["branch"]), sorted(branches))
        for r in report["rows"]:
            for counts in ("requests_by_sectors", "requests_by_threads"):
                if "access" in r:
                    self.assertEqual(sum(r["access"][counts].values()), r["access"]["requests"])

    def test_stores_that_nobody_reads_are_told(self):
        report = self.report("last", "5000i64", 32)
        lost = [f for f in report["findings"] if "are never read" in f["text"]]
        self.assertEqual(len(lost), 1, report["findings"])
        self.assertTrue(lost[0]["text"].startswith(f"Of {5000 * 8} bytes that the stores"), lost)
        self.assertEqual(lost[0]["place"]["line"], 11)
        row = "[" + ", ".join(["1f32"] * 65) + "]"
        report = self.report("rows", f"[{', '.join([row] * 256)}]", 32)  # its result is no loss
        self.assertEqual([r["written"]["never_read"] for r in report["rows"] if "written" in r], [0])

    def test_some_workgroups_stand_for_all(self):
        whole = self.report("parity", "16384i64", 32)
        done = self.observe("parity", "16384i64", "--json", "--groups", "4")
        self.assertEqual(done.returncode, 0, done.stderr)
        some = json.loads(done.stdout)
        groups = whole["kernels"][0]["workgroups"]
        self.assertGreater(groups, 4)
        self.assertEqual([k["workgroups_run"] for k in whole["kernels"]], [groups])
        self.assertEqual([(k["workgroups"], k["workgroups_run"]) for k in some["kernels"]],
                         [(groups, 4)])
        self.assertTrue(all("written" in r for r in whole["rows"] if r["kind"] == "store"))
        self.assertFalse(any("written" in r for r in some["rows"]))  # others might have read it
        of_all, of_four = self.the_row(whole, kind="store"), self.the_row(some, kind="store")
        for figure in ("requests", "threads", "bytes", "sectors", "lines"):
            self.assertEqual(of_four[figure] * groups, of_all[figure] * 4)

    def test_what_other_workgroups_would_compute_is_named(self):
        done = self.observe("last", "50000i64", "--groups", "2")
        self.assertEqual(done.returncode, 1)
        self.assertIn("not been computed", done.stderr)
        self.assertIn("2 of ", done.stderr)
        self.assertIn("of which 2 have run", done.stdout)

    def test_arrays_have_the_names_of_parameters(self):
        report = self.report("strided", f"[{', '.join(['1f32'] * 1024)}] 1i64", 32)
        self.assertEqual(self.the_row(report, kind="load", array="xs")["threads"], 1024)
        report = self.report("pair", "[1i64, 2i64, 3i64] [4i64, 5i64, 6i64]", 32)
        names = {r["array"] for r in report["rows"] if r["kind"] == "load"}
        self.assertEqual(names, {"left", "right"})

    def test_a_scatter_stores_at_its_own_place(self):
        report = self.report("spread", f"64i64 [{', '.join(f'{k}i64' for k in range(64))}]", 32)
        lines = {(r["kernel"].split("_")[1], r["kind"]): r["place"] and r["place"]["range"]
                 for r in report["rows"] if "access" in r}
        first = PROGRAM.splitlines().index("  scatter (replicate k 0)") + 1
        whole = f"{self.program}:{first}:3-{first + 2}:25"
        self.assertEqual(lines[("scatter", "store")], whole)
        self.assertEqual(lines[("copy", "store")], whole)  # of the array that it writes to

    def test_what_runs_can_be_printed(self):
        done = subprocess.run([SERVER, "--dump", "kir", self.program], text=True, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('kernel "rows_map_', done.stdout)
        self.assertNotIn("#version", done.stdout)

    def test_kernels_with_equal_code_have_names_and_lines_of_their_own(self):
        first = PROGRAM.splitlines().index("  (map (* 3) xs,") + 1
        for options in [], ["--pass-option=--through-spirv"]:
            done = self.observe("twice", "[1i64, 2i64] [3i64, 4i64, 5i64]", "--json", *options)
            self.assertEqual(done.returncode, 0, done.stderr)
            report = json.loads(done.stdout)
            stores = {(r["kernel"], r["place"]["line"]): r["access"]["threads"]
                      for r in report["rows"] if r["kind"] == "store"}
            self.assertEqual([(line, threads) for (_, line), threads in sorted(stores.items())],
                             [(first, 2), (first + 1, 3)])
            self.assertEqual(len({kernel for kernel, _ in stores}), 2)
            self.assertEqual([k["launches"] for k in report["kernels"]], [1, 1])

    def test_a_race_fails_the_call_with_its_line(self):
        done = self.observe("wrong", "100i64")
        self.assertEqual(done.returncode, 1)
        self.assertIn("has a race", done.stderr)
        self.assertIn(f"{self.program}:8:", done.stderr)

    def test_a_call_that_fails_says_nothing_of_what_it_would_have_read(self):
        for entry in ["late", "later"]:  # on the device; on the host
            done = self.observe(entry, "5000i64", "--json", "--groups", "1000")
            self.assertEqual(done.returncode, 1)
            self.assertIn("out of bounds", done.stderr)
            report = json.loads(done.stdout)
            self.assertTrue([r for r in report["rows"] if r["kind"] == "store"])
            self.assertEqual([r for r in report["rows"] if "written" in r], [])
            self.assertEqual([f for f in report["findings"] if "never read" in f["text"]], [])


if __name__ == "__main__":
    KENAZ, SERVER = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
