-- Records: fields by name, punning, patterns, update.
-- ==
-- entry: build
-- input { 3 4 }
-- output { 7 }

-- ==
-- entry: update
-- input { 3 4 }
-- output { [3, 40, 4] }

-- ==
-- entry: order_does_not_matter
-- input { 1 2 }
-- output { true }

-- ==
-- entry: nested_update
-- input { 5 }
-- output { 5 0 [1, 7] }

type point = {x: i32, y: i32}

def sum ({x, y}: point) : i32 = x + y

entry build (x: i32) (y: i32) = sum {x, y}

entry update (x: i32) (y: i32) =
  let p : point = {x, y}
  let q = p with y = 10 * p.y
  let {x = _, y = old} = p
  in [q.x, q.y, old]

entry order_does_not_matter (x: i32) (y: i32) =
  let p : {b: i32, a: i32} = {a = x, b = y}
  in p == {b = y, a = x}

entry nested_update (v: i32) =
  let r = {at = {i = 0i32, j = 0i32}, xs = [1i32, 2]}
  let s = copy r with at.i = v
  let s = s with xs[1] = 7
  in (s.at.i, s.at.j, s.xs)
