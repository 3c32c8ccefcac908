-- A single element of a map whose parts lie in a result of the same map.
-- ==
-- input { [1i32, 2i32, 3i32] } output { [[6i32,12i32,18i32],[12i32,24i32,36i32],[18i32,36i32,54i32]] [7i32, 13i32, 19i32] }
entry main [n] (xs: [n]i32) =
  unzip (map (\x -> let us = map (\y -> reduce (+) 0 (map (\z -> x * y * z) xs)) xs
             let ys = map (+ 1) us
             in (us, ys[0])) xs)
