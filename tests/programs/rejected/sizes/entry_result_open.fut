-- Nothing says what size the result has, and callers have no way to say it.
-- ==
-- error: Entry point.*size-polymorphic

entry main (x: i64) : []i64 = ???
