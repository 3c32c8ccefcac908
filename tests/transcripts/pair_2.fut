-- The other half: the same types, but for `other`.
type point = {x: i32, y: i32}
type other = {x: f32}

entry change (xs: []i32) = map (* 2) xs
entry sum (p: point) = p.x + p.y
entry first (p: (i32, bool)) = p.0
entry use (o: other) = o.x
entry total (ps: []point) = reduce (+) 0 (map (\p -> p.x * p.y) ps)
