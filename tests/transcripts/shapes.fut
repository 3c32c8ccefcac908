-- Values whose parts must have the same sizes, and arrays of nothing.
type pair [n] = {a: [n]i32, b: [n]i32}

entry dot [n] (p: pair [n]) : i32 = reduce (+) 0 (map2 (*) p.a p.b)

type either [n] = #ints ([n]i32) ([n]i32) | #bools ([n]bool)

entry how_many [n] (x: either [n]) : (i64, i64) =
  match x
  case #ints xs ys -> (n, length (zip xs ys))
  case #bools bs -> (n, i64.sum (map i64.bool bs))

entry units (n: i64) : [n]() = replicate n ()

entry mixed [n] (us: [n]()) (xs: [n]i32) : []((), i32) = zip us xs

entry rows [n] [m] (us: [n][m]()) : (i64, i64) = (n, m)

entry unit (_: i32) : () = ()
