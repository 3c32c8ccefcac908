#!/usr/bin/env python3
"""Clients, files and signals that would harm a server, or its other clients, if they could.

    hostile_test.py [--sanitized] [-k PATTERN] SERVER [OPTION..]

Each test starts a server of its own. --sanitized: leave out what limits the address space."""
import os
import random
import resource
import select
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from support.server import Line, Server, Waiting, raise_file_limit  # noqa: E402

PROGRAM = os.path.join(HERE, "hostile.fut")
TOKEN = "0123456789abcdef"
COMMAND = []
SANITIZED = False
FAILURE = "%%% FAILURE"
NO_MEMORY = ("The server has no memory left for what its clients send and keep "
             "(--max-client-memory).")


def header(count, type_name=" i32"):
    return b"b\x02\x01" + type_name.encode() + struct.pack("<q", count)


def value(elements):
    return header(len(elements)) + struct.pack(f"<{len(elements)}i", *elements)


class Hostile(Waiting, unittest.TestCase):
    patience = 30

    def start(self, *options, **how):
        server = Server([*COMMAND, *options, PROGRAM], **how)
        self.addCleanup(server.stop)
        return server

    def line(self, server):
        line = Line.unix(server.path)
        self.addCleanup(line.close)
        return line

    def expect_served(self, server):
        line = Line.unix(server.path)
        self.assertEqual(line.upload("xs", "[]i32", value([1, 2, 3])), [])
        self.assertTrue(line.request("call twice ys xs")[0].startswith("runtime: "))
        self.assertEqual(line.download("ys"), value([2, 4, 6]))
        line.close()

    def folder(self):
        scratch = tempfile.TemporaryDirectory(prefix="kenaz_hostile_")
        self.addCleanup(scratch.cleanup)
        return scratch.name


class Memory(Hostile):
    def test_memory_that_ends_ends_connections_but_not_the_server(self):
        if SANITIZED:
            self.skipTest("sanitizers need all of the address space")
        server = self.start("--reference", "--max-client-memory", "0")
        with open(f"/proc/{server.process.pid}/statm") as file:
            size = int(file.read().split()[0])
        most = size * os.sysconf("SC_PAGESIZE") + (100 << 20)
        resource.prlimit(server.process.pid, resource.RLIMIT_AS, (most, most))
        ended = 0
        lines = []
        for _ in range(300):
            try:
                line = Line.unix(server.path, timeout=10)
                line.send("type " + "y" * 900_000)
                lines.append(line)
            except OSError:
                ended += 1
        self.assertGreater(ended, 0)
        for line in lines:
            line.close()
        self.eventually(lambda: server.stats()["connections"] == 1)
        self.expect_served(server)

    def test_lines_and_names_share_one_limit(self):
        server = self.start("--max-client-memory", "32mib")
        others = self.line(server)
        lines = [self.line(server) for _ in range(60)]
        for line in lines:
            line.send("type " + "y" * 1_000_000)
            self.expect_served(server)
        for line in lines:
            line.send("\n")
        replies = [line.read_reply() for line in lines]
        refused = [reply for reply in replies if NO_MEMORY in reply]
        self.assertGreater(len(refused), 20)
        self.assertLess(len(refused), 60)
        self.assertEqual(sum(reply[0] == FAILURE for reply in replies), 60)
        for line in lines:  # those that were refused go on
            self.assertEqual(line.request("inputs twice"), ["[]i32"])
        self.assertLess(server.stats(others)["client_memory_bytes"], 16 << 20)

    def test_many_words_and_variables_count(self):
        server = self.start("--max-client-memory", "4mib", "--max-variables", "0")
        line = self.line(server)
        self.assertEqual(line.ask("free " + "a " * 400_000), [FAILURE, NO_MEMORY])
        self.assertEqual(line.upload("v", "i32", b"b\x02\x00 i32" + bytes(4)), [])
        self.assertEqual(line.upload("b", "bool", b"b\x02\x00bool\x01"), [])
        reply, i = [], 0
        while reply == [] and i < 20_000:
            reply, i = line.ask(f"new {'n' * 900}{i} \"(i32, bool)\" v b"), i + 1
        self.assertEqual(reply, [FAILURE, NO_MEMORY])
        self.assertEqual(line.ask("clear"), [])
        self.assertLess(server.stats(line)["client_memory_bytes"], 1 << 20)

    def test_what_is_only_announced_takes_no_device_memory(self):
        server = self.start("--upload-timeout", "3")
        before = server.stats()
        lines = [self.line(server) for _ in range(4)]
        count = 100_000_000
        for line in lines:
            line.send(f"upload {4 * count + 15} a []i32\n".encode() + header(count) + bytes(1000))
        want = before["received_bytes_total"] + 4 * 1000
        self.eventually(lambda: server.stats()["received_bytes_total"] > want)
        stats = server.stats()
        self.assertLess(stats["device_memory_used_bytes"] - before["device_memory_used_bytes"],
                        16 << 20)
        for line in lines:
            reply = line.read_reply()
            self.assertEqual(reply[0], FAILURE)
            self.assertIn("(--upload-timeout)", reply[1])
            self.assertRaises(ConnectionError, line.more)
        self.expect_served(server)

    def test_uploads_of_all_sizes_arrive(self):
        server = self.start()
        line = self.line(server)
        for count in (0, 1, 16_384, 16_385, 300_000, 3_000_000):
            data = struct.pack("<i", count) * count
            self.assertEqual(line.upload("v", "[]i32", header(count) + data), [])
            self.assertEqual(line.download("v"), header(count) + data)
            line.request("free v")


