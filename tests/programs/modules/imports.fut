-- Other files as modules.
-- ==
-- entry: main
-- input { 5 }
-- output { [26, 10, 15] }

module lib = import "lib/shapes"
import "lib/numbers"

entry main (x: i32) = [lib.square_plus_one x, twice x, thrice x]
