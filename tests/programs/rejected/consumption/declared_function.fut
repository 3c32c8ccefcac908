-- A lambda that consumes what the written type of its definition leaves alone.
-- ==
-- error: declared_function.fut:7:29-9:11:(.|\n)*incompatible regarding consuming

type^ reader = (n: i64) -> [n]i32 -> i32

def first_of_two : reader = \n (xs: *[n]i32) ->
  let xs[0] = 2
  in xs[0]

entry main [n] (xs: [n]i32) = first_of_two n (copy xs)
