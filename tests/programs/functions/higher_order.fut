-- Functions as arguments and results.
-- ==
-- entry: compose
-- input { 3 }
-- output { [7, 8, 16] }

-- ==
-- entry: chosen
-- input { true 10 }
-- output { 11 }
-- input { false 10 }
-- output { 9 }

-- ==
-- entry: partial
-- input { 4 }
-- output { [14, 6, -6, 40] }

def twice 'a (f: a -> a) (x: a) : a = f (f x)
def adder (n: i32) : i32 -> i32 = \x -> x + n

entry compose (x: i32) =
  [(id >-> (* 2) >-> (+ 1)) x, ((* 2) <-< (+ 1)) x, twice (\y -> y + 1) x |> adder 11]

entry chosen (up: bool) (x: i32) =
  let step (k: i32) = if up then x + k else x - k
  in step 1

entry partial (x: i32) = [adder 10 x, (10 -) x, (\y -> y - 10) x, flip (*) 10 x]