class Sessions(Hostile):
    def test_a_name_must_be_one(self):
        server = self.start("--session-timeout", "1")
        line = self.line(server)
        for name in ('""', "n" * 1025):
            self.assertEqual(line.ask("attach " + name),
                             [FAILURE, "A session's name has 1 to 1024 bytes."])
        self.assertEqual(line.upload("v", "[]i32", value(range(1000))), [])
        used = server.stats(line)["device_memory_used_bytes"]
        line.close()
        self.eventually(lambda: server.stats()["device_memory_used_bytes"] < used)
        self.assertEqual(self.line(server).ask("attach " + "n" * 1024), [])

    def test_nobody_takes_all_names(self):
        server = self.start("--max-connections", "10")
        replies = []
        for i in range(10):
            line = Line.unix(server.path)
            replies.append(line.ask(f"attach name{i}"))
            line.upload("v", "i32", b"b\x02\x00 i32" + bytes(4))
            line.close()
        self.assertEqual(replies[:5], [[]] * 5)
        self.assertIn("were begun from where you are", replies[5][1])
        other = Line.tcp(server.ports[0])
        self.assertEqual(other.ask("attach another"), [])
        other.close()


class Files(Hostile):
    def sparse(self, name, start, size):
        path = os.path.join(self.root, name)
        with open(path, "wb") as file:
            file.write(start)
            file.truncate(size)

    def setUp(self):
        self.root = self.folder()

    def test_a_value_that_is_too_large_is_not_read(self):
        count = 400_000_000
        self.sparse("large", header(count), 15 + 4 * count)
        server = self.start("--root", self.root, "--max-session-bytes", "1000")
        line = self.line(server)
        reply = line.ask("restore large v []i32")
        self.assertEqual(reply, [FAILURE, "Failed to restore variable v.",
                                 "large: The value takes 1600000000 bytes; the session may have "
                                 "1000 more.", "in the binary value at byte 0"])
        with open(f"/proc/{server.process.pid}/status") as file:
            status = file.read()
        peak = int(status.split("VmHWM:")[1].split()[0]) << 10
        if not SANITIZED:
            self.assertLess(peak, 1 << 30)

    def test_a_long_file_ends_with_the_time_for_it_and_holds_up_nobody(self):
        self.sparse("comment", b"--", 1 << 40)  # a terabyte, for a reader of text
        server = self.start("--root", self.root, "--call-timeout", "10")
        reader = self.line(server)
        reader.send("restore comment v []i32\n")
        for _ in range(3):
            self.expect_served(server)
        self.assertEqual(select.select([reader.socket], [], [], 0)[0], [])
        reply = reader.read_reply()
        self.assertIn("(--call-timeout)", reply[2])

    def test_text_counts_while_it_is_read(self):
        path = os.path.join(self.root, "text")
        with open(path, "w") as file:
            file.write("[" + "1," * 8_000_000 + "1]")
        server = self.start("--root", self.root, "--max-client-memory", "8mib")
        self.assertIn("(--max-client-memory)", self.line(server).ask("restore text v []i32")[2])
        server = self.start("--root", self.root, "--max-session-bytes", "1mib")
        self.assertIn("1048576 bytes that the session may have",
                      self.line(server).ask("restore text v []i32")[2])

    def test_a_long_file_does_not_keep_the_server_from_ending(self):
        self.sparse("comment", b"--", 1 << 40)
        server = self.start("--root", self.root, "--call-timeout", "0", "--drain-timeout", "1")
        reader = self.line(server)
        reader.send("restore comment v []i32\n")
        self.expect_served(server)
        self.assertEqual(server.stop(), 0)

    def test_memory_is_shared_by_nobody_but_who_started_the_server(self):
        folder = self.folder()
        with open(os.path.join(folder, "memory"), "wb") as file:
            file.write(value([1, 2, 3]))
        for options in ([], ["--root", folder]):
            line = self.line(self.start(*options))
            for path in ("memory", os.path.join(folder, "memory"), f"/proc/{os.getpid()}/fd/0"):
                self.assertIn("Only a client that started the server", line.ask(f"share {path}")[-1])
            for command in ("upload_shared 0 27 xs []i32", "download_shared 0 27 xs"):
                self.assertIn("There is no shared memory", line.ask(command)[-1])

    def test_no_path_ends_within(self):
        with open(os.path.join(self.root, "good"), "w") as file:
            file.write("1")
        server = self.start("--root", self.root)
        line = self.line(server)
        line.send(b'restore "good\0x" v i32\n')
        self.assertEqual(line.read_reply()[0], FAILURE)
        self.assertEqual(line.request("restore good v i32"), [])

    def test_restores_and_stores_what_is_large(self):
        data = header(5_000_000) + bytes(range(250)) * 80_000
        with open(os.path.join(self.root, "data"), "wb") as file:
            file.write(data)
        with open(os.path.join(self.root, "text"), "w") as file:
            file.write("[" + ",".join(str(i) for i in range(100_000)) + "] 7i32")
        server = self.start("--root", self.root)
        line = self.line(server)
        self.assertEqual(line.ask("restore data v []i32"), [])
        self.assertEqual(line.download("v"), data)
        self.assertEqual(line.ask("restore text w []i32 n i32"), [])
        self.assertEqual(line.download("w"), value(range(100_000)))
        self.assertEqual(line.ask("store out v w"), [])
        with open(os.path.join(self.root, "out"), "rb") as file:
            self.assertEqual(file.read(), data + value(range(100_000)))
        self.assertEqual(server.stats(line)["client_memory_bytes"] >> 20, 0)


