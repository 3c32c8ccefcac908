"""The same for asyncio."""
import asyncio
import itertools
import unittest

import kenaz
import kenaz.aio
import numpy as np

from support import HERE, OPTIONS, PROGRAM, SERVER, TOKEN, WAYS, Listening

STREAMS = HERE.parent / "streams/program.fut"


def in_every_way(cls):
    for way in WAYS:
        globals()[name] = type(name := f"{cls.__name__}_{way}", (cls,), {"WAY": way})


class Asyncio(unittest.IsolatedAsyncioTestCase):
    WAY = "unix"

    @classmethod
    def setUpClass(cls):
        cls.listening = None
        if cls.WAY != "subprocess":
            cls.listening = Listening(tls=cls.WAY == "tls")
            cls.addClassCleanup(cls.listening.close)

    async def asyncSetUp(self):
        asyncio.get_running_loop().slow_callback_duration = 60  # it would log what takes long

    def join(self, **more):
        if self.WAY == "subprocess":
            return kenaz.aio.open(PROGRAM, server=str(SERVER), options=OPTIONS)
        if self.WAY == "tls":
            return kenaz.aio.connect(self.listening.tls, token=TOKEN, tls=self.listening.ca, **more)
        return kenaz.aio.connect(getattr(self.listening, self.WAY), **more)


class Everything(Asyncio):
    async def test_calls_and_values(self):
        async with self.join() as s:
            xs = np.arange(1000, dtype=np.float32)
            self.assertEqual(await (await s.dot(xs, np.ones_like(xs))).item(), xs.sum())
            self.assertEqual(await (await s.add(1, y=2)).item(), 3)
            r = await s.divide(7, 2)
            self.assertEqual([await f.item() for f in r], [3, 1])
            self.assertEqual((await r.rest.numpy()).dtype, np.int32)
            t = await s.table(3, 4)
            self.assertEqual((await t.shape(), await t[2, 3].item()), ((3, 4), 11))
            ps = await s.points(3)
            self.assertEqual((await ps["x"].numpy()).tolist(), [0, 1, 2])
            self.assertEqual((await ps.shape(), await ps[2].x.item()), ((3,), 2))
            c = await s.circle(1, 2, 3)
            self.assertEqual(await c.variant(), "circle")
            self.assertEqual(await (await c.payload())[1].item(), 3)
            nothing = await s.construct("shape", "nothing")
            self.assertEqual(await (await s.radius(nothing)).item(), 0)
            a, b = await s.fetch(await s.put(5), await s.put([1.5]))
            self.assertEqual((int(a), b.tolist()), (5, [1.5]))
            with self.assertRaisesRegex(TypeError, "await its numpy"):
                np.asarray(t)
            with self.assertRaisesRegex(TypeError, "^add: x: expected i32"):
                await s.add(1.5, 2)
            with self.assertRaises(AttributeError):
                s.nosuch
            self.assertGreater((await s.stats())["commands_total"], 0)

    async def test_much_data(self):
        async with self.join() as s:
            many = [np.arange(n, dtype=np.int64) for n in (0, 1, 8_192, 100_000, 1_500_000)]
            values = await asyncio.gather(*(s.put(xs) for xs in many))
            for xs, got in zip(many, await s.fetch(*values)):
                self.assertEqual(got.tobytes(), xs.tobytes())
            self.assertEqual(await (await s.total(values[-1])).item(), many[-1].sum())

    async def test_arrays_may_change_once_they_are_sent(self):
        async with self.join() as s:
            xs = np.zeros(3_000_000, np.int64)
            values = []
            for i in range(3):
                xs[:] = i
                values.append(await s.put(xs))
            for i, value in enumerate(values):
                self.assertEqual(await (await s.total(value)).item(), i * len(xs))

    async def test_failures(self):
        async with self.join() as s:
            bad = await s.divide(1, 0)
            after = await s.next(bad.quotient)
            for value in (after, bad.rest):
                with self.assertRaisesRegex(kenaz.ProgramError, "division by zero"):
                    await value.wait()
            await s.sync()
            await s.at([1], 1)
            with self.assertRaisesRegex(kenaz.ProgramError, "out of bounds"):
                await s.sync()
            async with kenaz.aio.timings() as t:
                await asyncio.gather(*(s.next(i) for i in range(5)))
            self.assertEqual([c.entry for c in t.calls], ["next"] * 5)

    async def test_many_tasks(self):
        async def work(s, number):
            x = await s.put(np.int32(number))
            xs = np.full(20_000, number, np.float32)
            for _ in range(20):
                x = await s.next(x)
                self.assertEqual(await (await s.dot(xs, xs)).item(), number * number * 20_000)
            self.assertEqual(await x.item(), number + 20)
        async with self.join() as s:
            await asyncio.gather(*(work(s, i) for i in range(8)))

    async def test_tasks_that_are_cancelled_harm_nobody(self):
        async with self.join() as s:
            xs = np.ones(2_000_000, np.int64)
            for delay in (0, 0.001, 0.005):
                task = asyncio.ensure_future(s.total(xs))
                await asyncio.sleep(delay)
                task.cancel()
                waiting = asyncio.ensure_future((await s.next(1)).item())
                await asyncio.sleep(0)
                waiting.cancel()
                self.assertEqual(await (await s.next(41)).item(), 42)


