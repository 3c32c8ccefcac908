-- Tuning parameters of a program's own.
entry plus (x: i64): i64 = #[param(step)] x + 2
entry inside [n] (x: i64) (ys: [n]i64): [n]i64 = map (\y -> (#[param(step)] x) * y + #[param(other)] y) ys
entry slope (x: f64): f64 = jvp (\x -> x * f64.i64 (#[param(step)] 2)) x 1
entry narrow (x: i32): i32 = #[param(narrow)] x + 2
-- Constants are computed when the program is loaded, with the parameters of that time.
def limit: i64 = #[param(limit)] 100
entry filled: []i64 = replicate (#[param(step)] 1) limit
