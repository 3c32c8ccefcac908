-- A loop whose body has another type than its start.
-- ==
-- error: .

entry main (n: i32) = loop x = 1i32 for _i < n do 2i64
