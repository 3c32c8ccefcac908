"""Servers with several programs."""
import asyncio
import pathlib
import tempfile
import unittest

import numpy as np

import kenaz
import kenaz.aio
from support import Listening

FIRST = """
type point = {x: i32, y: i32}
type mine = {x: i32}
entry scale (k: i32) (xs: []i32): []i32 = map (* k) xs
entry point (x: i32) (y: i32): point = {x, y}
entry mine (x: i32): mine = {x}
"""
SECOND = """
type point = {x: i32, y: i32}
type mine = {x: f32}
entry sum (xs: []i32): i32 = i32.sum xs
entry norm (p: point): i32 = p.x * p.x + p.y * p.y
entry of_mine (m: mine): f32 = m.x
"""


class Programs(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="kenaz_python_")
        self.addCleanup(scratch.cleanup)
        folder = pathlib.Path(scratch.name)
        (folder / "first.fut").write_text(FIRST)
        (folder / "second.fut").write_text(SECOND)
        self.listening = Listening(folder / "second.fut", options=[folder / "first.fut"])
        self.addCleanup(self.listening.close)

    def test_values_move_between_programs(self):
        with kenaz.connect(self.listening.unix) as s:
            self.assertEqual(list(s.programs()), ["first", "second"])
            xs = s.scale(3, np.arange(4, dtype=np.int32))
            p, mine = s.point(3, 4), s.mine(1)
            self.assertIs(s.program("second"), s)
            self.assertEqual(int(s.sum(xs)), 18)
            self.assertEqual(int(s.norm(p)), 25)
            self.assertEqual(int(p.x), 3)
            with self.assertRaisesRegex(kenaz.ServerError, "the mine of the program first"):
                s.of_mine(mine).wait()
            self.assertEqual(int(mine.x), 1)
            with self.assertRaisesRegex(AttributeError, "no entry point scale; it has norm"):
                s.scale(1, xs)
            with self.assertRaisesRegex(kenaz.ServerError, "Unknown program: third"):
                s.program("third")
            self.assertEqual(int(s.program("first").scale(2, xs)[1]), 6)

    def test_with_asyncio(self):
        async def main():
            async with kenaz.aio.connect(self.listening.unix) as s:
                versions = await s.programs()
                xs = await s.scale(3, np.arange(4, dtype=np.int32))
                await s.program("second")
                total = await s.sum(xs)
                return versions, await total.item()
        versions, total = asyncio.run(main())
        self.assertEqual([len(v) for v in versions.values()], [16, 16])
        self.assertEqual(total, 18)
