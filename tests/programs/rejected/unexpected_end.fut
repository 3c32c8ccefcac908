-- Text that ends too early.
-- ==
-- error: Unexpected end of file

def main (x: i32) = (x +
