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
        self.folder = folder
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

    def test_programs_are_loaded_from_here(self):
        listening = Listening(self.folder / "first.fut", options=["--allow-load"])
        self.addCleanup(listening.close)
        (self.folder / "lib").mkdir()
        (self.folder / "lib" / "main.fut").write_text(
            'import "../more" -- import "nosuch"\nentry f (xs: []i32): []i32 = map more xs')
        (self.folder / "more.fut").write_text("def more (x: i32) = x + 1")
        with kenaz.connect(listening.unix) as s:
            xs = s.scale(3, np.arange(4, dtype=np.int32))
            self.assertIs(s.load("mine", self.folder / "lib" / "main.fut"), s)
            ys = s.f(xs)
            self.assertEqual(ys.numpy().tolist(), [1, 4, 7, 10])
            with self.assertRaisesRegex(kenaz.CompileError, r"Error at a\.fut:1:11-12:(.|\n)*\"y\""):
                s.load("bad", {"a.fut": "entry f = y"})
            with self.assertRaisesRegex(kenaz.ServerError, "itself has a program first"):
                s.load("first", {"a.fut": "entry f = 1i32"})
            with self.assertRaises(FileNotFoundError):
                s.load("none", self.folder / "none.fut")
            (self.folder / "kenaz" / "sort.fut").mkdir(parents=True)
            (self.folder / "sorts.fut").write_text('import "kenaz/sort"\n')
            with self.assertRaises(IsADirectoryError):  # and not the library's
                s.load("sorts", self.folder / "sorts.fut")
            self.assertEqual(int(s.load("mine", {"a.fut": "entry g = 7i32"}).g()), 7)
            self.assertEqual(int(s.program("first").scale(2, ys)[1]), 8)

        async def main():
            async with kenaz.aio.connect(listening.unix) as s:
                await s.load("mine", {"a b.fut": "entry g = 8i32"})
                return await (await s.g()).item()
        self.assertEqual(asyncio.run(main()), 8)

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
