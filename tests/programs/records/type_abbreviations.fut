-- Names for types, with parameters for types and sizes.
-- ==
-- entry: dot
-- input { [1.0, 2.0] [3.0, 4.0] }
-- output { 11.0 }

-- ==
-- entry: square
-- input { [[1, 2], [3, 4]] }
-- output { 5 }

type pair 'a 'b = (a, b)
type vec [n] = [n]f64
type matrix [n] [m] 't = [n][m]t

def prod ((x, y): pair f64 f64) : f64 = x * y

entry dot [n] (xs: vec [n]) (ys: vec [n]) : f64 = reduce (+) 0 (map prod (zip xs ys))

def trace_of [n] (m: matrix [n] [n] i32) : i32 = reduce (+) 0 (map (\i -> m[i, i]) (iota n))

entry square [n] (m: [n][n]i32) = trace_of m
