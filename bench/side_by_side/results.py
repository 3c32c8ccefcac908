"""Comparison of the results that both sides stored in files, in the binary format of values."""
import array
import math

CODES = {"i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B", "u16": "H", "u32": "I", "u64": "Q",
         "f32": "f", "f64": "d", "bool": "B"}


def read_header(file):
    """The element type and shape of the next value in the binary format; nothing at the end."""
    if not (start := file.read(7)):
        return None
    rank = start[2]
    shape = [int.from_bytes(file.read(8), "little") for _ in range(rank)]
    return start[3:7].decode().strip(), shape


def differs(ours, theirs, comparison):
    """How two elements or samples of them differ, in words; nothing if they agree."""
    if ours.typecode in "fd":
        size = sum(abs(x) for x in theirs if math.isfinite(x)) / max(1, len(theirs))
        wrong = [i for i, (x, y) in enumerate(zip(ours, theirs))
                 if not (x == y or abs(x - y) <= 1e-3 * abs(y) + 1e-3 * size or (x != x and y != y))]
        allowed = len(theirs) // 1000
    else:
        if ours == theirs:
            return None
        wrong = [i for i, (x, y) in enumerate(zip(ours, theirs)) if x != y]
        allowed = len(theirs) // 100 if comparison == "loose" else 0
    if len(wrong) <= allowed:
        return None
    at = wrong[0]
    return f"{len(wrong)} of {len(theirs)} elements differ, first {ours[at]} for {theirs[at]}"


def compare_data(code, count, ours, theirs, comparison):
    """Compares the data of one array in two files: whole blocks of integers, samples of floats."""
    block = 1 << 20
    samples = 1 << 16
    for start in range(0, count, block):
        length = min(block, count - start)
        a, b = array.array(code), array.array(code)
        a.fromfile(ours, length)
        b.fromfile(theirs, length)
        if a.typecode in "fd" or comparison == "loose":
            step = max(1, -(-length * max(1, count // block) // (16 * samples)))
            a, b = a[::step], b[::step]
        if what := differs(a, b, comparison):
            return what
    return None


def compare(ours, theirs, comparison):
    """How the values in two files differ, in words; nothing if they agree."""
    with open(ours, "rb") as a, open(theirs, "rb") as b:
        while True:
            head, other = read_header(a), read_header(b)
            if head != other:
                return f"a {head} for a {other}"
            if head is None:
                return None
            if what := compare_data(CODES[head[0]], math.prod(head[1]), a, b, comparison):
                return what
