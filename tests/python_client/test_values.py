"""Values of every type and rank, there and back; what is refused and in which words."""
import copy
import pathlib
import pickle
import tempfile

import kenaz
import numpy as np

from support import WithServer, in_every_way

TYPES = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
         "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
         "f16": np.float16, "f32": np.float32, "f64": np.float64, "bool": np.bool_}
SCRATCH = tempfile.TemporaryDirectory(prefix="kenaz_python_values_")
SAME = pathlib.Path(SCRATCH.name) / "same.fut"
SAME.write_text("\n".join(f"entry same_{t}_{rank} (x: {'[]' * rank}{t}) = x"
                          for t in TYPES for rank in range(4)))


def samples(dtype, count):
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.resize([True, False, False], count)
    if dtype.kind == "f":
        info = np.finfo(dtype)
        special = [0.0, -0.0, np.inf, -np.inf, np.nan, info.max, info.min, info.tiny,
                   info.smallest_subnormal, 1 / 3]
    else:
        info = np.iinfo(dtype)
        special = [0, 1, info.max, info.min, info.max // 3]
    return np.resize(np.array(special, dtype), count)


@in_every_way
class Values(WithServer):
    PROGRAM_FILE = SAME

    def same(self, name, value):
        result = self.server.entries[f"same_{name}_{np.ndim(value)}"](value)
        self.assertEqual(result.type, "[]" * np.ndim(value) + name)
        got = result.numpy()
        self.assertEqual((got.dtype, got.shape), (TYPES[name], np.shape(value)))
        self.assertEqual(got.tobytes(), np.asarray(value).tobytes())
        self.assertEqual(result.shape, np.shape(value))
        return result

    def test_all_types_and_ranks(self):
        for name, dtype in TYPES.items():
            for shape in [(), (12,), (0,), (3, 4), (0, 5), (2, 1, 3), (4, 0, 2)]:
                self.same(name, samples(dtype, int(np.prod(shape))).reshape(shape))
            for scalar in samples(dtype, 12):
                self.same(name, scalar)

    def test_large_arrays_arrive_whole(self):
        for count in (65_535, 300_001, 3_000_000):
            xs = np.arange(count, dtype=np.int64) * 1_000_000_007
            self.same("i64", xs)
        many = [np.full(n, n, np.int32) for n in range(0, 60_000, 7_001)]
        values = [self.server.put(xs) for xs in many]
        for got, xs in zip(self.server.fetch(*values), many):
            self.assertEqual(got.tobytes(), xs.tobytes())

    def test_any_layout(self):
        xs = np.arange(60, dtype=np.int16).reshape(3, 4, 5)
        for view in (xs.T, xs[::2, :, ::-1], xs.astype(">i2"), np.asfortranarray(xs)):
            got = self.server.same_i16_3(view).numpy()
            self.assertTrue((got == view).all())
        got[0, 0, 0] = 77  # what was fetched is the caller's own

    def test_pythons_numbers(self):
        s = self.server
        self.assertEqual(int(s.same_u8_0(255)), 255)
        self.assertEqual(int(s.same_i64_0(-2**63)), -2**63)
        self.assertEqual(float(s.same_f32_0(0.1)), float(np.float32(0.1)))
        self.assertEqual(float(s.same_f64_0(3)), 3.0)
        self.assertEqual(float(s.same_f16_0(float("inf"))), float("inf"))
        self.assertIs(bool(s.same_bool_0(True)), True)
        self.assertEqual(s.same_i8_1([1, -128]).numpy().tolist(), [1, -128])
        self.assertEqual(s.same_f32_2([[1, 2.5], [3, 4]]).numpy().tolist(), [[1, 2.5], [3, 4]])
        self.assertEqual(s.same_u64_1([2**64 - 1]).numpy().tolist(), [2**64 - 1])
        self.assertEqual(s.same_bool_1([True, False]).numpy().tolist(), [True, False])
        self.assertEqual(s.same_f64_2([]).numpy().shape, (0, 0))
        self.assertEqual(s.same_i32_1(range(3)).numpy().tolist(), [0, 1, 2])
        self.assertEqual([0, 10, 20][s.same_i64_0(1)], 10)

    def test_what_does_not_fit(self):
        s = self.server
        for entry, value in [("u8_0", 256), ("u8_0", -1), ("i64_0", 2**63), ("f32_0", 1e39),
                             ("f64_0", 2**53 + 1), ("f16_0", 2049), ("i8_1", [1, 128]),
                             ("u16_1", [-1]), ("f32_1", [1e39]), ("f16_1", [1, 2049])]:
            with self.assertRaisesRegex(OverflowError, "fit|exactly", msg=(entry, value)):
                s.entries["same_" + entry](value)
        for entry, value in [("i32_0", 1.0), ("i32_0", True), ("bool_0", 1), ("f32_0", "1"),
                             ("f32_0", None), ("i32_1", [1.5]), ("i32_1", [[1]]), ("i32_1", 1),
                             ("i32_1", ["a"]), ("bool_1", [0, 1]), ("i32_2", [[1], [2, 3]]),
                             ("f32_0", np.float64(1)), ("i32_0", np.array([1], np.int32)),
                             ("f32_1", np.zeros(3)), ("i32_1", np.zeros(3, np.uint32)),
                             ("i32_1", np.zeros((3, 1), np.int32)), ("i32_2", [[[]]])]:
            with self.assertRaises(TypeError, msg=(entry, value)):
                s.entries["same_" + entry](value)

    def test_messages_say_what_was_expected(self):
        with self.assertRaises(TypeError) as caught:
            self.server.same_f32_1(np.zeros((2, 2)))
        self.assertEqual(str(caught.exception),
                         "same_f32_1: x: expected []f32, got an array of float64 with 2 "
                         "dimensions; convert it with .astype(numpy.float32)")
        with self.assertRaises(OverflowError) as caught:
            self.server.same_i8_0(200)
        self.assertEqual(str(caught.exception), "same_i8_0: x: 200 does not fit in i8")
        with self.assertRaises(TypeError) as caught:
            self.server.same_f32_0(self.server.same_i8_0(1))
        self.assertEqual(str(caught.exception), "same_f32_0: x: expected f32, got a value of type "
                                                "i8 on the device")

    def test_copies_are_the_value_itself(self):
        value = self.server.entries["same_i32_1"](np.arange(3, dtype=np.int32))
        for copied in (copy.copy(value), copy.deepcopy([value])[0]):
            del copied
        self.assertEqual(value.numpy().tolist(), [0, 1, 2])
        with self.assertRaisesRegex(TypeError, "stay on the server"):
            pickle.dumps(value)

    def test_put(self):
        s = self.server
        self.assertEqual([s.put(v).type for v in (1, 1.5, True, np.float16(2), [1, 2])],
                         ["i64", "f64", "bool", "f16", "[]i64"])
        self.assertEqual(s.put([1, 2], "[]u8").numpy().dtype, np.uint8)
        xs = s.put(np.arange(6).reshape(2, 3))
        self.assertEqual((xs.type, xs.shape, len(xs), xs.ndim, xs.size, xs.nbytes, xs.dtype),
                         ("[][]i64", (2, 3), 2, 2, 6, 48, np.int64))
        for wrong in ("text", np.zeros(2, np.complex64), object(), xs):
            with self.assertRaises(TypeError):
                s.put(wrong)
        with self.assertRaisesRegex(kenaz.ServerError, "Unknown type: nothing"):
            s.put(1, "nothing")

    def test_looking_at_parts(self):
        xs = self.server.put(np.arange(12, dtype=np.int32).reshape(3, 4))
        self.assertIsInstance(xs[1, 2], kenaz.Scalar)
        self.assertEqual((int(xs[1, 2]), int(xs[-1, -1])), (6, 11))
        self.assertEqual(xs[1].tolist(), [4, 5, 6, 7])
        self.assertEqual(xs[:, 1:3].shape, (3, 2))
        self.assertEqual([row.sum() for row in xs], [6, 22, 38])
        self.assertEqual(np.asarray(xs, np.float64).dtype, np.float64)
        self.assertEqual((np.asarray(xs) + xs.numpy())[2, 3], 22)
        with self.assertRaises(IndexError):
            xs[3, 0]
        with self.assertRaises(TypeError):
            bool(xs)
        with self.assertRaises(TypeError):
            [1, 2][self.server.same_f32_0(1)]
