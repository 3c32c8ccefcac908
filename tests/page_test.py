#!/usr/bin/env python3
"""The page of `kenaz observe --html` in a browser: what Chromium computes of its layout, what it draws,
and what else it does. docs/observe.md.

    page_test.py KENAZ SERVER            # compares with the pictures in tests/pages
    page_test.py --update KENAZ SERVER   # writes these pictures
    page_test.py --keep FOLDER KENAZ SERVER   # .. and what they have been reduced from

Pictures are compared by the mean colours of squares of 8 pixels: these show blocks, lines and warm
places, whichever way letters are smoothed."""
import base64
import contextlib
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "pages"))
from browser import Browser  # noqa: E402

KENAZ, SERVER, UPDATE, KEEP = "", "", False, ""
PROGRAM = """entry rows [n][m] (xss: [n][m]f32): [n]f32 =
  map (\\i -> loop s = 0 for j < m do s + xss[i, j]) (iota n)

-- A line that is longer than windows are wide: whatever is on a page of a program has to be readable in it as well.
entry stages [n] (is: [n]i64): i64 =
  let xs = #[opaque] map (\\i -> if i % 3 == 0 then loop s = i for k < i % 17 do (s * s + k) % 1013 else i + 1) is
  let ys = map (\\i -> xs[(i * 37) % n]) (iota n)
  in i64.sum (scan (+) 0 ys)

entry plain [n] (xs: [n]f32): [n]f32 = map (* 2) xs
-- </td></table><script>alert("&amp;")</script> <!-- ' --
entry bins [n] (is: [n]i64): [7]i32 =
  reduce_by_index (replicate 7 0) (+) 0 (map (% 7) is) (replicate n 1)
"""
# Rows of 64 would be loaded by vectors.
ROWS = f"[{', '.join(['[' + ', '.join(['1f32'] * 65) + ']'] * 256)}]"
NUMBERS = f"[{', '.join(f'{k}i64' for k in range(5000))}]"
VALUES = {"rows": ROWS, "stages": NUMBERS, "bins": NUMBERS,
          "plain": f"[{', '.join(['1f32'] * 1024)}]"}
WINDOWS = [(1920, 1080, "light"), (1440, 900, "dark"), (1024, 768, "light"), (390, 844, "dark")]
# The fonts of the package fonts-dejavu-core, on any machine.
FONTS = """(() => {
  const style = document.createElement('style');
  style.textContent = '* { font-family: "DejaVu Sans" !important; } ' +
      'code, td.code { font-family: "DejaVu Sans Mono" !important; }';
  document.head.append(style);
  return document.fonts.ready.then(() => document.fonts.size);
})()"""
SQUARE = 8    # pixels
FAR = 24      # difference in one channel, of 255, that is seen
MOST_FAR = 0.03  # share of the squares that may be that far off
MEASURE = (HERE / "pages" / "measure.js").read_text()
# The mean colours of a picture's squares: columns, rows, and base64 of red, green, blue.
REDUCE = """new Promise(done => {
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement('canvas');
    const [columns, rows] = [image.width / SQUARE | 0, image.height / SQUARE | 0];
    canvas.width = image.width, canvas.height = image.height;
    const drawing = canvas.getContext('2d', {willReadFrequently: true});
    drawing.drawImage(image, 0, 0);
    const pixels = drawing.getImageData(0, 0, image.width, image.height).data;
    let out = '';
    for (let r = 0; r < rows; ++r) for (let c = 0; c < columns; ++c) for (let k = 0; k < 3; ++k) {
      let sum = 0;
      for (let y = r * SQUARE; y < (r + 1) * SQUARE; ++y)
        for (let x = c * SQUARE; x < (c + 1) * SQUARE; ++x) sum += pixels[(y * image.width + x) * 4 + k];
      out += String.fromCharCode(Math.round(sum / SQUARE / SQUARE));
    }
    done([columns, rows, btoa(out)]);
  };
  image.src = 'data:image/png;base64,' + PICTURE;
})"""


