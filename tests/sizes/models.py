"""What the entries of sizes.fut must answer, in numbers that do not wrap.

A model gets the arguments (numbers; lists; Array) and gives the result. It raises Fails where the
call must fail. Whatever it makes on the way goes through `make`, which notes what takes so much
memory that the call may fail for it, and raises Fails where no machine has as much."""

TYPES = {"u8": (0, 2**8 - 1, 1), "i8": (-2**7, 2**7 - 1, 1), "i32": (-2**31, 2**31 - 1, 4),
         "i64": (-2**63, 2**63 - 1, 8), "u64": (0, 2**64 - 1, 8), "bool": (0, 1, 1)}
LIMIT = 2**40  # bytes that no test machine has
LARGE = 2**28  # bytes that it may not have


class Fails(Exception):
    pass


class Array:
    """`at`: the element of an index; asked for only if there are few."""

    def __init__(self, kind, shape, at):
        self.kind, self.shape, self.at = kind, tuple(shape), at

    @staticmethod
    def of(kind, elements):
        return Array(kind, [len(elements)], lambda i: elements[i])

    def count(self):
        n = 1
        for d in self.shape:
            n *= d
        return n

    def elements(self):
        places = [()] if self.count() else []
        for d in self.shape:
            places = [p + (i,) for p in places for i in range(d)] if self.count() else []
        return [wrapped(self.kind, self.at(*p)) for p in places]


def wrapped(kind, n):
    low, high, _ = TYPES[kind]
    return (n - low) % (high - low + 1) + low


