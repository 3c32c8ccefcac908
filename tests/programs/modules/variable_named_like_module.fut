-- A variable that is called like a module hides it: what follows the dots are its fields, even if the
-- module has such a member.
-- ==
-- entry: field
-- input { 3 }
-- output { 3 }

-- ==
-- entry: both
-- input { 3 }
-- output { 13 }

-- ==
-- entry: of_prelude
-- input { 3f32 }
-- output { 6f32 }

-- ==
-- entry: nested
-- input { 3 }
-- output { 3 }

-- ==
-- entry: parameter in_loop matched
-- input { 3 }
-- output { 6 }

-- ==
-- entry: outside_of_it
-- input { 3 }
-- output { 14 }

module p = {
  def k = 1i32
  module q = { def l = 2i32 }
}

entry field (a: i32) : i32 = let p = {x = a} in p.x
entry both (a: i32) : i32 = let p = {x = a, k = 10i32} in p.x + p.k
entry of_prelude (a: f32) : f32 = let double (i32: {x: f32}) = i32.x * 2 in double {x = a}
entry nested (a: i32) : i32 = let p = {q = {m = a}} in p.q.m
entry parameter (a: i32) : i32 = let f (p: {k: i32, l: i32}) = p.k + p.l in f {k = a, l = a}
entry in_loop (a: i32) : i32 = (loop p = {k = a} for _i < 3 do {k = p.k + 1}).k
entry matched (a: i32) : i32 = match {k = a} case p -> p.k + p.k
entry outside_of_it (a: i32) : i32 = (let p = {k = a} in p.k) + p.k + 10
