-- Attributes that say which levels of a nest get threads of their own change no results.
-- ==
-- entry: inner_in_threads outer_in_threads all_in_threads
-- input { [[1, 2, 3], [-4, 5, 6]] } output { [18, 42] }
-- input { empty([0][3]i32) } output { empty([0]i32) }
-- random input { [40][300]i32 } auto output

def f [m] (xs: [m]i32): i32 =
  let s = reduce (+) 0 xs
  in reduce i32.max i32.lowest (map (* s) xs)

entry inner_in_threads (xss: [][]i32): []i32 = #[sequential_inner] map f xss
entry outer_in_threads (xss: [][]i32): []i32 = #[flattening(only_inner)] map f xss
entry all_in_threads (xss: [][]i32): []i32 =
  map (\xs -> let s = #[sequential] reduce (+) 0 xs
              in reduce i32.max i32.lowest (map (* s) xs)) xss
