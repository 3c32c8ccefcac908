-- pass 8 differentiate: invalid IR: invalid array IR in function main: operand p_# has type f# w
-- invalid array IR in function main: operand p_1615 has type f64 where bool belongs
--   let t_1626: bool = and.bool(p_1620, p_1615)
-- ==
-- input { [-0.81662750244140625f64, -0.27290725708007812f64, 0.5583038330078125f64, -0.73505783081054688f64, -0.52207183837890625f64] [13i32, 8i32, 17i32, 10i32, 5i32] 17i64 }
type s4 = #c0 (f64) | #c1 | #c2 (i64) (i64) | #c3 (i32) ([3]i64)
type s8 = #c5 (i32) (bool) | #c6 (i32) (f64) | #c7 (f64)
def f1 [n9] (x10: [n9]i32) (x11: [n9]i64): i64 =
  (let w13 = partition (\y12 -> true) (#[sequential] (map (\i16 -> n9) (iota n9)))
  let [k14] (v15: [k14]i64) = w13.1
  in (assert (n9 >= 0) (let v17: f64 = (f64.abs (f64.i64 k14))
  in (k14 ^ k14))))
entry main [n18] (x19: [n18]f64) (x20: [n18]i32) (x21: i64): (f64, [n18]f64, [n18]f64, [n18][4]f64) =
  let curve (v22: [n18]f64) : f64 =
    f64.sum (map2 (\e23 i24 -> (vjp (\(v25: f64) : [n18]f64 -> (hist (*) 1 n18 (map (\h26 -> h26 % i64.max 1 n18) (rotate x21 (map (\y27 -> (y27 > 1 |> \c -> if c then 1 else 0)) v22))) (replicate n18 v25))) (if (x19[i24] > 1) then e23 else v22[i24]) ((replicate n18 (replicate 7 v22)))[(i64.max 0 (i24 - 1)), 0]))
      (let g29 (v28: i64) = (let (v30, v31) = (v22, (replicate n18 (replicate n18 x20)))
  in v22)
  in if (n18 < n18) then g29 (n18 ^ (i64.bool (bool.i64 n18))) else g29 (n18 * n18)) (iota n18))
      + (match n18 case 0 -> (let v32: [4]i32 = [(i32.i64 n18), (i32.i64 n18), (i32.i64 n18), (i32.i64 n18)]
  in (f64.neg (f64.i64 x21))) case 3 -> (loop (a33: f64, i34) = ((f64.i64 x21), 0i64) while i34 < 4 && (bool.i64 n18) do (a33, i34 + 1)).0 case _ -> (((f64.i64 n18) * (f64.i64 n18)) - (f64.min (f64.i64 n18) (f64.i64 x21))))
  let unit (i: i64) : [n18]f64 = tabulate n18 (\j -> f64.bool (i == j))
  let moved i h = curve (map2 (\x u -> x + h * u) x19 (unit i))
  let h = 1e-4f64
  in (curve x19, vjp curve x19 1, tabulate n18 (\i -> jvp curve x19 (unit i)),
      tabulate n18 (\i -> [moved i h, moved i (-h), moved i (h / 2), moved i (-h / 2)]))
