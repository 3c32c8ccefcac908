-- A branch on a sum at run time would not know which accumulator there is.
-- ==
-- error: a sum type with an accumulator inside

type~ maybe [n] = #none | #some (intrinsics.acc ([n]i32))

entry main [n] (xs: [n]i32) =
  let f (acc: *intrinsics.acc ([n]i32)) (i: i64) =
    let kept: maybe [n] = if i == 0 then #some acc else #none
    in match kept case #some a -> a case #none -> acc
  in intrinsics.scatter_stream (copy xs) f (iota 2)
