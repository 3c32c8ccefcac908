-- Functions of numbers that call themselves.
-- ==
-- entry: ackermann
-- input { 2i64 3i64 } output { 9i64 }
-- ==
-- entry: fibonacci
-- input { 12 } output { 144 }
-- ==
-- entry: power
-- input { 1.5 5u32 } output { 7.59375 }
-- ==
-- entry: swapped
-- input { 7 3 } output { 7 3 }
-- input { 7 4 } output { 3 4 }
-- ==
-- entry: parity
-- input { 9 } output { false }
-- ==
-- entry: gcd
-- input { 84i64 36i64 } output { 12i64 }
-- ==
-- entry: depth
-- input { 4000i64 } output { 4000i64 }
-- input { 4097i64 } error: Calls are nested too deeply: more than 4096, .* of the recursive function deep(.|\n)*scalars.fut:48:52-64
-- input { 12i64 } output { 12i64 }
-- ==
-- entry: endless
-- input { 1 } error: nested too deeply

def ack (m: i64) (n: i64): i64 =
  if m == 0 then n + 1 else if n == 0 then ack (m - 1) 1 else ack (m - 1) (ack m (n - 1))
entry ackermann = ack

entry fibonacci (n: i32): i32 = if n < 2 then n else fibonacci (n - 1) + fibonacci (n - 2)

entry power (x: f64) (n: u32): f64 =
  if n == 0 then 1 else let half = power x (n / 2) in half * half * (if n % 2 == 0 then 1 else x)

-- Arguments that are each other's parameters.
entry swapped (a: i32) (b: i32): (i32, i32) =
  if b < 4 then (a, b) else let (x, y) = swapped b (a - 4) in (x - 1, y + 1)

-- Two functions as one.
def even_or_odd (even: bool) (n: i32): bool =
  if n == 0 then even else !(even_or_odd (!even) (n - 1)) != true
entry parity (n: i32) = even_or_odd true n

def deep (n: i64): i64 = if n == 0 then 0 else 1 + deep (n - 1)
entry depth (n: i64) = deep n

def forever (n: i32): i32 = 1 + forever (n + 1)
entry endless (n: i32) = forever n

entry gcd (a: i64) (b: i64): i64 = if b == 0 then a else gcd b (a % b)
