-- Another program of the soak's server.
entry negated [n] (xs: [n]i32) : [n]i32 = map (\x -> -x) xs
