"""Values of every type and rank, both ways."""
import numpy as np

from support import EveryWay, in_every_way

TYPES = {
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "f16": np.float16, "f32": np.float32, "f64": np.float64, "bool": np.bool_,
}


def samples(name, dtype):
    """Twelve values: what is special about the type, and some others."""
    if name == "bool":
        return np.array([True, False, False] * 4)
    if name.startswith("f"):
        info = np.finfo(dtype)
        special = [0.0, -0.0, np.inf, -np.inf, np.nan, info.max, info.min, info.tiny,
                   info.smallest_subnormal, 1 / 3]
    else:
        info = np.iinfo(dtype)
        special = [0, 1, info.max, info.min, info.max - 1, info.min + 1, info.max // 3]
    return np.resize(np.array(special, dtype=dtype), 12)


def same(a, b):
    """Equality bit by bit, but all NaNs are one."""
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if np.issubdtype(a.dtype, np.floating):
        nan = np.isnan(a)
        if not np.array_equal(nan, np.isnan(b)):
            return False
        a, b = np.where(nan, 0, a), np.where(nan, 0, b)
    return a.tobytes() == b.tobytes()


@in_every_way
class Values(EveryWay):
    SHAPES = [(12,), (3, 4), (2, 3, 2), (2, 1, 3, 2), (0,), (0, 5), (4, 0)]

    @classmethod
    def program(cls):
        path = cls.folder / "same.fut"
        lines = []
        for name in TYPES:
            for rank in range(5):
                lines.append(f"entry same_{name}_{rank} (x: {'[]' * rank}{name}) = x")
        path.write_text("\n".join(lines) + "\n")
        return path

    def there_and_back(self, name, value):
        self.server.put_value("x", value)
        self.assertTrue(same(self.server.get_value("x"), value))
        self.server.cmd_call(f"same_{name}_{value.ndim}", "y", "x")
        got = self.server.get_value("y")
        self.assertTrue(same(got, value), f"{value!r} came back as {got!r}")
        self.server.cmd_free("x", "y")

    def test_scalars(self):
        for name, dtype in TYPES.items():
            for value in samples(name, dtype):
                with self.subTest(type=name, value=value):
                    self.there_and_back(name, value)

    def test_arrays(self):
        for name, dtype in TYPES.items():
            for shape in self.SHAPES:
                with self.subTest(type=name, shape=shape):
                    count = int(np.prod(shape))
                    self.there_and_back(name, samples(name, dtype)[:count].reshape(shape))

    def test_text_files(self):
        path = self.folder / "values"
        path.write_text("-- three values\n[1, 2, 3]\n4.5 true\n")
        self.server.cmd_restore(str(path), ("xs", "[]i16"), ("f", "f64"), ("b", "bool"))
        self.assertTrue(same(self.server.get_value("xs"), np.array([1, 2, 3], dtype=np.int16)))
        self.assertEqual(self.server.get_value("f"), 4.5)
        self.assertEqual(self.server.get_value("b"), True)
