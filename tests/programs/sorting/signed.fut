-- Radix sorts of numbers with signs: bits that are inverted, or inverted where another one is set. The
-- number of turns is only known where there are elements.
-- ==
-- entry: ints floats doubles
-- input { [5f32, -2f32, 0f32, -0.5f32, -7f32, 3.5f32, 1e30f32, -1e-30f32, -2f32] } auto output
-- input { empty([0]f32) } auto output
-- random input { [1000]f32 } auto output
-- ==
-- entry: positions descending by_two_keys by_a_bit_of_itself
-- input { [5i32, -2, 0, -1, 5, 2147483647, -2147483648, 5] } auto output
-- input { empty([0]i32) } auto output
-- random input { [3000]i32 } auto output

def count_before [n] (is: [n]bool) : [n]i64 = map2 (\s b -> s - i64.bool b) (scan (+) 0 (map i64.bool is)) is

-- A stable sort by the two bits `digit` of each element.
def by_two [n] 't (digit: t -> i32) (xs: [n]t) : [n]t =
  let has v = map (\x -> digit x == v) xs
  let total v = i64.sum (map i64.bool (has v))
  let (a, b, c, d) = (count_before (has 0), count_before (has 1), count_before (has 2), count_before (has 3))
  let (na, nb, nc) = (total 0, total 1, total 2)
  let place x (a, b, c, d) =
    let v = digit x
    in if v == 0 then a else if v == 1 then na + b else if v == 2 then na + nb + c else na + nb + nc + d
  in scatter (copy xs) (map2 place xs (zip4 a b c d)) xs

def sort [n] 't (bits: i32) (bit: i32 -> t -> i32) (xs: [n]t) : [n]t =
  let turns = if n == 0 then 0 else bits / 2
  in loop xs for i < turns do by_two (\x -> 2 * bit (2 * i + 1) x + bit (2 * i) x) xs

def signed (bits: i32) (bit: i32 -> i32) (i: i32) : i32 = if i == bits - 1 then 1 - bit i else bit i
def float (bits: i32) (bit: i32 -> i32) (i: i32) : i32 =
  let b = bit i
  in if bit (bits - 1) == 1 || i == bits - 1 then b ^ 1 else b

entry ints (xs: []f32) : []i32 =
  sort 32 (\i x -> signed 32 (\i -> i32.get_bit i x) i) (map (\x -> i32.f32 (f32.min 1e6 (f32.max (-1e6) (1000 * x)))) xs)
entry floats (xs: []f32) : []f32 = sort 32 (\i x -> float 32 (\i -> f32.get_bit i x) i) xs
entry doubles (xs: []f32) : []f64 = sort 64 (\i x -> float 64 (\i -> f64.get_bit i x) i) (map f64.f32 xs)

entry positions [n] (xs: [n]i32) : [n]i64 =
  (unzip (sort 32 (\i (x, _) -> signed 32 (\i -> i32.get_bit i x) i) (zip xs (iota n)))).1
entry descending (xs: []i32) : []i32 = sort 32 (\i x -> 1 - signed 32 (\i -> i32.get_bit i x) i) xs
-- The last turns decide.
entry by_two_keys [n] (xs: [n]i32) : ([n]i32, [n]i16) =
  let bit i (a, b) = if i < 8 then i32.get_bit i (a >> 5) else i16.get_bit (i - 8) b
  in unzip (sort 16 bit (zip xs (map (\x -> i16.i32 (x * 77)) xs)))
-- In one turn a bit is inverted by itself.
entry by_a_bit_of_itself (xs: []i32) : []i32 =
  sort 12 (\i x -> (i32.get_bit 0 ((x >> 3) >> i)) ^ i32.get_bit 9 x) xs
