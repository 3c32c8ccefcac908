-- Both sizes are expressions over the function's own parameter, and they differ.
-- ==
-- error: Sizes "k" and "k \+ 1" do not match.*scope-violation

type square [n] 't = [n][n]t

def f : i64 -> square [] bool = \k -> replicate k (replicate (k + 1) true)
