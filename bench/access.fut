-- Sums whose elements are read in an order of their own: what bench/access_patterns compares. Arrays have
-- 2^b elements; each is read once, or as often as its neighbours.

-- The bits of i, turned round by s: neighbours read elements 2^s apart.
def turn (b: i64) (s: i64) (i: i64): i64 = ((i << s) & ((1 << b) - 1)) | (i >> (b - s))

def sum_by 'a (add: a -> a -> a) (zero: a) (place: i64 -> i64) (xs: []a): a =
  reduce_comm add zero (tabulate (length xs) (\i -> #[unsafe] xs[place i]))

entry turned_i16 (b: i64) (s: i64) (xs: []i16) = sum_by (+) 0 (turn b s) xs
entry turned_i32 (b: i64) (s: i64) (xs: []i32) = sum_by (+) 0 (turn b s) xs
entry turned_i64 (b: i64) (s: i64) (xs: []i64) = sum_by (+) 0 (turn b s) xs
entry backward (b: i64) (_s: i64) (xs: []i32) = sum_by (+) 0 (\i -> (1 << b) - 1 - i) xs
entry exchanged (_b: i64) (s: i64) (xs: []i32) = sum_by (+) 0 (\i -> i ^ s) xs
entry moved (b: i64) (s: i64) (xs: []i32) = sum_by (+) 0 (\i -> (i + s) & ((1 << b) - 1)) xs
entry shared (_b: i64) (s: i64) (xs: []i32) = sum_by (+) 0 (\i -> i >> s) xs
entry scattered (b: i64) (s: i64) (xs: []i32) = sum_by (+) 0 (\i -> (i * s) & ((1 << b) - 1)) xs
entry make_i16 (b: i64): []i16 = map i16.i64 (iota (1 << b))
entry make_i32 (b: i64): []i32 = map i32.i64 (iota (1 << b))
entry make_i64 (b: i64): []i64 = iota (1 << b)