def script(name):
    """A script of the project, as a module."""
    loader = importlib.machinery.SourceFileLoader(name, str(HERE.parent / "scripts" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


def write_png(path, width, height, pixels):
    """8-bit RGB."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(
            ">I", zlib.crc32(kind + body))
    lines = b"".join(b"\0" + pixels[3 * width * y:3 * width * (y + 1)] for y in range(height))
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" +
                   chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
                   chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b""))


def apart(a, b):
    """Whether two colours are seen to differ."""
    return max(abs(x - y) for x, y in zip(a, b)) > FAR


def share_off(one, other):
    """The share of the squares that differ, of two reduced pictures. Squares that are empty in both do
    not count: those of the colour of the last one, in a corner of the page."""
    if one[:2] != other[:2]:
        return 1.0
    pairs = [(one[2][i:i + 3], other[2][i:i + 3]) for i in range(0, len(one[2]), 3)]
    blank = pairs[-1][0]
    used = [(a, b) for a, b in pairs if apart(a, blank) or apart(b, blank)]
    return sum(apart(a, b) for a, b in used) / max(len(used), 1)


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        browser = shutil.which("chromium-headless-shell") or shutil.which("chromium")
        assert browser, "there is no Chromium: scripts/setup installs one"
        # The browser's processes may write to it for a while after its end.
        scratch = tempfile.TemporaryDirectory(prefix="kenaz_test_", ignore_cleanup_errors=True)
        cls.addClassCleanup(scratch.cleanup)
        # Names on pages are as they were given.
        folder = os.path.join("a_folder_with_a_rather_long_name", "and_another_one_in_it")
        program, cls.scratch = os.path.join(folder, "program.fut"), scratch.name
        os.makedirs(os.path.join(scratch.name, folder))
        pathlib.Path(scratch.name, program).write_text(PROGRAM)
        cls.urls, cls.reports = {}, {}
        for entry, values in VALUES.items():
            page = os.path.join(scratch.name, entry + ".html")
            cls.observe(program, entry, values, "--html", page)
            cls.urls[entry] = "file://" + page
            cls.reports[entry] = json.loads(cls.observe(program, entry, values, "--json"))
        cls.browser = Browser(browser, os.path.join(scratch.name, "browser"))
        cls.addClassCleanup(cls.browser.close)

    @classmethod
    def observe(cls, program, entry, values, *options):
        return subprocess.run([KENAZ, "observe", "--server", SERVER, "-e", entry, *options, program],
                              input=values, text=True, timeout=120, stdout=subprocess.PIPE,
                              check=True, cwd=cls.scratch).stdout

    @contextlib.contextmanager
    def page(self, entry, width, height, scheme="light"):
        """A page in a window."""
        with self.subTest(entry=entry, width=width, scheme=scheme):
            self.browser.open(self.urls[entry], width, height, scheme)
            self.browser.run(FONTS)
            yield

    def test_everything_can_be_read_at_any_width(self):
        for entry in VALUES:
            for width, height, scheme in WINDOWS:
                with self.page(entry, width, height, scheme):
                    got = self.browser.run(MEASURE)
                    self.check_layout(got, width)
                    self.check_lines(got["lines"], width, self.reports[entry])

    def check_layout(self, got, width):
        self.assertEqual(got["wrong"], [])
        self.assertGreater(got["texts"], 40)
        for table in got["tables"]:
            self.assertGreaterEqual(table["left"], 0)
            self.assertLessEqual(table["right"], width)
            if width >= 1024:
                self.assertLessEqual(table["hidden"], 0, "one has to scroll sideways")
        program, report = got["columns"]
        if width >= 1408:
            self.assertLessEqual(program["right"], report["left"] + 0.5)
        else:
            self.assertLessEqual(program["bottom"], report["top"] + 0.5)

    def check_lines(self, lines, width, report):
        """Figures stand beside their lines, and warm them."""
        self.assertEqual([l["number"] for l in lines], list(range(1, len(lines) + 1)))
        self.assertEqual([l["cells"][1] for l in lines], PROGRAM.splitlines())
        seen = {}
        for row in report["rows"]:
            if row["place"] and row.get("access", {}).get("memory") == "device":
                line = row["place"]["line"]
                seen[line] = seen.get(line, 0) + row["access"]["sectors"]
        self.assertTrue(seen)
        sectors = 2 if len(lines[0]["cells"]) == 4 else 4  # requests and bytes need more room
        self.assertEqual({l["number"]: int(l["cells"][sectors]) for l in lines
                          if l["cells"][sectors]}, seen)
        for line in lines:
            self.assertFalse(line["cut"])
            self.assertLessEqual(line["right"], width)
            self.assertLess(line["spread"], 6, line)
            level = -(-5 * seen.get(line["number"], 0) // max(seen.values()))
            self.assertEqual(line["heat"], f"h{level}" if level else "")
        by_heat = sorted(lines, key=lambda l: l["heat"])
        warmth = lambda line: line["colour"][0] - line["colour"][2]
        for cooler, warmer in zip(by_heat, by_heat[1:]):
            if cooler["heat"] < warmer["heat"]:
                self.assertLess(warmth(cooler) + 8, warmth(warmer))

    def test_nothing_is_fetched_or_complained_of(self):
        for entry in VALUES:
            with self.page(entry, 1440, 900):
                events = self.browser.events
                fetched = [e["params"]["request"]["url"] for e in events
                           if e["method"] == "Network.requestWillBeSent"]
                self.assertEqual(fetched, [self.urls[entry]])
                bad = [e for e in events if e["method"] in (
                    "Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled",
                    "Page.javascriptDialogOpening")]
                self.assertEqual(bad, [])
        # Nor could it be.
        self.assertEqual(self.browser.run(
            "fetch('data:,x').then(() => 'fetched', () => 'refused')"), "refused")

    def test_links_lead_to_their_lines(self):
        for entry, width, height in [("rows", 1440, 300), ("stages", 390, 500)]:
            with self.page(entry, width, height):
                links = self.browser.run("document.querySelectorAll('a').length")
                self.assertGreater(links, 3)
                for k in range(links):
                    self.follow(k)

    def follow(self, link):
        got = self.browser.run(f"""(() => {{
          const link = document.querySelectorAll('a')[{link}];
          link.scrollIntoView();
          link.click();
          const row = document.querySelector(':target');
          const box = row.getBoundingClientRect();
          return {{top: box.top, bottom: box.bottom, height: innerHeight,
                  line: Number(row.cells[0].textContent), text: link.textContent,
                  marked: getComputedStyle(row).outlineStyle}};
        }})()""")
        self.assertRegex(got["text"], rf"^program\.fut:{got['line']}:")
        self.assertEqual(got["marked"], "solid")
        self.assertGreaterEqual(got["top"], -1)
        self.assertLess(got["top"], got["height"])

    def test_histograms_open_and_are_as_long_as_their_counts(self):
        for width, height in [(1440, 900), (390, 844)]:
            with self.page("stages", width, height):
                self.check_histograms()

    def check_histograms(self):
        got = self.browser.run("""(() => {
          const shut = [...document.querySelectorAll('.how details')];
          const hidden = shut.filter(d => !d.querySelector('.bars').checkVisibility()).length;
          for (const d of shut) d.querySelector('summary').click();
          return {hidden, shut: shut.length, bars: [...document.querySelectorAll('.bars')].map(e =>
            [...e.querySelectorAll('i')].map(i => [i.getBoundingClientRect().width,
                                                   Number(i.nextSibling.textContent)]))};
        })()""")
        self.assertEqual(got["hidden"], got["shut"])
        self.assertGreater(len(got["bars"]), 10)
        for bars in got["bars"]:
            longest = max(width for width, _ in bars)
            most = max(count for _, count in bars)
            self.assertGreater(longest, 50)
            for width, count in bars:
                self.assertAlmostEqual(width, max(longest * count / most, 1), delta=1)
        self.assertEqual(self.browser.run(MEASURE)["wrong"], [])

    def reduced(self, name):
        """The window's picture as (columns, rows, bytes)."""
        picture = self.browser.picture()
        if KEEP:
            pathlib.Path(KEEP, name + ".png").write_bytes(picture)
        self.browser.open("about:blank", 800, 600, "light")
        columns, rows, pixels = self.browser.run(
            REDUCE.replace("SQUARE", str(SQUARE)).replace(
                "PICTURE", json.dumps(base64.b64encode(picture).decode())))
        return columns, rows, base64.b64decode(pixels)

    def test_pictures_look_as_before(self):
        read_png = script("compare_png").read
        seen = {}
        for entry, width, height, scheme in [
                ("rows", 1440, 900, "light"), ("stages", 1440, 900, "light"),
                ("stages", 1440, 900, "dark"), ("stages", 390, 844, "light")]:
            name = f"{entry}_{width}_{scheme}"
            with self.page(entry, width, height, scheme):
                seen[name] = self.reduced(name)
                wanted = HERE / "pages" / (name + ".png")
                if UPDATE:
                    write_png(wanted, *seen[name])
                columns, rows, pixels = read_png(str(wanted))
                self.assertLessEqual(share_off((columns, rows, bytes(pixels)), seen[name]), MOST_FAR)
        # Other pages, and other styles of the same, are seen to be others.
        usual = seen["stages_1440_light"]
        self.assertGreater(share_off(seen["rows_1440_light"], usual), MOST_FAR)
        for style in ["th, td.n { text-align: left !important; }",
                      "tr { background: none !important; }",
                      "td.code { white-space: pre !important; }"]:
            with self.page("stages", 1440, 900):
                self.browser.run("document.head.append(Object.assign(document.createElement('style'),"
                                 f" {{textContent: '{style}'}})); 0")
                self.assertGreater(share_off(usual, self.reduced("changed")), MOST_FAR, style)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    while arguments[0].startswith("--"):
        if arguments.pop(0) == "--update":
            UPDATE = True
        else:
            KEEP = arguments.pop(0)
    KENAZ, SERVER = map(os.path.abspath, arguments)
    unittest.main(argv=sys.argv[:1])
