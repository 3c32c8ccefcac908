"""Streams: Server.stream, against NumPy."""
import gc
import itertools
import unittest

import kenaz
import numpy as np
from kenaz import Stage
from kenaz._values import Request

from support import HERE, start

STREAMS = HERE.parent / "streams/program.fut"


def pieces(xs, lengths):
    """The array, cut into pieces of these lengths in turn."""
    at, lengths = 0, itertools.cycle(lengths)
    while at < len(xs):
        n = next(lengths)
        yield xs[at:at + n]
        at += n


def running(xs):
    return np.add.accumulate(np.concatenate([np.array([5], np.int32), xs]), dtype=np.int32)[1:]


def spans(xs):
    with np.errstate(over="ignore"):
        return np.maximum.accumulate(xs) - np.minimum.accumulate(xs)


class Streams(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = start(STREAMS)
        cls.addClassCleanup(cls.server.close)

    def collect(self, source, *stages, **more):
        return list(self.server.stream(source, *stages, **more))

    def test_lengths_chunks_and_stages(self):
        s, rng = self.server, np.random.default_rng(1)
        late = np.array([7, 8, 9], np.int32)
        stages = {
            "scale": (Stage(s.scale, -3), lambda xs: xs * np.int32(-3)),
            "evens": (s.evens, lambda xs: xs[xs % 2 == 0]),
            "twice": ("twice", lambda xs: np.repeat(xs, 2)),
            "none": (s.none, lambda xs: xs[:0]),
            "running": (Stage(s.running, state=5), running),
            "delay": (Stage("delay", state=late), lambda xs: np.append(late, xs)[:len(xs)]),
            "span": (Stage(s.span, state=s.widest()), spans),
        }
        for k in range(20):
            chunk = int(rng.choice([1, 2, 7, 50]))
            n = [0, 1, chunk - 1, chunk, chunk + 1, 5 * chunk + 3][k % 6]
            expected = xs = rng.integers(-2**31, 2**31, n).astype(np.int32)
            chain = rng.choice(list(stages), rng.integers(1, 4))
            for name in chain:
                expected = stages[name][1](expected)
            chosen = [stages[name][0] for name in chain]
            got = self.collect(pieces(xs, rng.integers(1, 20, 3)), *chosen, chunk=chunk,
                               ahead=int(rng.integers(1, 4)))
            self.assertEqual(len(got), -(-n // chunk))
            np.testing.assert_array_equal(np.concatenate([np.empty(0, np.int32), *got]), expected,
                                          str((chain, n, chunk)))

    def test_states_of_any_type(self):
        changes = Stage(self.server.changes, 3, state=(100, -1))
        got = self.collect([[1, 1, 2], [2], [], [3, 3, 1]], changes, chunk=2)
        self.assertEqual(np.concatenate(got).tolist(), [100, 103, 106, 109])
        got = self.collect([[4, 6]], Stage("span", state={"low": 5, "high": 5}))
        self.assertEqual(got[0].tolist(), [1, 2])

    def test_elements_that_are_arrays(self):
        rows = np.arange(14, dtype=np.int32).reshape(7, 2)
        got = self.collect(pieces(rows, [3]), self.server.both, self.server.corners, chunk=2)
        sums = rows.sum(1)
        np.testing.assert_array_equal(np.concatenate(got), np.stack([sums, -sums], 1))
        with self.assertRaisesRegex(ValueError, r"piece 1 of the source has elements of shape \(1,\)"):
            self.collect([rows[:1], rows[:1, :1]], self.server.both)

    def test_a_source_may_use_its_memory_again(self):
        buffer = np.empty(3, np.int32)

        def source():
            for i in range(5):
                buffer[:] = i
                yield buffer
        got = self.collect(source(), Stage(self.server.scale, 1), chunk=2)
        self.assertEqual(np.concatenate(got).tolist(), np.repeat(np.arange(5), 3).tolist())

    def test_the_source_is_read_no_further_than_ahead(self):
        taken = []

        def source():
            for i in itertools.count():
                taken.append(i)
                yield [i]
        for ahead in (1, 2, 5):
            taken.clear()
            stream = self.server.stream(source(), "evens", chunk=1, ahead=ahead)
            self.assertEqual(taken, [])
            self.assertEqual([len(next(stream)) for _ in range(3)], [1, 0, 1])
            self.assertEqual(len(taken), ahead + 2)
            stream.close()

    def test_types_are_checked_before_anything_is_read(self):
        s = self.server
        for stages, message in [
                ([], "at least one stage"),
                (["nosuch"], "nosuch is no entry point"),
                ([s.widen, s.evens], r"widen gives \[\]f64, but evens takes \[\]i32"),
                ([s.total], r"total cannot be a stage, as it returns no array of scalars: \[\]i32 -> i32"),
                ([s.add], "its last parameter is no array"),
                ([s.zero], "its last parameter is no array"),
                ([s.lost], "it does not take the state that it returns"),
                ([s.three], "it returns no array"),
                ([s.used_up], "it consumes a parameter"),
                ([s.scale], "scale takes 1 arguments before a chunk, but 0 were given"),
                ([s.running], "running carries a state of type i32: give the first one"),
                ([Stage(s.evens, state=1)], "evens carries no state"),
                ([Stage(s.running, state="x")], "expected i32"),
                ([Stage(s.scale, s.put(1.5))], "scale: a: expected i32, got a value of type f64"),
        ]:
            with self.assertRaisesRegex(TypeError, message):
                s.stream(iter(lambda: self.fail("the source was read"), None), *stages)
        for wrong in ({"chunk": 0}, {"ahead": 0}):
            with self.assertRaises(ValueError):
                s.stream([], s.evens, **wrong)

    def test_a_failure_says_where(self):
        stream = self.server.stream([[1, 2, 4, 5], [10, 0, 0]], Stage("scale", 1), "inverse", chunk=2)
        self.assertEqual([next(stream).tolist() for _ in range(2)], [[1000, 500], [250, 200]])
        with self.assertRaisesRegex(kenaz.StreamError, r"^chunk 2 \(elements 4 to 5\), stage "
                                    "inverse: division by zero") as caught:
            next(stream)
        error = caught.exception
        self.assertEqual((error.chunk, error.first, error.count, error.stage), (2, 4, 2, "inverse"))
        self.assertIsInstance(error.__cause__, kenaz.ProgramError)
        self.server.sync()  # nothing is left to tell, of the chunks behind it either
        self.assertEqual(list(stream), [])

    def test_a_source_that_fails_comes_after_its_elements(self):
        stream = self.server.stream([[2, 4, 6], ["x"]], "evens", chunk=2)
        self.assertEqual([next(stream).tolist() for _ in range(2)], [[2, 4], [6]])
        with self.assertRaisesRegex(TypeError, r"evens: piece 1 of the source: expected \[\]i32"):
            next(stream)

        def source():
            yield from ([2], [4, 6])
            raise OSError("the sensor is gone")
        stream = self.server.stream(source(), "evens", chunk=10)
        self.assertEqual(next(stream).tolist(), [2, 4, 6])
        with self.assertRaisesRegex(OSError, "^the sensor is gone$"):
            next(stream)

    def test_a_connection_that_is_lost_before_a_chunk_is_sent(self):
        with start(STREAMS) as server:
            def source():
                yield [1, 2, 3, 4]
                server.sync()  # so that all results so far have come
                server.close()
                yield [5, 6]
            stream = server.stream(source(), "twice", chunk=2, ahead=9)
            self.assertEqual([next(stream).tolist() for _ in range(2)],
                             [[1, 1, 2, 2], [3, 3, 4, 4]])
            with self.assertRaisesRegex(kenaz.StreamError, r"^chunk 2 \(elements 4 to 5\): the "
                                        "connection was closed$") as caught:
                next(stream)
        error = caught.exception
        self.assertEqual((error.chunk, error.first, error.count, error.stage), (2, 4, 2, ""))
        self.assertIsInstance(error.__cause__, kenaz.ConnectionLost)

    def test_nothing_stays_on_the_device(self):
        def variables(server):
            def ask():
                reply = server._connection.core.ask("vars")
                return Request(reply, reply.lines)
            return server._connection.get(ask)
        with start(STREAMS) as server:
            stream = server.stream(np.arange(1000, dtype=np.int32), Stage("scale", 2),
                                   Stage("running", state=0), chunk=10)
            next(stream)
            self.assertGreater(len(variables(server)), 1)
            del stream
            gc.collect()
            server.sync()
            self.assertEqual(variables(server), [])


if __name__ == "__main__":
    unittest.main()
