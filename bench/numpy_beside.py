#!/usr/bin/env python3
"""numpy_beside.py [--rounds N] SERVER [OPTION..]: a map, a sum, a scan and a filter of 2^20 i64 and a product of two
200^2 matrices of f32, beside NumPy; made for `--device cpu`, the device of who has no GPU.

Both are measured in turn, in one run: of Kenaz the run time that the server reports, arguments and results on the
device; of NumPy the time of the expression. Prints medians and best times, and their ratios. Needs the package
`kenaz`."""
import argparse
import pathlib
import statistics
import tempfile
import time

import kenaz
import numpy as np

PROGRAM = """entry map_ (xs: []i64): []i64 = map (+ 7) xs
entry sum (xs: []i64): i64 = i64.sum xs
entry scan_ (xs: []i64): []i64 = scan (+) 0 xs
entry filter_ (xs: []i64): []i64 = filter (\\x -> x % 2 == 0) xs
entry product [n] (a: [n][n]f32) (b: [n][n]f32): [n][n]f32 =
  map (\\row -> map (\\column -> f32.sum (map2 (*) row column)) (transpose b)) a
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("server", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    generator = np.random.default_rng(1)
    xs = generator.integers(0, 1000, 1 << 20)
    a, b = (generator.random((200, 200), dtype=np.float32) for _ in range(2))
    rows = [("map_", lambda: xs + 7, [xs]), ("sum", lambda: xs.sum(), [xs]), ("scan_", lambda: np.cumsum(xs), [xs]),
            ("filter_", lambda: xs[xs % 2 == 0], [xs]), ("product", lambda: a @ b, [a, b])]
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "beside.fut")
        source.write_text(PROGRAM)
        with kenaz.open(source, server=args.server[0], options=args.server[1:]) as server:
            for name, peer, given in rows:
                entry = getattr(server, name)
                there = [server.put(x) for x in given]
                np.testing.assert_allclose(np.asarray(entry(*there)), peer(), rtol=1e-4)
                ours, theirs = [], []
                for _ in range(args.rounds):
                    with kenaz.timings() as timed:
                        entry(*there)
                    ours.append(timed.total * 1e6)
                    start = time.perf_counter()
                    peer()
                    theirs.append((time.perf_counter() - start) * 1e6)
                print(f"{name.strip('_'):8} median {statistics.median(ours):7.0f} and {statistics.median(theirs):6.0f} us, "
                      f"{statistics.median(ours) / statistics.median(theirs):5.1f} times; best {min(ours):7.0f} and "
                      f"{min(theirs):6.0f} us, {min(ours) / min(theirs):5.1f} times")


if __name__ == "__main__":
    main()
