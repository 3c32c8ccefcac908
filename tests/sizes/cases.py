"""Calls of the entries of sizes.fut: (entry, arguments). Numbers, lists, or the shape of an array of
u8 as ("shape", n, m)."""
import itertools
import random

MAX, MIN = 2**63 - 1, -2**63
FIVE = [1, 2, 3, 4, 5]
# None between what is computed at once and what takes more memory than a machine has. Products with 4 or 8 bytes and with each other that come to 0, to something small, to something
# negative, to the largest number, and to just what a device has.
EDGES = [MIN, -2**62, -5, -1, 0, 1, 2, 3, 5, 2**58 + 1, 2**60, 2**60 + 1, 2**61,
         2**61 - 1, 2**62 - 1, 2**62, 2**62 + 1, 2**62 + 16, MAX - 1, MAX]
PAIRS = [(2**32, 2**32), (2**31, 2**31), (2**27, 2**34), (4, 2**60), (4, 2**60 + 1), (3, 2**62),
         (1, 2**62 + 16), (2**62, 4), (2**62 + 1, 4), (2**33, 2**31), (2**40, 2**24 + 1), (MAX, MAX),
         (MAX, 2), (2, MAX), (3037000500, 3037000500), (2**62, 0), (0, 2**62), (2**40, 0), (0, MAX),
         (2**60, 1), (2**59, 1), (1, 2**59), (-1, -1), (-1, 5), (-2**62, 4), (MIN, 2), (0, -5),
         (-5, 0), (2, 3), (1, 1), (0, 0), (70, 3)]


def whole_arrays():
    for n, m in PAIRS:
        for entry in ("table", "copies", "scans"):
            yield entry, [n, m]
        yield "bins_of_rows", [n, m, [0, 1, 5]]
        if n * m < 2**20 or n * m >= 2**50:
            yield "table_sums", [n, m]
    for shape in itertools.product((0, 2, 2**31, 2**32, 2**62, -1), repeat=3):
        product = shape[0] * shape[1] * shape[2]
        if product < 2**20 or product >= 2**50:
            yield "table_3d", list(shape)
    for n in (0, 3, 2**60, 2**61, 2**62, MAX, -1):
        yield "copies_of_row", [n, FIVE]
        yield "copies_of_row", [n, [1, 2, 3, 4, 5, 6, 7, 8]]


def threads():
    for n in (0, 1, 2, 200):
        for m in (0, 1, 3, -5, MIN, 2**40, 2**54, 2**54 + 1, 2**60, 2**61, 2**62, MAX):
            yield "private", [n, m]
    for shape in ((2, 2, 3), (2, 0, 2**62), (2, 2**62, 0), (2, 2**31, 2**30), (2, 2**32, 2**32),
                  (2, 2**33, 2**31), (0, 2**32, 2**32), (2, -1, -1), (2, 2**62, 4)):
        yield "private_2d", list(shape)
    for big in (2**40, 2**58, 2**60, 2**61 - 1, 2**61, 2**61 + 1, 2**62, MAX):
        yield "on_heap", [[5] * 127 + [big]]
        yield "on_heap", [[big, 0, 1]]
    yield "on_heap", [[0, 1, 2, 3, 300]]
    yield "growing", [[0, 1, 5, 9]]
    for k in (0, 1, 4, 6, 7, 63, 70, MIN):
        yield "growing_fast", [[1, k]]


