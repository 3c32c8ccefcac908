import "numbers"

def square_plus_one (x: i32) : i32 = x * x + one
