-- What a consuming loop goes on with must be its own.
-- ==
-- error: "a" aliases "b".*consuming-loop-param-aliases

entry main (a: *[]i32) (b: *[]i32) (n: i64) =
  let c = loop a for i < n do let a[i] = 1 in b
  in (c, b)