class Models:
    """One method per entry. `large`: the last call made something that there may be no room for."""

    def __init__(self):
        self.large = False

    def call(self, entry, args):
        self.large = False
        result = getattr(self, entry)(*args)
        return result

    def make(self, kind, shape, at=lambda *_: 0, virtual=False):
        if any(d < 0 for d in shape):
            if all(d != 0 for d in shape):
                raise Fails
            self.large = True  # whether anybody asks for the negative size: a failure, or not
            shape = tuple(max(d, 0) for d in shape)
        whole, without_zeros = TYPES[kind][2], TYPES[kind][2]
        for d in shape:
            whole *= d
            without_zeros *= max(d, 1)
        if whole >= LIMIT and not virtual:
            raise Fails
        self.large = self.large or without_zeros >= LARGE
        return Array(kind, shape, at)

    def length(self, n):
        """An i64 that is the size of something."""
        if n < 0 or n >= 2**63:
            raise Fails
        self.large = self.large or n >= LARGE
        return n

    # ---- whole arrays
    def table(self, n, m):
        return self.make("i32", (n, m), lambda i, j: i + j)

    def table_3d(self, a, b, c):
        return self.make("u8", (a, b, c), lambda i, j, k: i + j + k)

    def copies(self, n, m):
        return self.make("i64", (n, m), lambda i, j: 7)

    def copies_of_row(self, n, xs):
        return self.make("i32", (n, len(xs)), lambda i, j: xs[j])

    def table_sums(self, n, m):
        self.make("i64", (n, m), virtual=n == 0)
        return self.make("i64", (n,), lambda i: i * m + m * (m - 1) // 2)

    def scans(self, n, m):
        return self.make("i64", (n, m), lambda i, j: i + 1)

    def bins_of_rows(self, n, m, indices):
        self.make("i32", (len(indices), m))
        return self.make("i32", (n, m), lambda i, j: indices.count(i))

    # ---- arrays of one thread
    def private(self, n, m):
        self.make("i64", (n, m), virtual=n <= 0)
        return self.make("i64", (n,), lambda i: i + m * (m - 1) // 2 if m > 0 else i)

    def private_2d(self, n, m, k):
        self.make("i64", (n, m, k), virtual=n <= 0)
        return self.make("i64", (n,), lambda i: i + 1 if m > 0 and k > 0 else i)

    def on_heap(self, ns):
        for n in ns:
            self.make("i64", (n,))
        return Array.of("i64", [n * (n + 1) // 2 for n in ns])

    def growing(self, ks):
        for k in ks:
            self.make("i64", (2**max(k, 0),))
        return Array.of("i64", [2**max(k, 0) + k for k in ks])

    def growing_fast(self, ks):
        for k in ks:
            self.make("i64", (1024**max(k, 0),))
        return Array.of("i64", [1024**max(k, 0) + k for k in ks])

    # ---- shapes
    def _unflattened(self, n, m, xs, i, j):
        if n < 0 or m < 0 or n * m != len(xs) or not (0 <= i < n and 0 <= j < m):
            raise Fails
        return xs[i * m + j]

    def unflattened(self, n, m, xs, i, j):
        return self._unflattened(n, m, xs, i, j)

    def unflattened_in_map(self, n, m, xs, indices):
        if n < 0 or m < 0 or n * m != len(xs):
            raise Fails
        return Array.of("u8", [self._unflattened(n, m, xs, i, i) for i in indices])

    def unflattened_by_thread(self, ns, ms, xs):
        if len(ns) != len(ms):
            raise Fails
        return Array.of("u8", [self._unflattened(n, m, xs, n - 1, m - 1) for n, m in zip(ns, ms)])

    def unflattened_copies(self, n, m, k):
        if n < 0 or m < 0 or n * m != k:
            raise Fails
        self.length(k)
        return self.length(n)

    def flattened_copies(self, n, m):
        self.make("i64", (n, m), virtual=True)
        return self.length(n * m)

    def flattened(self, xss):
        n, m = xss.shape
        self.length(n * m)
        return self.make("u8", (n * m,), lambda i: xss.at(i // m, i % m))

    def transposed(self, xss):
        n, m = xss.shape
        return self.make("u8", (m, n), lambda i, j: xss.at(j, i))

    # ---- one behind another
    def joined_copies(self, a, b):
        self.length(a), self.length(b)
        return self.length(a + b)

    def joined_rows(self, xss, yss):
        (n, m), (k, _) = xss.shape, yss.shape
        if m != yss.shape[1]:
            raise Fails
        self.length(n + k)
        return self.make("u8", (n + k, m),
                         lambda i, j: xss.at(i, j) if i < n else yss.at(i - n, j))

    def expanded(self, ns):
        for n in ns:
            self.length(n)
        self.make("i64", (sum(ns),))
        return Array.of("i64", [n for n in ns for _ in range(n)])

    # ---- ranges
    def _range(self, kind, a, b, c, inclusive, down=False):
        step, far = b - a, c - a
        if step == 0 or down and step > 0 or (c - a) * step < 0 or \
                not down and not inclusive and step < 0:
            raise Fails
        n = far // step + 1 if inclusive else -(-far // step)
        self.length(n)
        return Array(kind, (n,), lambda i: a + i * step)

    def range(self, a, b, c):
        return self._range("i64", a, b, c, False).shape[0]

    def range_to(self, a, b, c):
        return self._range("i64", a, b, c, True).shape[0]

    def range_down(self, a, b, c):
        return self._range("i64", a, b, c, False, True).shape[0]

    def range_elements(self, a, b, c):
        found = self._range("i64", a, b, c, True)
        return self.make("i64", found.shape, found.at)

    def range_from(self, a, c):
        found = self._range("i64", a, a + 1, c, False)
        return self.make("i64", found.shape, found.at)

    def range_u64(self, a, b, c):
        found = self._range("u64", a, b, c, True)
        return self.make("u64", found.shape, found.at)

    def range_i8(self, a, b, c):
        return self._range("i8", a, b, c, True)

    def range_i8_to(self, a, c):
        return self._range("i8", a, a + 1, c, True)

    def range_u8_down(self, a, c):
        return self._range("u8", a, a - 1, c, False, True)

    def range_u8(self, a, b, c):
        return self._range("u8", a, b, c, False)

    def range_in_map(self, starts, b, c):
        return Array.of("i64", [self._range("i64", a, b, c, True).shape[0] for a in starts])

    # ---- slices
    def _slice(self, n, a, b, s):
        """Indices. Futhark's rule: what rounds to no elements is fine wherever it is."""
        if s == 0 or not -2**63 <= b - a < 2**63:
            raise Fails
        sign = 1 if s > 0 else -1
        count = quotient(b - a + s - sign, s)
        if count == 0:
            return range(0)
        last = a + (count - 1) * s
        ordered = 0 <= a <= b if s > 0 else -1 <= b <= a < n
        if not ordered or not 0 <= last < n:
            raise Fails
        return range(a, a + count * s, s)

    def _picked(self, xs, indices):
        return Array.of("i32", [xs[i] for i in indices])

    def slice(self, xs, a, b, s):
        return self._picked(xs, self._slice(len(xs), a, b, s))

    def slice_from(self, xs, a, s):
        return self._picked(xs, self._slice(len(xs), a, len(xs) if s >= 0 else -1, s))

    def slice_all(self, xs, s):
        n = len(xs)
        return self._picked(xs, self._slice(n, *((0, n) if s >= 0 else (n - 1, -1)), s))

    def slice_plain(self, xs, a, b):
        if a != b and not 0 <= a <= b <= len(xs):
            raise Fails
        return self._picked(xs, range(a, b))

    def slice_in_map(self, xs, starts, b, s):
        return Array.of("i32", [sum(xs[i] for i in self._slice(len(xs), a, b, s)) for a in starts])

    def slice_rows(self, xss, a, b, s):
        n, m = xss.shape
        places = self._slice(m, a, b, s)
        return self.make("u8", (n, len(places)), lambda i, j: xss.at(i, places[j]))

    def slice_updated(self, xs, a, k):
        if k < 0 or k > 0 and not 0 <= a <= a + k <= len(xs):
            raise Fails
        return Array.of("i32", [0 if a <= i < a + k else x for i, x in enumerate(xs)])

    # ---- places
    def scattered(self, n, indices, values):
        if len(values) != len(indices):
            raise Fails
        at = dict(zip(indices, values))
        return self.make("i32", (n,), lambda i: at.get(i, 0))

    def scattered_2d(self, n, m, rows, columns):
        if len(rows) != len(columns):
            raise Fails
        at = set(zip(rows, columns))
        return self.make("i32", (n, m), lambda i, j: int((i, j) in at))

    def histogram(self, n, indices):
        return self.make("i32", (n,), lambda i: indices.count(i))

    def first(self, k, xs):
        return self.slice_plain(xs, 0, k)

    def rest(self, k, xs):
        return self.slice_plain(xs, k, len(xs))

    def turned(self, k, xs):
        return Array.of("i32", [xs[(i + k % 8) % len(xs)] for i in range(len(xs))])


def quotient(a, b):
    """Towards zero."""
    return -(-a // b) if (a < 0) != (b < 0) else a // b