class Compiling(Hostile):
    """Kernels that a driver for CPUs compiles for seconds; others each time, as drivers keep what
    they have compiled."""

    def setUp(self):
        salt = random.randrange(10**6, 10**9)
        lines = [f"let x = loop x for j < n do x * {k + 3} + (j ^ x) % {salt}" for k in range(30)]
        self.program = os.path.join(self.folder(), "slow.fut")
        with open(self.program, "w") as file:
            file.write("entry slow (n: i64): []i64 = map (\\i -> let x = i\n" + "\n".join(lines) +
                       "\nin x) (iota n)\n"
                       f"entry sum (n: i64): i64 = i64.sum (map (+ {salt}) (iota n))\n")

    def begin_slow_call(self, *options):
        server = Server([*COMMAND, *options, self.program])
        self.addCleanup(server.stop)
        lines = [self.line(server), self.line(server)]
        number = b"b\x02\x00 i64" + struct.pack("<q", 3)
        for line in lines:
            self.assertEqual(line.upload("n", "i64", number), [])
        lines[0].send("call slow r n\n")
        return server, *lines

    def test_others_calls_go_on_meanwhile(self):
        _, slow, other = self.begin_slow_call()
        for _ in range(3):
            self.assertTrue(other.request("call sum s n")[0].startswith("runtime: "))
            other.request("free s")
        self.assertEqual(select.select([slow.socket], [], [], 0)[0], [])
        self.assertTrue(slow.read_reply()[0].startswith("runtime: "))
        self.assertEqual(slow.request("free r"), [])
        self.assertTrue(slow.request("call slow r n")[0].startswith("runtime: "))

    def test_two_that_wait_for_the_same_kernel_get_it(self):
        _, slow, other = self.begin_slow_call()
        self.assertTrue(other.request("call slow r n")[0].startswith("runtime: "))
        self.assertTrue(slow.read_reply()[0].startswith("runtime: "))
        self.assertEqual(slow.download("r"), other.download("r"))

    def test_a_stop_of_one_call_is_none_of_another(self):
        _, slow, other = self.begin_slow_call("--call-timeout", "0.05")
        for _ in range(3):
            other.ask("call sum s n")  # may take too long, on a machine with much to do
            other.ask("free s")
        self.assertTrue(slow.read_reply()[0].startswith("runtime: "))

    def test_the_server_ends_meanwhile(self):
        server, _, _ = self.begin_slow_call("--drain-timeout", "0.1")
        self.assertEqual(server.stop(), 0)


