-- A size that a let-binding names is like no other, though the value's own size has a name.
-- ==
-- error: Sizes "n" and "k" do not match

def pairs [n] (xs: [n]i32) =
  let [k] (ys: [k]i32) = xs
  in zip xs ys

entry main (xs: []i32) = pairs xs
