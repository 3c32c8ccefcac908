-- Calls, variables and failures.
entry add (x: i32) (y: i32): i32 = x + y
entry divide (x: i32) (y: i32): i32 = x / y
entry half (x: f64): f64 = x / 2
#[fast]
#[tuned(twice,3)]
entry never (x: bool): bool = assert (x && !x) x
