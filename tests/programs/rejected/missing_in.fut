-- A binding without the expression it is for.
-- ==
-- error: Unexpected "def" - missing "in"

def f (x: i32) = let y = x

def main (x: i32) = x
