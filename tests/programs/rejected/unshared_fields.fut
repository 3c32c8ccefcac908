-- Which fields differ.
-- ==
-- error: unshared fields: b, c

entry main (r: {a: i32, b: i32}) : {a: i32, c: i32} = r
