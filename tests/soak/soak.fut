-- What the soak's sessions ask for.
entry twice [n] (xs: [n]i32) : [n]i32 = map (* 2) xs

entry sum (xs: []i32) : i32 = reduce (+) 0 xs

entry sums [n] (xs: [n]i32) : [n]i32 = scan (+) 0 xs

entry pick (xs: []i32) (i: i64) : i32 = xs[i]

entry divided [n] (xs: [n]i32) (d: i32) : [n]i32 = map (/ d) xs

entry spin (n: i64) : i64 = loop x = 0 for i < n do x * i + 1

entry pair (x: i32) (y: f32) : (f32, i32) = (y, x)
