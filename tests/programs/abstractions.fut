-- What leaves no trace at run time: modules, polymorphism, functions as values, records.
-- ==
-- entry: sums
-- input { [1, 2, 3] } output { 6 14 }

-- ==
-- entry: composed
-- input { 5 } output { 13 }

-- ==
-- entry: swapped
-- input { [1, 2] [true, false] } output { [true, false] [1, 2] }

-- ==
-- entry: moved
-- input { 1.0 2.0 } output { 11.0 2.0 }

module type monoid = {
  type t
  val zero : t
  val add : t -> t -> t
}

module fold (m: monoid) = {
  def all (xs: []m.t) : m.t = reduce m.add m.zero xs
}

module plus = {
  type t = i32
  def zero : t = 0
  def add (x: t) (y: t) : t = x + y
}

module sum = fold plus

entry sums (xs: []i32) = (sum.all xs, sum.all (map (\x -> x * x) xs))

def twice 'a (f: a -> a) : a -> a = \x -> f (f x)
def (|>>) 'a 'b 'c (f: a -> b) (g: b -> c) (x: a) : c = g (f x)

entry composed (x: i32) : i32 = ((* 2) |>> twice (+ 1) |>> (+ 1)) x

def swap 'a 'b (x: a, y: b) : (b, a) = (y, x)

entry swapped [n] (xs: [n]i32) (ys: [n]bool) : ([n]bool, [n]i32) =
  unzip (map swap (zip xs ys))

type point = {x: f64, y: f64}

def move (d: f64) (p: point) : point = p with x = p.x + d

entry moved (x: f64) (y: f64) : (f64, f64) =
  let p = move 10 {x, y}
  in (p.x, p.y)