class Once(Asyncio):
    async def test_pipelines(self):
        async with self.join() as s:
            x = await s.put(np.int32(0))
            for _ in range(5_000):
                x = await s.next(x)
            self.assertEqual(await x.item(), 5_000)

    async def test_servers_that_go(self):
        listening = Listening()
        self.addCleanup(listening.close)
        s = await kenaz.aio.connect(listening.unix)
        late = await s.slow(2_000_000_000)
        listening.kill()
        for use in (late.wait, lambda: s.next(1), s.sync):
            with self.assertRaises(kenaz.ConnectionLost):
                await use()
        await s.close()
        with self.assertRaisesRegex(kenaz.ConnectionLost, "cannot connect"):
            await kenaz.aio.connect("unix:///nosuch")
        with self.assertRaises(kenaz.ServerError):
            await kenaz.aio.open("nosuch.fut", server=str(SERVER))
        with self.assertRaisesRegex(kenaz.ProgramError, "division by zero"):
            async with self.join() as s:
                await s.divide(1, 0)


async def collect(stream):
    return [chunk async for chunk in stream]


class Streams(unittest.IsolatedAsyncioTestCase):
    """What is not the same code as for threads: test_streams.py has the rest."""

    def join(self):
        return kenaz.aio.open(STREAMS, server=str(SERVER), options=OPTIONS)

    async def test_lengths_and_chunks(self):
        rng = np.random.default_rng(3)
        async with self.join() as s:
            for n, chunk, ahead in [(0, 3, 2), (1, 3, 1), (2, 3, 2), (3, 3, 1), (100, 7, 3),
                                    (300_000, 40_000, 2)]:
                xs = rng.integers(-2**31, 2**31, n).astype(np.int32)
                sums = np.add.accumulate(np.append(np.int32(5), xs), dtype=np.int32)[1:]

                async def source():
                    for at in range(0, n, 11_111):
                        await asyncio.sleep(0)
                        yield xs[at:at + 11_111]
                for pieces in (xs, np.array_split(xs, 3), source()):
                    got = await collect(s.stream(pieces, kenaz.Stage(s.running, state=5), "evens",
                                                 chunk=chunk, ahead=ahead))
                    self.assertEqual(len(got), -(-n // chunk))
                    np.testing.assert_array_equal(np.concatenate([np.empty(0, np.int32), *got]),
                                                  sums[sums % 2 == 0])

    async def test_a_source_may_use_its_memory_again(self):
        buffer = np.empty(500_000, np.int32)

        async def source():
            for i in range(4):
                buffer[:] = i
                yield buffer
        async with self.join() as s:
            got = await collect(s.stream(source(), kenaz.Stage("scale", 3), chunk=500_000, ahead=3))
        for i, xs in enumerate(got):
            self.assertEqual((xs.min(), xs.max()), (3 * i, 3 * i))

    async def test_the_source_is_read_no_further_than_ahead(self):
        taken = []

        async def source():
            for i in itertools.count():
                taken.append(i)
                yield [i]
        async with self.join() as s:
            stream = s.stream(source(), "evens", chunk=1, ahead=3)
            self.assertEqual(taken, [])
            self.assertEqual([len(await stream.__anext__()) for _ in range(3)], [1, 0, 1])
            self.assertEqual(len(taken), 5)
            await stream.aclose()

    async def test_failures(self):
        async with self.join() as s:
            with self.assertRaisesRegex(TypeError, r"widen gives \[\]f64, but evens takes \[\]i32"):
                s.stream([], s.widen, s.evens)
            with self.assertRaises(ValueError):
                s.stream([], s.evens, chunk=0)
            stream = s.stream([[1, 2, 4, 5], [10, 0, 0]], "inverse", chunk=2)
            self.assertEqual([(await stream.__anext__()).tolist() for _ in range(2)],
                             [[1000, 500], [250, 200]])
            with self.assertRaisesRegex(kenaz.StreamError, r"^chunk 2 \(elements 4 to 5\), stage "
                                        "inverse: division by zero") as caught:
                await stream.__anext__()
            self.assertIsInstance(caught.exception.__cause__, kenaz.ProgramError)
            await s.sync()  # nothing is left to tell

            async def source():
                yield [2, 4, 6]
                raise OSError("the sensor is gone")
            stream = s.stream(source(), "evens", chunk=2)
            self.assertEqual([(await stream.__anext__()).tolist() for _ in range(2)], [[2, 4], [6]])
            with self.assertRaisesRegex(OSError, "^the sensor is gone$"):
                await stream.__anext__()

    async def test_calls_go_on_meanwhile(self):
        """Of other tasks, while the source waits."""
        more = asyncio.Event()

        async def source():
            yield [2, 3]
            await more.wait()
            yield [4]
        async with self.join() as s:
            streamed = asyncio.ensure_future(collect(s.stream(source(), "evens", chunk=1)))
            self.assertEqual((await (await s.evens([1, 2])).numpy()).tolist(), [2])
            more.set()
            self.assertEqual([xs.tolist() for xs in await streamed], [[2], [], [4]])

    async def test_a_connection_that_is_lost(self):
        s = await self.join()

        async def source():
            yield [1, 2]
            await s.sync()
            await s.close()
            yield [3]
        stream = s.stream(source(), "twice", chunk=2, ahead=9)
        self.assertEqual((await stream.__anext__()).tolist(), [1, 1, 2, 2])
        with self.assertRaisesRegex(kenaz.StreamError, r"^chunk 1 \(element 2\): the connection "
                                    "was closed$"):
            await stream.__anext__()


in_every_way(Everything)
del Asyncio, Everything
