"""A server that several threads use at a time."""
import gc
import threading

import kenaz
import numpy as np

from support import DEVICE, WithServer


class Threads(WithServer):
    THREADS, TURNS = 8, 20

    def together(self, work):
        """Runs work(number) in threads; raises what one of them raised."""
        problems = []

        def guarded(number):
            try:
                work(number)
            except BaseException as e:
                problems.append(e)
        threads = [threading.Thread(target=guarded, args=(i,)) for i in range(self.THREADS)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(60)
            self.assertFalse(t.is_alive())
        if problems:
            raise problems[0]

    def test_each_gets_its_own_answers(self):
        s = self.server

        def work(number):
            xs = np.full(5_000 * (number + 1), number, np.float32)
            for turn in range(self.TURNS):
                total = s.dot(xs, np.ones_like(xs))
                chain = s.add(number, turn)
                for _ in range(5):
                    chain = s.next(chain)
                self.assertEqual(int(chain), number + turn + 5)
                self.assertEqual(float(total), number * len(xs))
                if turn % 10 == number:
                    with self.assertRaises(kenaz.ProgramError):
                        s.divide(turn, 0).wait()
                    gc.collect()
        self.together(work)
        s.sync()

    def test_values_are_shared(self):
        big = self.server.iota(300_000)
        want = np.arange(300_000, dtype=np.int32)

        def work(number):
            for turn in range(8):
                self.assertTrue((big.numpy() == want).all())
                self.assertEqual(int(big[number * turn]), number * turn)
        self.together(work)

    def test_large_uploads_and_downloads_at_a_time(self):
        def work(number):
            xs = np.full(400_000, number, np.int64)
            for _ in range(3):
                value = self.server.put(xs)
                self.assertEqual(int(self.server.total(value)), number * len(xs))
                self.assertEqual(value.numpy().tobytes(), xs.tobytes())
        self.together(work)

    def test_a_thread_that_waits_keeps_nobody_from_sending(self):
        s = self.server
        waiting = threading.Thread(target=s.slow(300_000).wait)
        waiting.start()
        values = [s.add(i, 1) for i in range(100)]
        self.assertTrue(waiting.is_alive())
        self.assertEqual([int(v) for v in values], list(range(1, 101)))
        waiting.join(60)

    def test_a_lost_server_is_told_to_all(self):
        with self.join() as s:
            late = [s.slow(2_000_000) for _ in range(self.THREADS)]
            told = []

            def work(number):
                try:
                    late[number].wait()
                except kenaz.ConnectionLost:
                    told.append(number)
            threads = [threading.Thread(target=work, args=(i,)) for i in range(self.THREADS)]
            for t in threads:
                t.start()
            s.close()
            for t in threads:
                t.join(60)
                self.assertFalse(t.is_alive())
            self.assertTrue(told)


class TlsThreads(Threads):
    WAY = "tls"
    TURNS = 5


if DEVICE == "reference":
    del TlsThreads
