#!/usr/bin/env python3
"""Random differentiable programs: reverse mode against forward mode, direction by direction.

    gradients_test.py KENAZ SERVER [--seed N] [--programs N] [--device NAME] [--keep FOLDER]

Each program has some functions of an array, made of loops, maps, branches, reductions and nests of them that read
the array and what is made of it, at indices of all kinds, by bounds that may be negative; or of loops whose turns
multiply with the same matrices. Without --device they run
on the evaluator, at the last stage before memory. Programs that fail are kept in FOLDER."""
import random
import sys

from support import random_programs

HEAD = """
def near (a: f64) (b: f64) = f64.abs (a - b) <= 1e-7 * (1 + f64.abs a + f64.abs b) || f64.isnan (a - b)

def agrees [n] (f: [n]f64 -> f64) (xs: [n]f64) : bool =
  let unit i = tabulate n (\\j -> f64.bool (i == j))
  in and (map2 near (vjp f xs 1) (tabulate n (\\i -> jvp f xs (unit i))))

def pairs [n] (m: i64) (xs: [n]f64) : *[m][2]f64 = copy (unflatten (xs[:m * 2] :> [m * 2]f64))
"""
INPUTS = ("[0.5, 1.25, 2.0, 0.75, 1.5] 3i64 [4i64, 0i64, 2i64, 2i64, 1i64]",
          "[0.5, 1.25, 0.9] -2i64 [0i64, 0i64, 2i64]",
          "[0.7, 1.3, 0.4, 1.1, 0.2, 0.95] 0i64 [1i64, 5i64, 3i64, 0i64, 0i64, 4i64]",
          "[0.8, 0.3] -1i64 [1i64, 1i64]")
FUNCTIONS = 4


