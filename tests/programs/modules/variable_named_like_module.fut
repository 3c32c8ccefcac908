-- A variable that is called like a module: what follows the dots are its fields, if the module has
-- no such member.
-- ==
-- entry: field
-- input { 3 }
-- output { 3 }

-- ==
-- entry: both
-- input { 3 }
-- output { 4 }

-- ==
-- entry: of_prelude
-- input { 3f32 }
-- output { 6f32 }

-- ==
-- entry: nested
-- input { 3 }
-- output { 3 }

module p = {
  def k = 1i32
  module q = { def l = 2i32 }
}

entry field (a: i32) : i32 = let p = {x = a} in p.x
entry both (a: i32) : i32 = let p = {x = a, k = 10i32} in p.x + p.k
entry of_prelude (a: f32) : f32 = let double (i32: {x: f32}) = i32.x * 2 in double {x = a}
entry nested (a: i32) : i32 = let p = {q = {m = a}} in p.q.m
