-- A row may be replaced only by one of its length; of a slice that is compared at run time.
-- ==
-- error: Sizes "m" and "k" do not match

entry main [n] [m] [k] (rows: *[n][m]i32) (row: [k]i32) : *[n][m]i32 =
  rows with [0] = row
