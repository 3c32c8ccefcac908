-- What is called unique belongs to the caller.
-- ==
-- error: aliased to "xs".*not consumable

entry main (xs: []i32) : *[]i32 = xs[1:]
