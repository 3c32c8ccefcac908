-- Operators of one's own: precedence comes from the longest built-in operator they start with.
-- ==
-- entry: precedence
-- input { 2 3 4 }
-- output { [14, 20, 10] }

-- ==
-- entry: infix_names
-- input { 7 2 }
-- output { [72, 27, 72] }

-- ==
-- entry: shadowed
-- input { 7 2 }
-- output { 5 }

def (+.) (x: i32) (y: i32) : i32 = x + y
def x *. y : i32 = x * y
def (<+>) (x: i32) (y: i32) : i32 = x + y
def glue (x: i32) (y: i32) : i32 = 10 * x + y
def x `pair` y : i32 = glue x y

entry precedence (a: i32) (b: i32) (c: i32) =
  [a +. b *. c, (a +. b) *. c, a <+> b * c - c]

entry infix_names (x: i32) (y: i32) = [x `glue` y, (`glue` x) y, x `pair` y]

entry shadowed (x: i32) (y: i32) =
  let (+) = \(a: i32) (b: i32) -> a - b
  in x + y
