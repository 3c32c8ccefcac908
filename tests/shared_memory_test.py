#!/usr/bin/env python3
"""Values that go through memory which the client shares with a server that it has started.

    shared_memory_test.py SERVER [OPTION..]"""
import fcntl
import mmap
import os
import struct
import subprocess
import sys
import tempfile
import unittest

COMMAND = []
FAILURE = "%%% FAILURE"
PROGRAM = "entry twice (xs: []i32): []i32 = map (* 2) xs\nentry flags (xs: []bool): []bool = xs\n"
F_ADD_SEALS, F_SEAL_SHRINK = 1033, 2
SIZE = 1 << 20


def value(elements, type_name=" i32", code="i"):
    return b"b\x02\x01" + type_name.encode() + struct.pack("<q", len(elements)) + struct.pack(
        f"<{len(elements)}{code}", *elements)


class Shared(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="kenaz_test_")
        self.addCleanup(folder.cleanup)
        program = os.path.join(folder.name, "shared.fut")
        with open(program, "w") as file:
            file.write(PROGRAM)
        self.server = subprocess.Popen([*COMMAND, program], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE)
        self.addCleanup(self.end)
        self.reply()
        self.file, self.memory = self.make()

    def end(self):
        self.server.stdin.close()
        self.assertEqual(self.server.wait(60), 0)
        self.server.stdout.close()

    def make(self, size=SIZE, sealed=True):
        file = os.memfd_create("test", os.MFD_ALLOW_SEALING)
        self.addCleanup(os.close, file)
        os.ftruncate(file, size)
        if sealed:
            fcntl.fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK)
        return file, mmap.mmap(file, size) if size else None

    def reply(self):
        lines = []
        while not lines or lines[-1] != "%%% OK":
            lines.append(self.server.stdout.readline().decode().rstrip("\n"))
        return lines[:-1]

    def ask(self, line, data=b""):
        self.server.stdin.write(line.encode() + b"\n" + data)
        self.server.stdin.flush()
        return self.reply()

    def share(self, file):
        return self.ask(f"share /proc/{os.getpid()}/fd/{file}")

    def put(self, offset, data):
        self.memory[offset:offset + len(data)] = data

    def assertFails(self, reply, words):
        self.assertIn(FAILURE, reply)
        self.assertIn(words, "\n".join(reply))

    def download(self, name):
        self.server.stdin.write(f"download {name}\n".encode())
        self.server.stdin.flush()
        return self.data()

    def data(self):
        data = self.server.stdout.read(int(self.server.stdout.readline()))
        self.assertEqual(self.reply(), [])
        return data

    def test_values_go_both_ways(self):
        self.assertEqual(self.share(self.file), [])
        data = value([1, 2, 3])
        # Where there is no place for more.
        self.put(SIZE - len(data), data)
        self.assertEqual(self.ask(f"upload_shared {SIZE - len(data)} {len(data)} xs []i32"), [])
        self.put(SIZE - len(data), bytes(len(data)))
        self.assertTrue(self.ask("call twice ys xs")[0].startswith("runtime: "))
        self.assertEqual(self.ask(f"download_shared 5 {len(data)} ys"), [str(len(data))])
        self.assertEqual(self.memory[:5 + len(data) + 1], bytes(5) + value([2, 4, 6]) + bytes(1))
        self.assertEqual(self.ask("download_shared 100 54 xs ys"), ["54"])
        self.assertEqual(self.memory[100:154], data + value([2, 4, 6]))
        self.assertEqual(self.ask("upload_shared 100 54 as []i32 bs []i32"), [])
        self.assertEqual(self.download("bs"), value([2, 4, 6]))

    def test_what_has_no_room_comes_in_the_reply(self):
        self.share(self.file)
        data = value(range(1000))
        self.put(0, data)
        self.assertEqual(self.ask(f"upload_shared 0 {len(data)} xs []i32"), [])
        self.put(0, bytes(len(data)))
        self.server.stdin.write(f"download_shared 0 {len(data) - 1} xs\n".encode())
        self.server.stdin.flush()
        self.assertEqual(self.data(), data)
        self.assertEqual(self.memory[:len(data)], bytes(len(data)))

    def test_values_of_all_sizes(self):
        for count in (0, 1, 16_384, 16_385, 200_000):
            data = value(range(count))
            self.file, self.memory = self.make(len(data))
            self.assertEqual(self.share(self.file), [])
            self.put(0, data)
            self.assertEqual(self.ask(f"upload_shared 0 {len(data)} xs []i32"), [])
            self.put(0, bytes(len(data)))
            self.assertEqual(self.ask(f"download_shared 0 {len(data)} xs"), [str(len(data))])
            self.assertEqual(self.memory[:], data)
            self.ask("free xs")

    def test_places_that_there_are_not(self):
        self.share(self.file)
        data = value([1, 2, 3])
        self.ask(f"upload {len(data)} xs []i32", data)
        for place in (f"0 {SIZE + 1}", f"{SIZE} 1", f"{SIZE + 1} 0", f"1 {SIZE}",
                      f"{2**63 - 1} {2**63 - 1}"):
            self.assertFails(self.ask(f"upload_shared {place} ys []i32"), f"has {SIZE} bytes")
            self.assertFails(self.ask(f"download_shared {place} xs"), f"has {SIZE} bytes")
        for place in ("-1 27", "0 -1", "0 x", f"0 {2**64}"):
            self.assertFails(self.ask(f"upload_shared {place} ys []i32"), "is no number of bytes")
        self.assertEqual(self.ask("vars"), ["xs []i32 12"])

    def test_what_is_no_value_is_refused(self):
        self.share(self.file)
        data = value([1, 2, 3])
        self.put(0, data + value([0, 1, 2], "bool", "b"))
        for command, words in [
                ("0 27 xs []bool", "is expected"), ("1 27 xs []i32", "xs"),
                ("0 26 xs []i32", "only 11 follow"), ("0 28 xs []i32", "1 bytes follow"),
                ("0 27 xs []i32 ys []i32", "ends before the value of ys"),
                ("0 7 xs []i32", "ends inside"), ("0 0 xs []i32", "ends before"),
                ("27 18 xs []bool", "xs"), ("0 27 xs nonsense", "Unknown type")]:
            self.assertFails(self.ask("upload_shared " + command), words)
        self.assertFails(self.ask("download_shared 0 27 none"), "Unknown variable")
        self.assertEqual(self.ask("vars"), [])
        self.assertEqual(self.ask("upload_shared 0 27 xs []i32"), [])
        self.assertFails(self.ask("upload_shared 0 27 xs []i32"), "already exists")

    def test_only_memory_that_stays_is_taken(self):
        unsealed, _ = self.make(sealed=False)
        self.assertFails(self.share(unsealed), "F_SEAL_SHRINK")
        ends = os.pipe()
        for end in ends:
            self.addCleanup(os.close, end)
        for path in ["/dev/null", "/dev/zero", f"/proc/{os.getpid()}/fd/{ends[0]}", __file__, "/",
                     "/nothing"]:
            self.assertFails(self.ask(f"share {path}"), f"Failed to open {path}")
        self.assertFails(self.ask("upload_shared 0 27 xs []i32"), "There is no shared memory")
        empty, _ = self.make(0)
        self.assertEqual(self.share(empty), [])
        self.assertFails(self.ask("upload_shared 0 1 xs []i32"), "has 0 bytes")
        # What is refused does not take the place of what there is.
        self.assertEqual(self.share(self.file), [])
        self.assertFails(self.share(unsealed), "F_SEAL_SHRINK")
        self.put(0, value([4]))
        self.assertEqual(self.ask("upload_shared 0 19 xs []i32"), [])

    def test_it_can_go_and_grow_meanwhile(self):
        self.share(self.file)
        os.ftruncate(self.file, 2 * SIZE)
        self.put(0, value([4]))
        self.assertEqual(self.ask("upload_shared 0 19 xs []i32"), [])
        # Holes are zeros, as in any file: no value begins so.
        subprocess.run(["fallocate", "-p", "-o", "0", "-l", str(SIZE), f"/proc/self/fd/{self.file}"],
                       pass_fds=[self.file], check=True)
        self.assertFails(self.ask("upload_shared 0 19 ys []i32"), "ys")
        self.assertEqual(self.ask("download_shared 0 19 xs"), ["19"])
        self.assertEqual(self.memory[:19], value([4]))


if __name__ == "__main__":
    COMMAND = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
