def one = 1i32

def twice (x: i32) : i32 = 2 * x

def thrice (x: i32) : i32 = twice x + x
