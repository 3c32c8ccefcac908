"""Servers with several devices."""
import asyncio
import unittest

import numpy as np

import kenaz
import kenaz.aio
from support import DEVICE, PROGRAM, SERVER


@unittest.skipIf(DEVICE == "reference", "it has no devices")
class Devices(unittest.TestCase):
    WHERE = {"server": str(SERVER), "device": f"{DEVICE},{DEVICE}"}

    def test_a_session_goes_to_another_device_with_its_values(self):
        with kenaz.open(PROGRAM, **self.WHERE) as s:
            self.assertEqual(list(s.devices()), ["#0", "#1"])
            self.assertEqual(s.device, "#0")
            x = s.add(1, 2)
            ones = s.put(np.ones(1000, np.float32))
            s.device = "#1"
            self.assertEqual(s.device, "#1")
            self.assertEqual(int(s.add(x, 1)), 4)
            self.assertEqual(float(s.dot(ones, ones)), 1000)
            with self.assertRaisesRegex(kenaz.ServerError, "Unknown device: #2"):
                s.device = "#2"
            self.assertEqual(int(x), 3)

    def test_with_asyncio(self):
        async def main():
            async with kenaz.aio.open(PROGRAM, **self.WHERE) as s:
                x = await s.add(1, 2)
                await s.move("#1")
                return list(await s.devices()), await s.device(), await x.item()
        self.assertEqual(asyncio.run(main()), (["#0", "#1"], "#1", 3))
