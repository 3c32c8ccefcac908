entry main (x: i32): i32 = x + undefined_name
