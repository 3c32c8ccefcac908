"""PNG files for tests and scripts, with nothing but Python: 8 or 16 bits, grey, RGB or RGBA."""
import struct
import zlib

CHANNELS = {0: 1, 2: 3, 6: 4}


def write(path, width, height, kind, bits, values):
    """`values`: all components of all pixels, in the order of PNG; `kind`: 0 grey, 2 RGB, 6 RGBA."""
    row = width * CHANNELS[kind]
    code = ">%d%s" % (row, "B" if bits == 8 else "H")
    raw = b"".join(b"\0" + struct.pack(code, *values[y * row:(y + 1) * row]) for y in range(height))

    def chunk(name, data):
        check = zlib.crc32(name + data)
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", check)

    head = struct.pack(">IIBBBBB", width, height, bits, kind, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) +
                   chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b""))


def unfilter(raw, row_bytes, step, height):
    rows, above, at = [], bytearray(row_bytes), 0
    for _ in range(height):
        kind, line = raw[at], bytearray(raw[at + 1:at + 1 + row_bytes])
        at += 1 + row_bytes
        for i in range(row_bytes):
            left = line[i - step] if i >= step else 0
            corner = above[i - step] if i >= step else 0
            up = above[i]
            if kind == 1:
                guess = left
            elif kind == 2:
                guess = up
            elif kind == 3:
                guess = (left + up) // 2
            elif kind == 4:
                base = left + up - corner
                guess = min((left, up, corner), key=lambda v: abs(base - v))
            else:
                guess = 0
            line[i] = (line[i] + guess) & 255
        rows.append(line)
        above = line
    return b"".join(rows)


def read(path):
    """(width, height, kind, bits, values)."""
    data = open(path, "rb").read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", path
    at, packed = 8, b""
    while at < len(data):
        size, name = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if name == b"IHDR":
            width, height, bits, kind = struct.unpack(">IIBB", body[:10])
        if name == b"IDAT":
            packed += body
        at += 12 + size
    step = CHANNELS[kind] * bits // 8
    flat = unfilter(zlib.decompress(packed), width * step, step, height)
    code = ">%d%s" % (len(flat) * 8 // bits, "B" if bits == 8 else "H")
    return width, height, kind, bits, list(struct.unpack(code, flat))