class Scope:
    """What an expression may use: integers, floats, and arrays of f64 as (name, dims)."""

    def __init__(self, integers=(), floats=(), arrays=()):
        self.integers, self.floats, self.arrays = list(integers), list(floats), list(arrays)

    def plus(self, integers=(), floats=(), arrays=()):
        return Scope(self.integers + list(integers), self.floats + list(floats), self.arrays + list(arrays))


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names = 0

    def name(self, prefix):
        self.names += 1
        return f"{prefix}_{self.names}"  # i64 would hide the module

    def one_of(self, *options):
        return self.random.choice(options)()

    # ---- integers
    def index(self, scope, fuel=2):
        """An integer that is not negative unless a bound is."""
        inner = lambda: self.index(scope, fuel - 1)
        some = lambda: self.random.choice(scope.integers or ["1"])
        if fuel == 0:
            return some()
        return self.one_of(some, lambda: str(self.random.randint(0, 3)), lambda: f"({inner()} + {inner()})",
                           lambda: f"({inner()} * {self.random.randint(1, 3)})",
                           lambda: f"({inner()} % {self.random.randint(1, 4)})", lambda: f"at[{inner()} % n]")

    def bound(self, scope):
        some = self.random.choice(scope.integers or ["3"])
        return self.random.choice(["n", "m", "3", some, f"({some} + 1)", f"({some} - 1)", f"(3 - {some})", "(q - 1)",
                                   f"(q - {some})", f"({self.index(scope, 1)} % 5)"])

    # ---- arrays and their elements
    def element(self, scope):
        name, dims = self.random.choice(scope.arrays)
        return f"{name}[{', '.join(f'{self.index(scope)} % {d}' for d in dims)}]"

    def row(self, scope):
        name, dims = self.random.choice(scope.arrays)
        if len(dims) == 1:
            return self.random.choice([name, f"{name}[::-1]", f"{name}[:{dims[0]} / 2]"])
        return self.random.choice([f"{name}[{self.index(scope)} % {dims[0]}]",
                                   f"(transpose {name})[{self.index(scope)} % {dims[1]}]"])

    # ---- floats
    def leaf(self, scope):
        if scope.floats and self.random.random() < 0.5:
            return self.random.choice(scope.floats)
        return self.element(scope)

    def value(self, scope, fuel):
        if fuel <= 0:
            return self.leaf(scope)
        ways = [self.leaf, self.arithmetic, self.branch, self.loop, self.loop, self.tabulated, self.mapped,
                self.mapped, self.rows, self.bound_array, self.guarded, self.in_place, self.histogram,
                self.scanned, self.two_sums, self.inside]
        way = self.random.choice(ways)
        return way(scope) if way == self.leaf else way(scope, fuel)

    def arithmetic(self, scope, fuel):
        a, b = self.value(scope, fuel - 1), self.value(scope, fuel - 2)
        return self.random.choice([f"({a} + {b})", f"({a} * {b})", f"f64.sin ({a})", f"f64.atan ({a})"])

    def branch(self, scope, fuel):
        condition = self.random.choice([f"{self.index(scope, 1)} % 2 == 0", f"{self.leaf(scope)} > 0.9"])
        return f"(if {condition} then {self.value(scope, fuel - 1)} else {self.value(scope, fuel - 2)})"

    def guarded(self, scope, fuel):
        """A branch whose arrays the other one could not make."""
        i = self.name("i")
        width = self.random.choice(["q", "(q - 1)", "(q * 2)", "(n - 2)"])
        element = self.value(scope.plus([i]), fuel - 1)
        made = self.random.choice([f"f64.sum (tabulate {width} (\\{i} -> {element}))",
                                   f"f64.product (map (/ 3) (tabulate {width} (\\{i} -> {element})))",
                                   f"f64.sum (map (\\{i} -> {element}) (iota {width}))"])
        return f"(if {width} > 0 then {made} else {self.value(scope, fuel - 3)})"

    def inside(self, scope, fuel):
        """An element, if the index is one."""
        return (f"(let k = {self.index(scope)} - {self.index(scope, 1)} "
                f"in if k >= 0 && k < n then ys[k] * {self.leaf(scope)} else {self.value(scope, fuel - 1)})")

    def in_place(self, scope, fuel):
        done, array, turn = self.name("z"), self.name("t"), self.name("j")
        value = self.value(scope.plus([turn], arrays=[(array, ("n",))]), fuel - 2)
        rest = self.value(scope.plus(arrays=[(done, ("n",))]), fuel - 1)
        return (f"(let {done} = (loop {array} = copy ys for {turn} < {self.bound(scope)} do let v = {value} "
                f"in {array} with [{self.index(scope.plus([turn]), 1)} % n] = f64.atan v) in {rest})")

    def of_array(self, scope, fuel, made):
        """What reads the array that `made` makes of an element's code."""
        array, i = self.name("z"), self.name("i")
        element = self.value(scope.plus([i]), fuel - 2)
        rest = self.value(scope.plus(arrays=[(array, ("n",))]), fuel - 1)
        values = f"(tabulate n (\\{i} -> {element}))"
        return f"(let {array} = {made(values)} in {rest})"

    def histogram(self, scope, fuel):
        bins = "reduce_by_index (replicate n 0.1f64) (+) 0 (map (% n) at)"
        return self.of_array(scope, fuel, lambda values: f"{bins} {values}")

    def scanned(self, scope, fuel):
        return self.of_array(scope, fuel, lambda values: f"scan (+) 0 {values}")

    def two_sums(self, scope, fuel):
        a, b, turn = self.name("s"), self.name("s"), self.name("j")
        inside = scope.plus([turn])
        after = self.value(scope.plus(floats=[a, b]), fuel - 2)
        return (f"(let ({a}, {b}) = (loop ({a}, {b}) = ({self.leaf(scope)}, 0.5) for {turn} < {self.bound(scope)} do "
                f"({a} + {self.value(inside, fuel - 1)}, {b} - {self.value(inside, fuel - 2)})) "
                f"in f64.atan ({after} * {b}) + {a} / 7)")

    def loop(self, scope, fuel):
        """Mostly one that only adds to its param, which may be gone back through in any order."""
        turn, total = self.name("j"), self.name("s")
        inside = scope.plus([turn])
        if self.random.random() < 0.15:
            return (f"(loop {total} = {self.leaf(scope)} for {turn} < {self.bound(scope)} do "
                    f"{total} + f64.sin ({self.value(inside.plus(floats=[total]), fuel - 1)}) / 4)")
        step = f"{total} {self.random.choice('+-')} {self.value(inside, fuel - 1)}"
        if self.random.random() < 0.2:
            step = f"if {self.index(inside, 1)} % 2 == 0 then {step} else {total} + {self.value(inside, fuel - 2)}"
        elif self.random.random() < 0.2:
            inner = self.name("j")
            more = self.value(inside.plus([inner]), fuel - 2)
            step = f"loop {total} for {inner} < {self.bound(inside)} do {total} + {more}"
        return f"(loop {total} = {self.leaf(scope)} for {turn} < {self.bound(scope)} do {step})"

    def tabulated(self, scope, fuel):
        i = self.name("i")
        elements = f"tabulate (i64.max 0 {self.bound(scope)}) (\\{i} -> {self.value(scope.plus([i]), fuel - 1)})"
        return self.random.choice([f"f64.sum ({elements})", f"f64.product (map (/ 3) ({elements}))",
                                   f"f64.atan (f64.maximum ([0.1] ++ {elements}))"])

    def mapped(self, scope, fuel):
        x, i, row = self.name("x"), self.name("i"), self.name("row")
        element = self.value(scope.plus([i], [x]), fuel - 1)
        return f"(let {row} = {self.row(scope)} in f64.sum (map2 (\\{x} {i} -> {element}) {row} (indices {row})))"

    def rows(self, scope, fuel):
        table, dims = self.random.choice([a for a in scope.arrays if len(a[1]) == 2])
        row, i = self.name("r"), self.name("i")
        element = self.value(scope.plus([i], arrays=[(row, dims[1:])]), fuel - 1)
        return f"f64.sum (map2 (\\{row} {i} -> {element}) {table} (indices {table}))"

    def bound_array(self, scope, fuel):
        dims = tuple(self.random.choice(["n", "m", "2"]) for _ in range(self.random.randint(1, 2)))
        array, indices = self.name("z"), [self.name("i") for _ in dims]
        make = "tabulate" if len(dims) == 1 else "tabulate_2d"
        element = self.value(scope.plus(indices), fuel - 2)
        rest = self.value(scope.plus(arrays=[(array, dims)]), fuel - 1)
        return f"(let {array} = {make} {' '.join(dims)} (\\{' '.join(indices)} -> {element}) in {rest})"

    # ---- loops whose turns multiply with the same matrices
    def layer(self, rows, fuel):
        """What a turn makes of its states s and t, of tables v and w and of a row b: an array of such rows."""
        inner = lambda: self.layer(rows, fuel - 1)
        table = lambda: self.random.choice(["v", "w", "w", "(transpose v)", "(map2 (map2 (*)) v w)",
                                            "(if j % 2 == 0 then v else w)"])
        number = lambda: self.random.choice(["x * y", "f64.sin x + y", "x - y / 3", "x / (2 + y * y)", "y"])
        leaf = lambda: self.random.choice(
            ["s", "s", "t", f"(tabulate_2d {rows} m (\\i k -> f64.i64 ((3 * i + 5 * k + j) % 7) / 7))"])
        if fuel == 0:
            return leaf()
        return self.one_of(
            leaf,
            lambda: f"(map (\\x -> map (\\u -> f64.sum (map2 (*) x u)) {table()}) {inner()})",
            lambda: f"(map (\\x -> map (\\u -> f64.sum (map2 (*) x u)) {table()}) {inner()})",
            lambda: f"(map (map2 (\\x y -> {number()}) b) {inner()})",
            lambda: f"(map2 (map2 (\\x y -> {number()})) {inner()} {inner()})",
            lambda: f"(map (map (\\x -> f64.sin x / 2)) {inner()})",
            lambda: f"(map (\\r -> map2 (\\u x -> f64.sum (map2 (\\x y -> {number()}) r u) * x / 4) {table()} r) {inner()})",
            lambda: f"(loop x = {inner()} for _k < 2 do map (map2 (+) b) x)")

    def recurrent(self):
        rows = self.random.choice(["2", "3", "m"])
        some = lambda: f"ys[({self.random.randint(1, 4)} * i + {self.random.randint(1, 4)} * k) % n]"
        return (f"(let v = tabulate_2d m m (\\i k -> {some()}) let w = tabulate_2d m m (\\i k -> {some()}) "
                f"let b = take m ys let (s, t) = (tabulate_2d {rows} m (\\i k -> {some()} / 2), "
                f"tabulate_2d {rows} m (\\i k -> f64.i64 (i - k) / 4)) "
                f"let (s, t) = loop (s, t) for j < {self.random.choice(['q', '3', 'n - 3', 'm'])} do "
                f"({self.layer(rows, 3)}, {self.layer(rows, 2)}) "
                "in f64.atan (f64.sum (flatten s)) + f64.atan (f64.sum (flatten t)))")

    def function(self):
        if self.random.random() < 0.25:
            return self.recurrent()
        scope = Scope(arrays=[("ys", ("n",)), ("two", ("m", "2"))])
        for _ in range(20):
            value = self.value(scope, 6)
            if 120 < len(value) < 3000:
                return value
        return self.value(scope, 3)


def program(seed):
    generator = Generator(seed)
    names = [f"f{k}" for k in range(FUNCTIONS)]
    lines = [HEAD, "-- ==", f"-- entry: {' '.join(names)}"]
    lines += [f"-- input {{ {values} }} output {{ true }}" for values in INPUTS]
    for name in names:
        lines.append(f"\nentry {name} [n] (xs: [n]f64) (q: i64) (at: [n]i64) : bool =\n  let m = n / 2\n"
                     f"  in agrees (\\ys -> let two = pairs m ys in {generator.function()}) xs")
    return "\n".join(lines) + "\n"


def main():
    options = random_programs.options_of(__doc__)
    how = ["--device", options.device] if options.device else ["--reference", "--stage", "seg"]
    failed = random_programs.run(options, how, "gradients", program)
    print(f"{options.programs - failed} of {options.programs} programs: reverse mode agrees with forward mode")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
