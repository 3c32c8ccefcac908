-- | Putting functions together. Nothing here can fail or take time of its own.

-- | Pass a value on to a function: `xs |> map f |> reduce g ne`. Binds more loosely than any
-- other operator.
#[inline]
def (|>) '^a '^b (x: a) (f: a -> b) : b = f x

-- | The same in the other direction, which saves parentheses round a last argument.
#[inline]
def (<|) '^a '^b (f: a -> b) (x: a) : b = f x

-- | First `f`, then `g`.
#[inline]
def (>->) '^a '^b '^c (f: a -> b) (g: b -> c) (x: a) : c = g (f x)

-- | `g` after `f`, as mathematicians write it.
#[inline]
def (<-<) '^a '^b '^c (g: b -> c) (f: a -> b) (x: a) : c = g (f x)

-- | The same function with its first two arguments exchanged.
#[inline]
def flip '^a '^b '^c (f: a -> b -> c) (y: b) (x: a) : c = f x y

-- | A function of a pair, taking the parts one by one.
#[inline]
def curry '^a '^b '^c (f: (a, b) -> c) (x: a) (y: b) : c = f (x, y)

-- | The opposite of `curry`@term.
#[inline]
def uncurry '^a '^b '^c (f: a -> b -> c) (x: a, y: b) : c = f x y

-- | Always `x`, whatever it is applied to.
#[inline]
def const '^a '^b (x: a) (_: b) : a = x

-- | The function that does nothing.
#[inline]
def id '^a (x: a) : a = x

-- | Apply `f` to `x`, to the result of that, and so on: `n` times in all.
def iterate 'a (n: i32) (f: a -> a) (x: a) : a =
  loop y = x for _i < n do f y

-- | Apply `f` again and again until `p` holds; not at all if it holds for `x`.
def iterate_until 'a (p: a -> bool) (f: a -> a) (x: a) : a =
  loop y = x while !(p y) do f y

-- | Apply `f` again and again as long as `p` holds.
def iterate_while 'a (p: a -> bool) (f: a -> a) (x: a) : a =
  loop y = x while p y do f y
