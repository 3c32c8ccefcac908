-- A hole stands for an array of any size, so something has to say of which.
-- ==
-- error: Ambiguous size.*use as function argument

entry main = i32.maximum ???
