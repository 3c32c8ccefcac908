-- The variable of the loop means nothing in the type that it has itself.
-- ==
-- error: "acc" is not in scope

def f [n] (k: i64) (acc: [n]i64) : []i64 =
  loop acc for i < k do
    map2 (+) (map (+ i) (iota (length acc))) (scatter (copy acc) [0] [i])
