-- | Parallel operations on whole arrays. Work is the number of applications of the functions
-- passed in; operators given to reductions and scans must be associative, with the neutral
-- element that goes with them.

import "zip"

-- | Apply a function to every element.
#[inline]
def map 'a [n] 'x (f: a -> x) (as: [n]a) : *[n]x = intrinsics.map f as

-- | Another name for `map`@term, for those who write `map2` too.
#[inline]
def map1 'a [n] 'x (f: a -> x) (as: [n]a) : *[n]x = intrinsics.map f as

-- | Apply a function to the elements of several arrays that stand in the same place.
#[inline]
def map2 'a 'b [n] 'x (f: a -> b -> x) (as: [n]a) (bs: [n]b) : *[n]x =
  intrinsics.map (\(a, b) -> f a b) (zip2 as bs)

#[inline]
def map3 'a 'b 'c [n] 'x (f: a -> b -> c -> x) (as: [n]a) (bs: [n]b) (cs: [n]c) : *[n]x =
  intrinsics.map (\(a, b, c) -> f a b c) (zip3 as bs cs)

#[inline]
def map4 'a 'b 'c 'd [n] 'x
         (f: a -> b -> c -> d -> x)
         (as: [n]a) (bs: [n]b) (cs: [n]c) (ds: [n]d) : *[n]x =
  intrinsics.map (\(a, b, c, d) -> f a b c d) (zip4 as bs cs ds)

#[inline]
def map5 'a 'b 'c 'd 'e [n] 'x
         (f: a -> b -> c -> d -> e -> x)
         (as: [n]a) (bs: [n]b) (cs: [n]c) (ds: [n]d) (es: [n]e) : *[n]x =
  intrinsics.map (\(a, b, c, d, e) -> f a b c d e) (zip5 as bs cs ds es)

-- | Combine all elements with an associative operator; `ne` if there are none.
#[inline]
def reduce [n] 'a (op: a -> a -> a) (ne: a) (as: [n]a) : a = intrinsics.reduce op ne as

-- | A reduction whose operator may also be applied to elements out of order: it must be
-- commutative. Can be faster.
#[inline]
def reduce_comm [n] 'a (op: a -> a -> a) (ne: a) (as: [n]a) : a =
  intrinsics.reduce_comm op ne as

-- | The reductions of all prefixes, each including its last element.
#[inline]
def scan [n] 'a (op: a -> a -> a) (ne: a) (as: [n]a) : *[n]a = intrinsics.scan op ne as

