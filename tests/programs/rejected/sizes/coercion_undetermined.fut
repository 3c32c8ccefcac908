-- The value that is coerced has no size of its own that could be compared.
-- ==
-- error: Ambiguous.*size coercion

type maybe 'a = #just a | #nothing

def absent = #nothing :> maybe ([3]bool)
