#!/usr/bin/env python3
"""kenaz image on files: formats, layers, textures, folders, errors; the examples' test blocks; what
the server tells of a filter.

    filters_test.py FOLDER_OF_PROGRAMS DEVICE"""
import pathlib
import subprocess
import sys
import tempfile

import pictures

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
KENAZ, SERVER = (str(pathlib.Path(sys.argv[1]) / name) for name in ("kenaz", "kenaz-server"))
DEVICE = sys.argv[2]
NEGATIVE = """def result_u8 |x, y| {
  let [b, g, r, a] = input_u8(x, y)
  u8[255-b, 255-g, 255-r, a]
}
"""
failures = 0


def expect(good, what, detail=""):
    global failures
    if not good:
        failures += 1
        print(f"FAIL: {what}\n{detail}")


def image(*arguments, where=("--reference",)):
    return subprocess.run([KENAZ, "image", *map(str, arguments), *where], capture_output=True,
                          text=True)


def test_formats(folder):
    filter_file = folder / "negative.mfg"
    filter_file.write_text(NEGATIVE)
    cases = [  # kind, bits, components in, kind, components out
        (0, 8, [0, 100, 255], 2, [255] * 3 + [155] * 3 + [0] * 3),
        (2, 8, [1, 2, 3, 4, 5, 6, 7, 8, 9], 2, [254, 253, 252, 251, 250, 249, 248, 247, 246]),
        (6, 8, [1, 2, 3, 4] * 3, 6, [254, 253, 252, 4] * 3),
        (2, 16, [0x1234, 0, 0xffff] * 3, 2, [0xed, 0xff, 0] * 3),
        (6, 16, [0x0102, 0x0304, 0x0506, 0x0708] * 3, 6, [0xfe, 0xfc, 0xfa, 7] * 3)]
    for where in (("--reference",), ("--device", DEVICE)):
        for kind, bits, values, kind_out, out in cases:
            pictures.write(folder / "in.png", 3, 1, kind, bits, values)
            run = image(filter_file, folder / "in.png", "-o", folder / "out.png", where=where)
            got = pictures.read(folder / "out.png") if run.returncode == 0 else run.stderr
            expect(got == (3, 1, kind_out, 8, out), f"kind {kind}, {bits} bits, {where}", got)
    deep = folder / "deep.mfg"
    deep.write_text(NEGATIVE.replace("255", "0xffff").replace("u8", "u16"))
    pictures.write(folder / "in.png", 3, 1, 2, 16, [0x1234, 0, 0xffff] * 3)
    image(deep, folder / "in.png", "-o", folder / "out.png")
    got = pictures.read(folder / "out.png")
    expect(got == (3, 1, 2, 16, [0xedcb, 0xffff, 0] * 3), "16 bits through u16", got)


def test_layers_and_textures(folder):
    filter_file = folder / "layers.mfg"
    filter_file.write_text("""def stamp by load("stamp.png")
def result_u8 |x, y| {
  let sum = input_u8(x, y) + input_u8[-1](x, y) + input_u8[2](x, y) + stamp(0, 0)
  u8[*sum.xyz, 255]
}
""")
    pictures.write(folder / "in.png", 2, 1, 2, 8, [1, 2, 3, 4, 5, 6])
    pictures.write(folder / "two.png", 2, 1, 2, 8, [10, 20, 30, 40, 50, 60])
    pictures.write(folder / "large.png", 3, 1, 2, 8, [0] * 9)
    pictures.write(folder / "stamp.png", 1, 1, 0, 8, [100])
    target = folder / "layered.png"
    run = image(filter_file, folder / "in.png", "-o", target, "--layer", f"2={folder}/two.png")
    got = pictures.read(target)[4] if run.returncode == 0 else run.stderr
    expect(got == [111, 122, 133, 144, 155, 166], "a layer behind a missing one", got)
    target.unlink()
    for options, words in [
            (["--layer", f"2={folder}/large.png"], "layer 2 has 3 x 1 pixels, but"),
            (["--layer", f"1={folder}/two.png"], "reads no layer 1; it reads: -1, 2"),
            (["--layer", "two"], "is not NUMBER=FILE"),
            (["--layer", f"2={folder}/none.png"], "none.png")]:
        run = image(filter_file, folder / "in.png", "-o", target, *options)
        expect(run.returncode != 0 and words in run.stderr, words, run.stderr)
        expect(not target.exists() and not list(folder.glob("*.part")), "nothing is left", words)


