#!/usr/bin/env python3
"""Draws the Mandelbrot set, and a closer look at its edge, side by side:

    python_mandelbrot.py [--device NAME | --connect URL] [PICTURE.png]

Needs the package kenaz (client/python) and kenaz-server on PATH. The pictures are computed on the device;
only the finished one is fetched, and written as a PNG by Python's own means."""
from __future__ import annotations

import argparse
import pathlib
import struct
import zlib

import kenaz
import numpy as np

WIDTH, HEIGHT, DEPTH = 600, 400, 300
VIEWS = [(-2.23, -1.0, 0.77, 1.0), (-0.7463 - 0.006, 0.1102 - 0.004, -0.7463 + 0.006, 0.1102 + 0.004)]


def write_png(path: str, pixels: "np.ndarray[tuple[int, ...], np.dtype[np.int32]]") -> None:
    """`pixels`: one 0xRRGGBB each, row by row."""
    height, width = pixels.shape
    colours = np.stack([pixels >> 16, pixels >> 8, pixels], axis=-1).astype(np.uint8)
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # a filter's number, 0, before each
    rows[:, 1:] = colours.reshape(height, -1)

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
                   + chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)) + chunk(b"IEND", b""))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--device")
    parser.add_argument("--connect", metavar="URL")
    parser.add_argument("picture", nargs="?", default="mandelbrot.png")
    args = parser.parse_args()
    program = pathlib.Path(__file__).with_name("mandelbrot.fut")
    server = (kenaz.connect(args.connect) if args.connect
              else kenaz.open(program, device=args.device))
    with server, kenaz.timings() as times:
        # Both calls are under way before the first picture is fetched.
        views = [server.mandelbrot(WIDTH, HEIGHT, DEPTH, *(np.float32(v) for v in view))
                 for view in VIEWS]
        write_png(args.picture, np.hstack(server.fetch(*views)))
    print(f"{args.picture}: {len(times)} calls, {1000 * times.total:.1f} ms on the device")


if __name__ == "__main__":
    main()
