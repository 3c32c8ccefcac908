-- One name for two definitions.
-- ==
-- error: Duplicate definition

def f = 1i32
def f = 2i32

entry main = f
