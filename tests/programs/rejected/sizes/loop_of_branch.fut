-- One branch keeps the loop's array, the other starts again: what they return may be of any size.
-- ==
-- error: changes from one iteration to the next

def main [n] (xs: [n]i32) (k: i32) : [n]i32 =
  loop ys = xs for i < 10i32 do if i % k == 0 then xs else ys
