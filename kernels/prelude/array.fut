-- | Arrays: their sizes, parts and arrangement.

import "soacs"
import "functional"
open import "zip"

-- | The number of elements.
#[inline]
def length [n] 't (_: [n]t) : i64 = n

-- | Is it empty?
#[inline]
def null [n] 't (_: [n]t) : bool = n == 0

-- | The first element. An error if there is none.
#[inline]
def head [n] 't (xs: [n]t) : t = xs[0]

-- | The last element. An error if there is none.
#[inline]
def last [n] 't (xs: [n]t) : t = xs[n - 1]

-- | All but the first element.
#[inline]
def tail [n] 't (xs: [n]t) : [n - 1]t = xs[1:]

-- | All but the last element.
#[inline]
def init [n] 't (xs: [n]t) : [n - 1]t = xs[0:n - 1]

-- | The first `i` elements, of which there must be as many.
#[inline]
def take [n] 't (i: i64) (xs: [n]t) : [i]t = xs[0:i]

-- | All but the first `i` elements.
#[inline]
def drop [n] 't (i: i64) (xs: [n]t) : [n - i]t = xs[i:]

-- | State the size of an array. An error if it has another one.
#[inline]
def sized [m] 't (n: i64) (xs: [m]t) : [n]t = xs :> [n]t

-- | Cut in two; the sizes follow from the context.
#[inline]
def split [n] [m] 't (xs: [n + m]t) : ([n]t, [m]t) = (xs[0:n], xs[n:n + m] :> [m]t)

-- | From last to first.
#[inline]
def reverse [n] 't (xs: [n]t) : [n]t = xs[::-1]

-- | One array behind another.
#[inline]
def (++) [n] [m] 't (xs: [n]t) (ys: [m]t) : *[n + m]t = intrinsics.concat xs ys

-- | One array behind another, as a function.
#[inline]
def concat [n] [m] 't (xs: [n]t) (ys: [m]t) : *[n + m]t = intrinsics.concat xs ys

-- | 0, 1, ... up to `n - 1`.
#[inline]
def iota (n: i64) : *[n]i64 = 0..1..<n

-- | The valid indices of an array.
#[inline]
def indices [n] 't (_: [n]t) : *[n]i64 = iota n

-- | Move every element `r` places towards the front; what leaves there enters at the end. With a
-- negative `r` the other way round.
def rotate [n] 't (r: i64) (xs: [n]t) : *[n]t =
  map (\i -> #[unsafe] xs[(i + r) % n]) (iota n)

-- | `n` times the same.
#[inline]
def replicate 't (n: i64) (x: t) : *[n]t = intrinsics.replicate n x

-- | As many times the same as the context asks for.
#[inline]
def rep 't [n] (x: t) : *[n]t = intrinsics.replicate n x

-- | The same value, not sharing memory with anything.
#[inline]
def copy 't (x: t) : *t = intrinsics.copy x

-- | A copy in row-major order, where the compiler would perhaps prefer another one.
#[inline]
def manifest 't (x: t) : *t = intrinsics.manifest x

-- | The rows one behind another.
#[inline]
def flatten [n] [m] 't (xs: [n][m]t) : [n * m]t = intrinsics.flatten xs

#[inline]
def flatten_3d [n] [m] [l] 't (xs: [n][m][l]t) : [n * m * l]t = flatten (flatten xs)

#[inline]
def flatten_4d [n] [m] [l] [k] 't (xs: [n][m][l][k]t) : [n * m * l * k]t =
  flatten (flatten_3d xs)

-- | Cut into rows; how many and how long follows from the context.
#[inline]
def unflatten 't [n] [m] (xs: [n * m]t) : [n][m]t = intrinsics.unflatten xs

#[inline]
def unflatten_3d 't [n] [m] [l] (xs: [n * m * l]t) : [n][m][l]t = unflatten (unflatten xs)

#[inline]
def unflatten_4d 't [n] [m] [l] [k] (xs: [n * m * l * k]t) : [n][m][l][k]t =
  unflatten (unflatten_3d xs)

-- | Exchange rows and columns.
#[inline]
def transpose [n] [m] 't (xs: [n][m]t) : [m][n]t = intrinsics.transpose xs

-- | Are all true?
def and [n] (xs: [n]bool) : bool = all id xs

-- | Is at least one true?
def or [n] (xs: [n]bool) : bool = any id xs

-- | Combine the elements one by one from the left: sequential, so the function may be anything.
def foldl [n] 'a 'b (f: a -> b -> a) (acc: a) (bs: [n]b) : a =
  loop acc for b in bs do f acc b

-- | Combine the elements one by one from the right.
def foldr [n] 'a 'b (f: b -> a -> a) (acc: a) (bs: [n]b) : a =
  loop acc for b in reverse bs do f b acc

-- | The array whose element at `i` is `f i`.
#[inline]
def tabulate 'a (n: i64) (f: i64 -> a) : *[n]a = map f (iota n)

-- | The same with two indices.
#[inline]
def tabulate_2d 'a (n: i64) (m: i64) (f: i64 -> i64 -> a) : *[n][m]a =
  map (\i -> tabulate m (f i)) (iota n)

-- | The same with three indices.
#[inline]
def tabulate_3d 'a (n: i64) (m: i64) (o: i64) (f: i64 -> i64 -> i64 -> a) : *[n][m][o]a =
  map (\i -> tabulate_2d m o (f i)) (iota n)