class Stopping(Hostile):
    def test_a_launch_of_countless_workgroups_ends_with_its_call(self):
        program = os.path.join(self.folder(), "virtual.fut")
        with open(program, "w") as file:
            file.write("entry virtual (n: i64): i64 = i64.sum (map (\\i -> (i * 3) ^ (i >> 7)) (iota n))\n")
        server = Server([*COMMAND, "--call-timeout", "1", program])
        self.addCleanup(server.stop)
        hostile, other = self.line(server), self.line(server)
        for line, n in ((hostile, 1 << 50), (other, 4)):
            self.assertEqual(line.upload("n", "i64", b"b\x02\x00 i64" + struct.pack("<q", n)), [])
        begin = time.monotonic()
        hostile.send("call virtual r n\n")
        time.sleep(0.2)
        self.assertTrue(other.request("call virtual r n")[0].startswith("runtime: "))
        self.assertEqual(other.download("r"), b"b\x02\x00 i64" + struct.pack("<q", 0 + 3 + 6 + 9))
        self.assertIn("took longer than 1 second", "\n".join(hostile.read_reply()))
        self.assertLess(time.monotonic() - begin, self.patience)


class Tokens(Hostile):
    def start_with_token(self, *options, mode=0o600):
        path = os.path.join(self.folder(), "token")
        with open(path, "w") as file:
            file.write(TOKEN + "\n")
        os.chmod(path, mode)
        return self.start("--token-file", path, *options)

    def test_who_shows_no_token_keeps_nobody_out(self):
        server = self.start_with_token("--max-connections", "4")
        silent = [socket.socket(socket.AF_UNIX) for _ in range(60)]
        for sock in silent:
            sock.connect(server.path)
            self.addCleanup(sock.close)
        inside = [self.line(server) for _ in range(4)]
        for line in inside:
            self.assertEqual(line.ask("auth " + TOKEN), [])
        late = self.line(server)
        self.assertEqual(late.ask("auth " + TOKEN),
                         [FAILURE, "The server has 4 connections; more are not allowed."])
        self.assertEqual(inside[0].request("inputs twice"), ["[]i32"])

    def test_a_wrong_token_takes_time(self):
        server = self.start_with_token()
        line = self.line(server)
        begin = time.monotonic()
        self.assertEqual(line.ask("auth wrong"), [FAILURE, "Wrong token"])
        self.assertGreater(time.monotonic() - begin, 0.5)
        self.assertEqual(line.ask("auth " + TOKEN), [])

    def test_the_log_says_who_tried_what(self):
        server = self.start_with_token()
        line = Line.tcp(server.ports[0])
        port = line.socket.getsockname()[1]
        line.ask("auth wrong")
        line.ask("types")
        line.ask("types")
        self.assertRaises(ConnectionError, line.more)
        line.close()
        self.assertIn(f"from 127.0.0.1:{port}: closed after 1 wrong tokens and 2 other mistakes",
                      server.log())

    def test_a_token_that_all_can_read_is_complained_about(self):
        self.assertIn("can read the token", self.start_with_token(mode=0o644).log())
        self.assertNotIn("can read the token", self.start_with_token().log())


