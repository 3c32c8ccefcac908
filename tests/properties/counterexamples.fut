-- Candidates of every kind of type, made at random and printed.
-- ==
-- property: small_byte positive short_row small_cells within ordered
-- property: point_inside pairs_agree no_circle columns_agree nested_rows
-- ==
-- property: always

#[prop]
entry small_byte (x: u8) = x < 200

#[prop]
entry positive (x: f32) = x > 0 || x < -1

#[prop(size(6))]
entry short_row (xs: []i16) = length xs < 4

#[prop(size(3))]
entry small_cells (xss: [][]bool) = length xss < 2

#[prop(size(2))]
entry within (xss: [][][]i8) = all (all (all (>= -100))) xss

#[prop]
entry ordered ((a, b): (i32, i32)) = a < b

type point = {x: f64, inside: bool}

#[prop]
entry point_inside (p: point) = p.x > 2

type~ pairs = [](i8, u16)

#[prop(size(2))]
entry pairs_agree (ps: pairs) = all (\(a, b) -> i32.i8 a == i32.u16 b) ps

type shape = #circle i32 | #square {side: i64} | #none

entry gen_shape (size: i64) (seed: u64) : shape =
  if seed % 3 == 0 then #circle (i32.i64 size) else if seed % 3 == 1 then #square {side = size} else #none

#[prop(size(7))]
entry no_circle (s: shape) = match s case #circle r -> r < 1 case _ -> true

#[prop(size(2))]
entry columns_agree (t: {names: []u8, counts: [](i8, bool)}) = length t.names != length t.counts

#[prop(size(1))]
entry nested_rows (rs: []([](i8, bool), i64)) = length rs != 1

#[prop]
entry always (xs: []i32) = length (xs ++ xs) == 2 * length xs
