#!/usr/bin/env python3
"""Random loops of stable partitions, most of which sort, alone and in maps: against the program as it is written.

    sorts_test.py KENAZ SERVER [--seed N] [--programs N] [--device NAME] [--keep FOLDER]

The classes of a turn are bits of words, some of them inverted: always, in one turn, by another bit or by a comparison.
What is expected is what the evaluator makes of the program. Programs that fail are kept in FOLDER. At least half of the
loops must have been seen as sorts."""
import random
import subprocess
import sys

from support import random_programs

HEAD = """
def before [n] (is: [n]bool) : [n]i64 =
  map2 (\\k b -> k - i64.bool b) (scan (+) 0 (map i64.bool is)) is
def total [n] (is: [n]bool) : i64 = i64.sum (map i64.bool is)

def by_two [n] 't (class: t -> i32) (xs: [n]t) : [n]t =
  let ones = map (\\x -> class x == 1) xs
  let others = map (\\x -> class x != 1) xs
  let place x a b = if class x == 1 then total others + a else b
  in scatter (copy xs) (map3 place xs (before ones) (before others)) xs

def by_four [n] 't (class: t -> i32) (xs: [n]t) : [n]t =
  let has v = map (\\x -> class x == v) xs
  let (a, b, c, d) = (before (has 0), before (has 1), before (has 2), before (has 3))
  let (na, nb, nc) = (total (has 0), total (has 1), total (has 2))
  let place x (a, b, c, d) =
    let v = class x
    in if v == 0 then a else if v == 1 then na + b else if v == 2 then na + nb + c else na + nb + nc + d
  in scatter (copy xs) (map2 place xs (zip4 a b c d)) xs
"""
INPUTS = ("[3][70]u32", "[1][40]u32", "[9][33]u32")
LOOPS = 4
WORD = 32


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def bit(self, turns):
        """0 or 1, from an element and the number of a turn."""
        r = self.random
        step, start = r.choice([1, 1, 1, 2, 3]), r.randrange(5)
        shift = f"({step} * i + {start})"
        if step * turns + start >= WORD:
            shift = f"({shift} % {WORD})"
        word = r.choice(["x", "x", "x", "(x ^ 0x5a5a5a5a)", "(x + 12345)", "(x >> 3)"])
        bit = f"i32.u32 (({word} >> u32.i32 {shift}) & 1)"
        return r.choice([bit, bit, bit, f"(1 - {bit})",
                         f"({bit} ^ i32.u32 ((x >> {r.choice([r.randrange(WORD), start, start + 3])}) & 1))",
                         f"(if i == {r.randrange(turns)} then 1 - {bit} else {bit})",
                         f"(if x > {r.randrange(1 << 31)} || i == {r.randrange(turns)} then {bit} ^ 1 else {bit})"])

    def loop(self, name):
        turns = self.random.choice([1, 2, 3, 5, 8, 12, 16, 20, 31, 32])
        bound = self.random.choice([f"{turns}", f"(if n == 0 then 0 else {turns})"])
        partition, classes = self.random.choice([
            ("by_two", self.bit(turns)), ("by_four", f"{self.bit(turns)} + 2 * ({self.bit(turns)})")])
        return (f"def {name} [n] (xs: [n](u32, i64)) : [n](u32, i64) =\n"
                f"  loop ys = xs for i < {bound} do {partition} (\\(x, _) -> {classes}) ys\n")

    def entry(self, name, sort):
        """A function of a matrix whose first row, or all of whose rows, are sorted."""
        head = f"entry {name} [n] [m] (xss: [n][m]u32)"
        return self.random.choice([
            f"{head} : ([m]u32, [m]i64) = unzip ({sort} (zip (xss[n - 1]) (iota m)))\n",
            f"{head} : ([n][m]u32, [n][m]i64) =\n"
            f"  unzip (map (\\xs -> unzip ({sort} (zip xs (iota m)))) xss)\n",
            f"{head} : ([n][m]u32, [n][m]i64) =\n"
            f"  unzip (map (\\xs -> unzip (loop ys = zip xs (iota m) for j < 2 do\n"
            f"    map (\\(x, k) -> (x * 5 + u32.i32 j, k)) ({sort} ys))) xss)\n",
            f"{head} : ([n]u32, [n][m]i64) =\n"
            f"  unzip (map (\\xs -> let (a, b) = unzip ({sort} (zip (map (^ xs[0]) xs) (iota m)))\n"
            f"                     in (a[m - 1], b)) xss)\n"])


def program(seed):
    generator = Generator(seed)
    names = [f"f{k}" for k in range(LOOPS)]
    lines = ["-- ==", f"-- entry: {' '.join(names)}"]
    lines += [f"-- random input {{ {sizes} }} auto output" for sizes in INPUTS] + [HEAD]
    for name in names:
        lines += [generator.loop(f"sort_{name}"), generator.entry(name, f"sort_{name}")]
    return "\n".join(lines)


def seen_as_sorts(server, path):
    """How many entries have a sort in them."""
    text = subprocess.run([server, "--explain", path], capture_output=True, text=True).stdout
    return sum("\n  sort over" in entry for entry in text.split("\nentry "))


def main():
    options = random_programs.options_of(__doc__, device="interpreter")
    sorts = []
    failed = random_programs.run(options, ["--device", options.device], "sorts", program,
                                 lambda path: sorts.append(seen_as_sorts(options.server, path)))
    loops = options.programs * LOOPS
    print(f"{options.programs - failed} of {options.programs} programs agree; {sum(sorts)} of {loops} loops are sorts")
    return 1 if failed or 2 * sum(sorts) < loops else 0


if __name__ == "__main__":
    sys.exit(main())
