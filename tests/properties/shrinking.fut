-- Candidates are made smaller by entry points, or by the same seed and smaller sizes.
-- ==
-- property: below_ten few_ones unlucky_shrinker unlucky_both fails_when_small

entry thousand (_: i64) (_: u64) : i32 = 1000

entry step (x: i32) (random: u64) : i32 = if random % 2 == 0 then x - 1 else x - x / 2

#[prop(gen(thousand), shrink(step))]
entry below_ten (x: i32) = x < 10

entry ones (size: i64) (_: u64) : []i64 = replicate size 1

#[prop(gen(ones), size(20))]
entry few_ones (xs: []i64) = i64.sum xs < 5

entry divide (x: i32) (_: u64) : i32 = x / (x - x)

#[prop(gen(thousand), shrink(divide))]
entry unlucky_shrinker (x: i32) = x < 10

entry large_only (size: i64) (_: u64) : i32 = assert (size > 30) (i32.i64 size)

#[prop(gen(large_only), shrink(divide))]
entry unlucky_both (x: i32) = x < 10

#[prop(gen(ones), size(3))]
entry fails_when_small (xs: []i64) = xs[1] == 0
