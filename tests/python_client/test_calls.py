"""Entry points as functions, records and sums, failures, pipelines, memory."""
import contextlib
import gc
import inspect
import io
import os
import resource
import signal
import socket
import tempfile
import time
import unittest

import kenaz
import numpy as np

from support import PROGRAM, SERVER, Listening, WithServer, start, in_every_way


def help_of(thing):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        help(thing)
    return out.getvalue()


@in_every_way
class Calls(WithServer):
    def test_signatures(self):
        text = help_of(self.server.dot)
        self.assertIn("dot(xs: []f32, ys: []f32) -> f32", text)
        self.assertRegex(text, "\n    The dot product of two vectors.\n *\n    Sums are rounded")
        self.assertIn("Consumes xs", help_of(self.server.scale))
        self.assertEqual(list(inspect.signature(self.server.entries["put"]).parameters),
                         ["lambda_", "in_"])
        self.assertEqual(list(inspect.signature(self.server.second).parameters), ["arg0"])
        self.assertIn("dot", dir(self.server))
        with self.assertRaisesRegex(AttributeError, "no entry point nosuch; it has add, "):
            self.server.nosuch

    def test_arguments(self):
        s = self.server
        self.assertEqual(int(s.add(1, y=2)), 3)
        self.assertEqual(int(s.entries["put"](in_=1, lambda_=5)), 4)
        for wrong in (lambda: s.add(1), lambda: s.add(1, 2, 3), lambda: s.add(1, z=2),
                      lambda: s.add(1, 2, y=2)):
            with self.assertRaisesRegex(TypeError, "^add"):
                wrong()

    def test_records(self):
        s = self.server
        r = s.divide(7, 2)
        self.assertEqual(r.fields, ("quotient", "rest"))
        self.assertEqual((int(r.quotient), int(r["rest"]), len(r)), (3, 1, 2))
        self.assertIs(r.rest, r["rest"])
        b, i = s.swap((3, True))
        self.assertEqual((bool(b), int(i)), (True, 3))
        self.assertEqual(int(s.swap((s.add(1, 1), False))[1]), 2)
        self.assertEqual(float(s.norm({"x": 3, "y": s.put(4.0)})), 5)
        p = s.put({"x": 1.0, "y": 2.0}, "point")
        self.assertEqual((p.type, float(p.y)), ("point", 2.0))
        with self.assertRaisesRegex(AttributeError, "no field 'z'; it has x, y"):
            p.z
        for wrong in ({"x": 1.0}, {"x": 1.0, "y": 2.0, "z": 3}, (1.0, 2.0), 3.0,
                      {"x": "a", "y": 1.0}):
            with self.assertRaisesRegex(TypeError, "^norm: p"):
                s.norm(wrong)
        for wrong in ((1,), {"0": 1}, 7):
            with self.assertRaises(TypeError):
                s.swap(wrong)

    def test_arrays_of_records(self):
        s = self.server
        ps = s.points(4)
        self.assertEqual((ps.shape, len(ps), ps["x"].numpy().tolist()), ((4,), 4, [0, 1, 2, 3]))
        self.assertEqual([float(p.x) for p in ps], [0, 1, 2, 3])
        self.assertEqual(float(ps[-1].y), 2)
        self.assertEqual(float(s.centre({"x": [1, 2], "y": [5, 7]}).y), 6)
        with self.assertRaises(kenaz.ServerError):
            s.centre({"x": [1, 2], "y": [1]}).wait()

    def test_sums_and_opaque_values(self):
        s = self.server
        c = s.circle(1.0, 2.0, 3.0)
        self.assertIsInstance(c, kenaz.Sum)
        self.assertEqual(c.variant, "circle")
        centre, r = c.payload()
        self.assertEqual((float(centre.x), float(r), float(s.radius(c))), (1, 3, 3))
        polygon = s.construct("shape", "polygon", {"x": [0, 1, 2], "y": [0, 0, 1]})
        self.assertEqual(int(s.corners(polygon)), 3)
        self.assertEqual(float(s.radius(s.construct("shape", "nothing"))), 0)
        with self.assertRaisesRegex(TypeError, "no constructor square; it has circle,"):
            s.construct("shape", "square")
        with self.assertRaises(TypeError):
            s.radius(3.0)

    def test_consumed_values(self):
        s = self.server
        xs = s.put(np.ones(3, np.float32))
        ys = s.scale(2, xs)
        for use in (lambda: s.scale(2, xs), xs.numpy, xs.wait):
            with self.assertRaisesRegex(ValueError, "consumed by a call of scale"):
                use()
        self.assertEqual(ys.numpy().tolist(), [2, 2, 2])
        host = np.ones(2, np.float32)
        self.assertEqual(s.scale(3, host).numpy().tolist(), [3, 3])
        self.assertEqual(host.tolist(), [1, 1])

    def test_failures_belong_to_values(self):
        s = self.server
        bad = s.divide(1, 0)
        after = s.next(bad.quotient)
        good = s.add(1, 2)
        self.assertEqual(int(good), 3)
        for value in (bad.quotient, after, bad):
            with self.assertRaises(kenaz.ProgramError) as caught:
                value.wait()
            self.assertEqual(caught.exception.message, "division by zero")
            self.assertRegex(caught.exception.backtrace, r"^-> #0  \S*program.fut:\d+:\d+")
        with self.assertRaises(kenaz.ProgramError):
            s.next(after)
        self.assertIn("failed", repr(after))
        s.sync()  # all have been seen
        s.at([1, 2], 5)
        with self.assertRaisesRegex(kenaz.ProgramError, r"Index \[5\] out of bounds"):
            s.sync()
        s.sync()
        # An upload that is refused is the failure of what uses it.
        with self.assertRaisesRegex(kenaz.ServerError, "(?i)unknown type"):
            s.put([1], "[][]i8[]")

    def test_pipelines(self):
        # On a Unix socket more than it holds, in commands and in replies.
        depth = 25_000 if self.WAY == "unix" else 1_000
        x = self.server.put(np.int32(0))
        for _ in range(depth):
            x = self.server.next(x)
        self.assertEqual(int(x), depth)

    def test_timings(self):
        with kenaz.timings() as t:
            for i in range(5):
                self.server.add(i, i)
            with kenaz.timings() as inner:
                self.server.next(1)
                with self.assertRaises(kenaz.ProgramError):
                    self.server.divide(1, 0).wait()
        self.server.add(1, 1)
        self.assertEqual([call.entry for call in t.calls], ["add"] * 5 + ["next", "divide"])
        self.assertEqual((len(t), len(t["add"]), len(inner)), (7, 5, 2))
        self.assertTrue(0 <= t.total < 60 and all(c.seconds >= 0 for c in t.calls))