class Life(Hostile):
    def test_only_its_own_socket_is_removed(self):
        first = self.start("--reference")
        os.unlink(first.path)
        sock = socket.socket(socket.AF_UNIX)
        sock.bind(first.path)
        self.addCleanup(sock.close)
        self.assertEqual(first.stop(), 0)
        self.assertTrue(stat.S_ISSOCK(os.stat(first.path).st_mode))
        second = self.start("--reference")
        os.unlink(second.path)
        with open(second.path, "w") as file:
            file.write("precious")
        self.assertEqual(second.stop(), 0)
        self.assertTrue(os.path.exists(second.path))

    def test_other_signals_do_not_end_it(self):
        server = self.start("--reference")
        for other in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP):
            server.process.send_signal(other)
        self.expect_served(server)
        self.assertEqual(server.stop(), 0)
        self.assertFalse(os.path.exists(server.path))

    def test_nohup_is_heeded(self):
        server = Server(["nohup", *COMMAND, "--reference", PROGRAM])
        self.addCleanup(server.stop)
        server.process.send_signal(signal.SIGHUP)
        self.expect_served(server)

    def test_who_idles_is_told(self):
        server = self.start("--reference", "--idle-timeout", "1")
        line = self.line(server)
        self.assertEqual(line.read_reply(),
                         [FAILURE, "Nothing came for more than 1 seconds (--idle-timeout)."])
        self.assertRaises(ConnectionError, line.more)

    def test_ports_that_there_are_not_are_refused(self):
        for port in ("65536", "99999", "-1", "1x", ""):
            command = [*COMMAND, "--listen", "tcp://127.0.0.1:" + port, PROGRAM]
            done = subprocess.run(command, stderr=subprocess.PIPE, timeout=60, check=False)
            self.assertEqual(done.returncode, 1, port)
            self.assertIn(b"a port from 0 to 65535", done.stderr)

    def test_commands_on_standard_input_count(self):
        done = subprocess.run([*COMMAND, "--reference", PROGRAM], input=b"types\nnosuch\nstats\n",
                              stdout=subprocess.PIPE, timeout=60, check=True)
        self.assertIn(b"commands_total 3\n", done.stdout)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    words = [sys.argv[0]]
    while arguments and arguments[0].startswith("-"):
        if arguments[0] == "--sanitized":
            SANITIZED = True
        else:
            words += arguments[:2]
            arguments = arguments[1:]
        arguments = arguments[1:]
    if not arguments:
        sys.exit(__doc__)
    COMMAND = arguments
    raise_file_limit()
    unittest.main(argv=words, verbosity=2)
