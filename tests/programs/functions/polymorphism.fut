-- One definition for many types.
-- ==
-- entry: pairs
-- input { 1 true }
-- output { true 1 }

-- ==
-- entry: nested
-- input { 5 }
-- output { [5, 5, 5] }

-- ==
-- entry: kinds
-- input { [1.5f32, 2.5f32] [7, 8, 9] }
-- output { 1.5f32 9 }

def swap '^a '^b (x: a, y: b) : (b, a) = (y, x)
def triple 't (x: t) : [3]t = [x, x, x]
def ends [n] 't (xs: [n]t) : (t, t) = (xs[0], xs[n - 1])

entry pairs (x: i32) (y: bool) = swap (x, y)
entry nested (x: i32) = (triple (triple x))[1]
entry kinds (xs: []f32) (ys: []i32) = ((ends xs).0, (ends ys).1)
