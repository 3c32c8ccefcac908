-- An ascription without a star says that a loop may not consume.
-- ==
-- error: "ys".*not consumable

entry main (xs: *[]i32) = loop ys: []i32 = xs for i < 3 do ys with [i] = 1
