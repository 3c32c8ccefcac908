-- One element in, one out: bound by memory.
-- ==
-- entry: add scale_add collatz
-- random input { [1000]i32 } auto output
-- random input { [1000000]i32 }
-- random input { [67108864]i32 }

entry add (xs: []i32) : []i32 = map (+ 7) xs

entry scale_add (xs: []i32) : []i32 = map2 (\x y -> 3 * x + y) xs (map (^ 12345) xs)

-- Divergent: each element loops as long as it likes.
entry collatz (xs: []i32) : []i32 =
  map (\x -> let (_, n) =
               loop (v, n) = (x & 0xffff, 0) while v > 1 && n < 500 do
                 (if v % 2 == 0 then v / 2 else 3 * v + 1, n + 1)
             in n)
      xs