class Memory(unittest.TestCase):
    def join(self, *options):
        listening = Listening(options=options)
        self.addCleanup(listening.close)
        server = kenaz.connect(listening.unix)
        self.addCleanup(server.close)
        return server

    def test_values_are_freed_in_batches(self):
        s = self.join("--max-variables", "200")
        before = s.stats()["commands_total"]
        x = s.put(np.int32(0))
        for _ in range(2_000):  # many more than there may be
            x = s.add(x, 1)
        self.assertEqual(int(x), 2_000)
        # An upload and a call each, and few commands that free.
        self.assertLess(s.stats()["commands_total"] - before, 2 * 2_000 + 200)
        for _ in range(300):
            with self.assertRaises(kenaz.ProgramError):
                s.divide(1, 0).wait()
        keep = [s.next(i) for i in range(120)]
        s.sync()
        self.assertEqual(int(keep[119]), 120)

    def test_large_values_are_freed_before_the_next_call(self):
        s = self.join("--max-session-bytes", str(50 << 20))
        for _ in range(6):
            xs = s.iota(4 << 20)  # 16 MiB
        self.assertEqual(len(xs), 4 << 20)
        for i in range(6):
            xs = s.put(np.full(4 << 20, i, np.int32))
        self.assertEqual(int(s.at(xs, 5)), 5)
        keep = [s.put(np.zeros(4 << 20, np.int32)) for _ in range(4)]
        with self.assertRaisesRegex(kenaz.ServerError, "the session may have"):
            s.sync()
        del keep, xs
        xs = s.iota(8 << 20)
        s.sync()


