-- Sorts of the rows of matrices, which are one sort of all elements.
-- ==
-- entry: u32s u64s bytes pairs blocks in_turns greatest
-- random input { [7][50]u64 } auto output
-- random input { [1][150]u64 } auto output
-- random input { [50][33]u64 } auto output
-- random input { [5][1]u64 } auto output
-- input { [[3u64, 1u64, 2u64, 1u64]] } auto output
-- input { empty([0][5]u64) } auto output
-- input { empty([5][0]u64) } auto output

def by_bit [n] 't (bit: t -> i64) (xs: [n]t) : [n]t =
  let ones = scan (+) 0 (map bit xs)
  let total = i64.sum (map bit xs)
  let place x i k = if bit x == 1 then n - total + k - 1 else i - k
  in scatter (#[scratch] copy xs) (map3 place xs (iota n) ones) xs

def sorted [n] 't (turns: i32) (bit: i32 -> t -> i32) (xs: [n]t) : [n]t =
  loop xs for i < turns do by_bit (\x -> i64.i32 (bit i x)) xs

def sort_u32 [n] (xs: [n]u32) : [n]u32 = sorted 32 u32.get_bit xs
def low (x: u64) : u32 = u32.u64 x

entry u32s [n] [m] (xss: [n][m]u64) : [n][m]u32 = map (\xs -> sort_u32 (map low xs)) xss
entry u64s [n] [m] (xss: [n][m]u64) : [n][m]u64 = map (sorted 64 u64.get_bit) xss
entry bytes [n] [m] (xss: [n][m]u64) : [n][m]u8 = map (\xs -> sorted 8 u8.get_bit (map u8.u64 xs)) xss
-- Equal keys stay in their order.
entry pairs [n] [m] (xss: [n][m]u64) : ([n][m]u8, [n][m]i64) =
  unzip (map unzip (map (\xs -> sorted 3 (\i (x, _) -> u8.get_bit i x) (zip (map u8.u64 xs) (iota m))) xss))
-- In a map in a map.
entry blocks [n] [m] (xss: [n][m]u64) : [n][2][m]u32 =
  map (\xs -> map (\k -> sort_u32 (map (\x -> low (x * (2 * k + 1))) xs)) [0, 1]) xss
-- In a loop in a map.
entry in_turns [n] [m] (xss: [n][m]u64) : [n][m]u32 =
  map (\xs -> loop ys = map low xs for i < 3 do map (* (2 * u32.i32 i + 3)) (sort_u32 ys)) xss

entry greatest [n] [m] (xss: [n][m]u64) : [n]u32 = map (\xs -> u32.maximum (take 2 (sort_u32 (map low xs) ++ [0, 0]))) xss
