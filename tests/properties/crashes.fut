-- What fails, and not just says false.
-- ==
-- property: bad_generator crashes no_generator fine
-- ==
-- entry: twice
-- input { 2 } output { 5 }

entry twice (x: i32) = 2 * x

entry broken (size: i64) (_: u64) : i64 = size / 0

#[prop(gen(broken))]
entry bad_generator (x: i64) = x > 0

#[prop(size(0))]
entry crashes (xs: []u8) = xs[0] == 0

type t = #a | #b i32

#[prop]
entry no_generator (x: t) = match x case #a -> true case #b _ -> false

#[prop]
entry fine (x: bool) = x || !x