class Connections(unittest.TestCase):
    def listening(self, **how):
        listening = Listening(**how)
        self.addCleanup(listening.close)
        return listening

    def test_programs_that_are_not_good(self):
        with tempfile.NamedTemporaryFile("w", suffix=".fut") as file:
            file.write("entry main (x: i32): i32 = y\n")
            file.flush()
            with self.assertRaisesRegex(kenaz.CompileError, 'Unknown name "y"'):
                start(file.name)
        with self.assertRaisesRegex(kenaz.ServerError, "nosuch.fut"):
            start("nosuch.fut")
        with self.assertRaisesRegex(kenaz.ServerError, "cannot start /nosuch"):
            kenaz.open(PROGRAM, server="/nosuch")

    def test_where_the_server_is_found(self):
        old = {n: os.environ.pop(n, None) for n in ("KENAZ_SERVER", "PATH")}
        try:
            with self.assertRaisesRegex(kenaz.ServerError, "no kenaz-server on PATH"):
                kenaz.open(PROGRAM, reference=True)
            os.environ["PATH"] = str(SERVER.parent)
            with kenaz.open(PROGRAM, reference=True) as s:
                self.assertEqual(int(s.next(1)), 2)
            os.environ["KENAZ_SERVER"] = "/nosuch"
            with self.assertRaisesRegex(kenaz.ServerError, "cannot start /nosuch"):
                kenaz.open(PROGRAM, reference=True)
        finally:
            for name, value in old.items():
                os.environ.pop(name, None)
                if value is not None:
                    os.environ[name] = value

    def test_addresses_and_tokens(self):
        for wrong in ("nothing", "http://a:1", "tcp://host", "tcp://:", "unix://", "tcp://host:65537"):
            with self.assertRaises(ValueError):
                kenaz.connect(wrong)
        with self.assertRaisesRegex(kenaz.ConnectionLost, "cannot connect to unix:///nosuch"):
            kenaz.connect("unix:///nosuch")
        tls = self.listening(tls=True)
        with self.assertRaisesRegex(kenaz.ConnectionLost, "(?i)certificate"):
            kenaz.connect(tls.tls, token="a-token-for-tests")
        with self.assertRaisesRegex(kenaz.ServerError, "Wrong token"):
            kenaz.connect(tls.tls, token="another", tls=tls.ca)
        with self.assertRaisesRegex(kenaz.ServerError, "asks for a token first"):
            kenaz.connect(tls.tls, tls=tls.ca)

    def test_servers_that_are_killed(self):
        listening = self.listening()
        child = start()
        for s, kill in [(kenaz.connect(listening.unix), listening.kill),
                        (child, child._connection.child.process.kill)]:
            x = s.next(1)
            self.assertEqual(int(x), 2)
            late = s.slow(2_000_000_000)
            kill()
            for use in (late.wait, x.numpy, lambda: s.next(1), lambda: s.next(x), s.sync):
                with self.assertRaises(kenaz.ConnectionLost):
                    use()
            self.assertIsInstance(kenaz.ConnectionLost(""), ConnectionError)
            s.close()
        with self.assertRaisesRegex(kenaz.ConnectionLost, "was closed"):
            child.next(1)

    def test_a_server_that_goes_while_much_is_sent(self):
        listening = self.listening(options=["--max-upload", "1mib"])
        s = kenaz.connect(listening.unix)
        value = s.put(np.zeros(100 << 20, np.uint8), "[]u8")
        with self.assertRaisesRegex(kenaz.ServerError, "are allowed"):
            value.numpy()
        with self.assertRaises(kenaz.ConnectionLost):
            s.next(1)

    def test_idle_connections_are_told(self):
        listening = self.listening(options=["--idle-timeout", "1"])
        s = kenaz.connect(listening.unix)
        other = socket.socket(socket.AF_UNIX)
        self.addCleanup(other.close)
        other.connect(listening.unix[7:])
        while other.recv(1 << 12):  # this one has been idle for less
            pass
        with self.assertRaisesRegex(kenaz.ConnectionLost, "--idle-timeout"):
            s.next(1).wait()

    def test_shared_sessions(self):
        listening = self.listening()
        with kenaz.connect(listening.unix, session="ours") as a, \
                kenaz.connect(listening.tcp, session="ours") as b:
            self.assertEqual([int(x) for x in (a.next(1), b.next(2), a.next(3))], [2, 3, 4])
            with self.assertRaisesRegex(ValueError, "belongs to another server"):
                a.next(b.next(1))

    def test_many_open_files_harm_nobody(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard < 4096:
            self.skipTest("there may not be so many")
        resource.setrlimit(resource.RLIMIT_NOFILE, (4096, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        with contextlib.ExitStack() as files:
            for _ in range(1100):
                files.enter_context(open(os.devnull))
            with start() as s:
                self.assertEqual(int(s.next(1)), 2)
                time.sleep(0.15)
                self.assertEqual(int(s.next(2)), 3)

    def test_leaving_a_block_tells_failures(self):
        with self.assertRaisesRegex(kenaz.ProgramError, "division by zero"):
            with start() as s:
                s.divide(1, 0)
        with self.assertRaises(KeyError):
            with start() as s:
                s.divide(1, 0)
                raise KeyError

    def test_the_server_ends_with_its_client(self):
        s = start()
        process = s._connection.child.process
        keep = s.next(1)
        del s
        gc.collect()
        self.assertEqual(int(keep), 2)  # a value keeps its connection
        del keep
        gc.collect()
        self.assertEqual(process.wait(10), 0)

    def test_forks(self):
        with start() as s:
            x = s.next(1)
            if (pid := os.fork()) == 0:
                try:
                    s.next(1)
                except kenaz.ConnectionLost:
                    os._exit(7)
                os._exit(1)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 7)
            self.assertEqual(int(s.next(x)), 3)

    def interrupt_after(self, seconds):
        self.rung = False

        def ring(*_):
            self.rung = True
            raise KeyboardInterrupt
        self.addCleanup(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, ring))
        signal.setitimer(signal.ITIMER_REAL, seconds)

    def test_who_is_interrupted_while_it_waits_can_go_on(self):
        with start() as s:
            late = s.slow(5_000_000)
            with self.assertRaises(KeyboardInterrupt):
                self.interrupt_after(0.05)
                late.wait()
            self.assertEqual(int(s.next(41)), 42)
            late.wait()

    def test_interrupts_at_any_time_leave_nobody_waiting(self):
        for i in range(20):
            with start() as s:
                with contextlib.suppress(KeyboardInterrupt):
                    self.interrupt_after(0.002 + 0.0003 * i)  # it may not get further than this
                    while not self.rung:  # in a finalizer nobody sees the exception
                        s.next(1).wait()
                # In the middle of a command it ends the connection.
                with contextlib.suppress(kenaz.ConnectionLost):
                    self.assertEqual(int(s.next(41)), 42)
