-- Indexes are signed: of an unsigned one it would have to be said what its largest values mean.
-- ==
-- error: unsigned_index.fut:6:46-47:.*signed integer

entry signed (xs: []i32) (i: i8) = xs[i]
entry unsigned (xs: []i32) (i: u8): i32 = xs[i]
