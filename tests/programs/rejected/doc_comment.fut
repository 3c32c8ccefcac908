-- A documentation comment inside an expression.
-- ==
-- error: only permitted when preceding declarations

def main =
  -- | not here
  1i32