def test_parameters(folder):
    filter_file = ROOT / "examples/filters/chromatic_aberration.mfg"
    listed = image(filter_file, "--params").stdout
    for words in ["Chromatic aberration", "strength", "default 0.02, from 0 to 0.2", "Strength",
                  "centre", "f32v2", "default [0.5, 0.5]"]:
        expect(words in listed, f"--params says {words}", listed)
    pictures.write(folder / "in.png", 2, 1, 2, 8, [1, 2, 3, 4, 5, 6])
    for given, words in [("strngth=1", "no parameter strngth; did you mean strength?"),
                         ("strength=much", 'of type f32; "much" is not'),
                         ("strength=1 2", 'is not'),
                         ("centre=0.5", "2 numbers with commas"),
                         ("centre", "is not NAME=VALUE")]:
        run = image(filter_file, folder / "in.png", "-o", folder / "o.png", "--param", given)
        expect(run.returncode == 2 and words in run.stderr, words, run.stderr)
    run = image(filter_file, folder / "in.png", "-o", folder / "o.png", "-p", "centre=[0, 1]",
                "-p", "strength=0.1")
    expect(run.returncode == 0 and (folder / "o.png").exists(), "good parameters", run.stderr)


def test_folders(folder):
    (folder / "many").mkdir()
    for k in range(5):
        pictures.write(folder / f"many/p{k}.png", 2, 2, 0, 8, [k] * 4)
    (folder / "many/notes.txt").write_text("no picture")
    (folder / "many/dir.png").mkdir()
    run = image(folder / "negative.mfg", folder / "many", "-o", folder / "made")
    got = [pictures.read(p)[4][0] for p in sorted((folder / "made").iterdir())]
    expect(run.returncode == 0 and got == [255, 254, 253, 252, 251], "a folder", run.stderr)
    (folder / "many/p2.png").write_bytes(b"\x89PNG broken")
    run = image(folder / "negative.mfg", folder / "many", "-o", folder / "again")
    names = sorted(p.name for p in (folder / "again").iterdir())
    expect(run.returncode == 1 and "p2.png" in run.stderr, "a broken picture is named", run.stderr)
    expect(names == ["p0.png", "p1.png", "p3.png", "p4.png"], "the others are made", names)


def test_bad_files(folder):
    good = folder / "good.png"
    pictures.write(good, 9, 9, 6, 8, [7, 70, 170, 200] * 81)
    (folder / "text.png").write_text("no picture at all")
    (folder / "cut.png").write_bytes(good.read_bytes()[:60])
    (folder / "cut.jpg").write_bytes(b"\xff\xd8\xff\xe0 cut")
    for name in ["none.png", "text.png", "cut.png", "cut.jpg"]:
        run = image(folder / "negative.mfg", folder / name, "-o", folder / "bad_out.png")
        expect(run.returncode == 1 and name in run.stderr, name, run.stderr)
        expect(not (folder / "bad_out.png").exists(), f"{name} leaves nothing")
    run = image(good, folder / "negative.mfg", "-o", folder / "bad_out.png")
    expect(run.returncode == 2 and "good.png: the name of a filter's file ends in .mfg" in run.stderr,
           "swapped arguments", run.stderr)
    run = image(folder / "none.mfg", good, "-o", folder / "bad_out.png")
    expect(run.returncode == 1 and f'Could not read file "{folder}/none.mfg"' in run.stderr,
           "no filter", run.stderr)
    run = image(folder / "negative.mfg", good, "-o", folder / "no/such/folder.png")
    expect(run.returncode == 1 and "cannot write" in run.stderr, "no folder", run.stderr)


def test_server(folder):
    commands = "help result_u8\nattributes result_u8\ninputs result_u8\nhelp nothing\n"
    run = subprocess.run([SERVER, "--reference", ROOT / "examples/filters/blur.mfg"],
                         input=commands, capture_output=True, text=True)
    for words in ["call result_u8 OUT input_u8 radius", "input_u8: [][][]u8", "radius: i32",
                  'param(radius, i32, default=4, min=0, max=50, widget=SLIDER, label="Radius")',
                  "Unknown command: nothing"]:
        expect(words in run.stdout, words, run.stdout)
    odd = folder / "odd.txt"
    odd.write_text(NEGATIVE)
    for language, code in [("mfg", 0), ("futhark", 2)]:
        run = subprocess.run([SERVER, "--check", "--reference", "--language", language, odd],
                             capture_output=True, text=True)
        expect(run.returncode == code, f"--language {language}", run.stderr)


def test_examples():
    for where in (["--reference"], ["--device", DEVICE, "--pass-option=--validate"]):
        run = subprocess.run([KENAZ, "test", "--server", SERVER, *where, ROOT / "examples/filters"],
                             capture_output=True, text=True)
        expect(run.returncode == 0, f"the examples, {where}", run.stdout + run.stderr)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        test_formats(folder)
        test_layers_and_textures(folder)
        test_parameters(folder)
        test_folders(folder)
        test_bad_files(folder)
        test_server(folder)
    test_examples()
    print("failures:", failures)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
