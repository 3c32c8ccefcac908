"""The same for asyncio."""
import asyncio
import unittest

import kenaz
import kenaz.aio
import numpy as np

from support import OPTIONS, PROGRAM, SERVER, TOKEN, WAYS, Listening


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


in_every_way(Everything)
del Asyncio, Everything