-- | The reductions of all prefixes, each without its last element: starts with `ne`.
def exscan [n] 'a (op: a -> a -> a) (ne: a) (as: [n]a) : *[n]a =
  let before = intrinsics.scan op ne as
  in intrinsics.map (\i -> if i == 0 then ne else #[unsafe] before[i - 1]) (0..1..<n)

-- | `k` bins, each starting as `ne`; element `as[i]` is combined into bin `is[i]`. Indices outside
-- are ignored. The operator must be commutative too.
def hist 'a [n] (op: a -> a -> a) (ne: a) (k: i64) (is: [n]i64) (as: [n]a) : *[k]a =
  intrinsics.hist_1d (intrinsics.replicate k ne) op ne is as

-- | Like `hist`@term, into an existing array, which is consumed.
#[inline]
def reduce_by_index 'a [k] [n]
                    (dest: *[k]a)
                    (f: a -> a -> a)
                    (ne: a)
                    (is: [n]i64)
                    (as: [n]a) : *[k]a =
  intrinsics.hist_1d dest f ne is as

-- | With two indices for every element.
#[inline]
def reduce_by_index_2d 'a [k] [n] [m]
                       (dest: *[k][m]a)
                       (f: a -> a -> a)
                       (ne: a)
                       (is: [n](i64, i64))
                       (as: [n]a) : *[k][m]a =
  intrinsics.hist_2d dest f ne is as

-- | With three indices for every element.
#[inline]
def reduce_by_index_3d 'a [k] [n] [m] [l]
                       (dest: *[k][m][l]a)
                       (f: a -> a -> a)
                       (ne: a)
                       (is: [n](i64, i64, i64))
                       (as: [n]a) : *[k][m][l]a =
  intrinsics.hist_3d dest f ne is as

-- | Does `f` hold for all elements? For none at all the answer is yes.
def all [n] 'a (f: a -> bool) (as: [n]a) : bool =
  intrinsics.reduce_comm (&&) true (intrinsics.map f as)

-- | Does `f` hold for at least one element?
def any [n] 'a (f: a -> bool) (as: [n]a) : bool =
  intrinsics.reduce_comm (||) false (intrinsics.map f as)

-- | Write `vs[i]` to position `is[i]` of `dest`, which is consumed. Positions outside are ignored;
-- if two values go to the same place, they must be equal.
#[inline]
def scatter 't [k] [n] (dest: *[k]t) (is: [n]i64) (vs: [n]t) : *[k]t =
  intrinsics.scatter dest is vs

-- | With two indices for every value.
#[inline]
def scatter_2d 't [k] [n] [l] (dest: *[k][n]t) (is: [l](i64, i64)) (vs: [l]t) : *[k][n]t =
  intrinsics.scatter_2d dest is vs

-- | With three indices for every value.
#[inline]
def scatter_3d 't [k] [n] [o] [l]
               (dest: *[k][n][o]t)
               (is: [l](i64, i64, i64))
               (vs: [l]t) : *[k][n][o]t =
  intrinsics.scatter_3d dest is vs

-- | A `scatter`@term into `k` copies of `x`.
def spread 't [n] (k: i64) (x: t) (is: [n]i64) (vs: [n]t) : *[k]t =
  intrinsics.scatter (intrinsics.replicate k x) is vs

-- | The elements for which `p` holds, in their order.
def filter [n] 'a (p: a -> bool) (as: [n]a) : *[]a =
  let (d, packed) = intrinsics.pack (intrinsics.map (\a -> if p a then 0 else 1) as) as
  in packed[:d]

-- | The elements for which `p` holds, and the others. Both keep their order.
def partition [n] 'a (p: a -> bool) (as: [n]a) : ?[k].([k]a, [n - k]a) =
  let (k, packed) = intrinsics.pack_rest (intrinsics.map (\a -> if p a then 0 else 1) as) as
  in (packed[:k], packed[k:])

-- | The elements for which `p1` holds, those of the rest for which `p2` holds, and the others. All
-- keep their order.
def partition2 [n] 'a
               (p1: a -> bool)
               (p2: a -> bool)
               (as: [n]a) : ?[k][l].([k]a, [l]a, [n - k - l]a) =
  let classes = intrinsics.map (\a -> if p1 a then 0 else if p2 a then 1 else 2) as
  let (k, l, packed) = intrinsics.pack_rest2 classes as
  in ( packed[:k]
     , packed[k:k + l] :> [l]a
     , packed[k + l:] :> [n - k - l]a
     )

-- | Apply a function that makes arrays of any size to every element. The results come one behind
-- another: how long each is, where in the whole a new one begins (flags), at which position each
-- begins, their elements, and what else the function said. Not compiled yet.
def flatmap [n] 'a 'b 'c
            (f: a -> ?[k].([k]b, c))
            (as: [n]a) : ?[m].([n]i64, [m]bool, [n]i64, [m]b, [n]c) =
  intrinsics.flatmap f as

-- | The same for a function that only makes an array.
def flatmap' [n] 'a 'b
             (f: a -> ?[k].[k]b)
             (as: [n]a) : ?[m].([n]i64, [m]bool, [n]i64, [m]b) =
  let (lengths, flags, offsets, elements, _) = flatmap (\x -> (f x, ())) as
  in (lengths, flags, offsets, elements)
