-- Tuples and records at the border between programs and clients.
entry swap (x: i32) (b: bool): (bool, i32) = (b, x)
entry first (p: (bool, i32)): bool = p.0
entry halves (x: i32): {quotient: i32, rest: i32} = {quotient = x / 2, rest = x % 2}
