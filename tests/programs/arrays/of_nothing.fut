-- Arrays of empty tuples have a size and nothing else, wherever they are.
-- ==
-- entry: count
-- input { 3i64 } output { 3i64 }

-- ==
-- entry: kept
-- script input { made 5i64 } output { 5i64 }

-- ==
-- entry: sizes
-- script input { table 2i64 3i64 } output { 2i64 3i64 }

-- ==
-- entry: mixed_sizes
-- script input { mixed 4i64 2i64 } output { 4i64 2i64 6 }

-- ==
-- entry: unzipped
-- input { [7, 8] } output { 2i64 [7, 8] }

-- ==
-- entry: grown
-- input { 4i64 } output { 16i64 }

-- ==
-- entry: chosen
-- input { true 3i64 5i64 } output { 3i64 }
-- input { false 3i64 5i64 } output { 5i64 }

-- ==
-- entry: payload
-- script input { held 3i64 } output { 3i64 1i64 }

-- ==
-- entry: payloads
-- script input { many 2i64 } output { [3i64, 3i64] }

-- ==
-- entry: singles
-- input { 4i64 } output { 4i64 }

def units (n: i64) : [n]() = replicate n ()

entry count (n: i64) : i64 = length (units n)

entry made (n: i64) : ([]i32, []()) = (map i32.i64 (iota n), units n)

entry kept [n] [m] (pair: ([n]i32, [m]())) : i64 = length (pair.1)

entry table (n: i64) (m: i64) : [n][m]() = replicate n (units m)

entry sizes [n] [m] (_: [n][m]()) : (i64, i64) = (n, m)

type part [m] = {none: (), some: {xs: [m](), x: i32}}

entry mixed (n: i64) (m: i64) : [n](part [m]) =
  map (\i -> {none = (), some = {xs = units m, x = i32.i64 i}}) (iota n)

entry mixed_sizes [n] [m] (ps: [n](part [m])) : (i64, i64, i32) =
  (n, m, i32.sum (map (.some.x) ps))

entry unzipped (xs: []i32) : (i64, []i32) =
  let (us, ys) = unzip (map (\x -> ((), x)) xs)
  in (length us, ys)

entry grown (n: i64) : i64 =
  length (loop us = [()] for _i < n do us ++ us)

entry chosen (b: bool) (n: i64) (m: i64) : i64 =
  let us = if b then units n else units m
  in length us

type held [n] = #of_nothing ([n]()) i64 | #number i64

entry held (n: i64) : held [n] = #of_nothing (units n) 1

entry payload [n] (h: held [n]) : (i64, i64) =
  match h
  case #of_nothing us i -> (length us, i)
  case #number i -> (0, i)

entry many (n: i64) : [n](held [3]) = replicate n (#of_nothing (units 3) 1)

entry payloads [n] (hs: [n](held [3])) : [n]i64 =
  map (\h ->
         match h
         case #of_nothing us _ -> length us
         case #number i -> i)
      hs

type single = #single

entry singles (n: i64) : i64 =
  let xs = replicate n (#single : single)
  in length (map (\x -> match x case #single -> ()) xs)