def shapes():
    for n, m in PAIRS:
        for xs in ([], [1, 2, 3, 4], [1, 2, 3, 4, 5, 6]):
            yield "unflattened", [n, m, xs, 0, 0]
        yield "unflattened", [n, m, [], 5, 2**31]
        yield "unflattened_in_map", [n, m, [], [1, 2**31, 2**20]]
        yield "unflattened_by_thread", [[n, 2], [m, 2], [1, 2, 3, 4]]
        yield "unflattened_copies", [n, m, n * m % 2**63]
        yield "flattened_copies", [n, m]
        yield "joined_copies", [n, m]
    for n, m, i, j in ((2, 3, 1, 2), (2, 3, 2, 0), (2, 3, 0, 3), (2, 3, -1, 0), (-2, -3, 0, 0)):
        yield "unflattened", [n, m, [1, 2, 3, 4, 5, 6], i, j]
    for n, m in ((2**62, 0), (MAX, 0), (0, MAX), (0, 0), (2, 3)):
        yield "flattened", [("shape", n, m)]
        yield "transposed", [("shape", n, m)]
        yield "slice_rows", [("shape", n, m), 0, 2, MAX]
        yield "slice_rows", [("shape", n, m), 0, 0, 1]
        for k in (0, 2, 2**62, MAX) if m == 0 else (0,) if m == MAX else (0, 2):
            yield "joined_rows", [("shape", n, m), ("shape", k, m)]
    for ns in ([0, 1, 2], [2**62, 2**62, 2**62, 2**62, 5], [MAX, MAX, 2, 3], [2**63 - 5, 10],
               [2**60] * 16 + [7], [-1, 3], []):
        yield "expanded", [ns]


def ranges():
    ends = (MIN, MIN + 1, -2, -1, 0, 1, 2, 2**62, MAX - 1, MAX)
    for a, b, c in itertools.product(ends, repeat=3):
        if abs(a) + abs(b) + abs(c) < 2**40 or random.Random(f"{a} {b} {c}").random() < 0.2:
            for entry in ("range", "range_to", "range_down", "range_elements"):
                yield entry, [a, b, c]
    for a, c in itertools.product(ends, repeat=2):
        yield "range_from", [a, c]
    for a, b, c in itertools.product((-128, -127, 0, 1, 100, 127), repeat=3):
        if random.Random(f"{a} {b} {c}").random() < 0.3:
            yield "range_i8", [a, b, c]
            yield "range_u8", [a + 128, b + 128, c + 128]
    for a, c in itertools.product((-128, -127, 0, 127), repeat=2):
        yield "range_i8_to", [a, c]
        yield "range_u8_down", [a + 128, c + 128]
    top = 2**64 - 1
    for a, b, c in itertools.product((0, 1, 2**63, top - 1, top), repeat=3):
        yield "range_u64", [a, b, c]
    for c in (0, 7, MAX, MIN):
        yield "range_in_map", [[0, 5, -3], 6, c]
        yield "range_in_map", [[0, MIN], MAX, c]


def slices():
    places = (MIN, -1, 0, 1, 4, 5, 6, MAX)
    strides = (MIN, -2, -1, 0, 1, 2, 5, MAX)
    for a, b, s in itertools.product(places, places, strides):
        yield "slice", [FIVE, a, b, s]
    for a, b in itertools.product(places, repeat=2):
        yield "slice_plain", [FIVE, a, b]
        yield "slice_updated", [FIVE, a, b]
        yield "slice_from", [FIVE, a, b]
        yield "slice_in_map", [FIVE, [0, 4, 5], a, b]
        yield "slice_in_map", [FIVE, [MIN, MAX], a, b]
    for s in (*strides, *places):
        yield "slice_all", [FIVE, s]
        yield "slice_all", [[], s]
        yield "first", [s, FIVE]
        yield "rest", [s, FIVE]


def indices():
    far = [0, -1, 5, MIN, MAX, 2**62, 2**61 + 1]
    for n in (0, 5, -1, 2**62, MAX):
        yield "scattered", [n, far, [1, 2, 3, 4, 5, 6, 7]]
        yield "histogram", [n, far]
        for m in (0, 3, -1, 2**62):
            yield "scattered_2d", [n, m, far, far[::-1]]
            yield "scattered_2d", [n, m, [0, 1, 2, 2**61], [0, 2, 3, 2**62]]
    for k in EDGES:
        yield "turned", [k, FIVE]


def all_cases():
    for part in (whole_arrays, threads, shapes, ranges, slices, indices):
        yield from part()
