-- Nor is it found by comparing cases.
-- ==
-- error: Sizes "n" and ".*" do not match

def pick [n] (x: #one | #two) (xs: [n]i32) (ys: []i32) =
  zip xs (match x
          case #one -> xs
          case #two -> ys)

entry main (b: bool) (xs: []i32) = pick (if b then #one else #two) xs xs
