-- | Derivatives. Every value has a tangent and an adjoint of its own type; a variable that a function
-- finds outside of itself is a constant.

-- | The result of `f` at `x`, and its change in the direction `dx` (forward mode).
def jvp2 'a 'b (f: a -> b) (x: a) (dx: a) : (b, b) = intrinsics.jvp2 f x dx

-- | The result of `f` at `x`, and how `x` contributes to the change `dy` of it (reverse mode).
def vjp2 'a 'b (f: a -> b) (x: a) (dy: b) : (b, a) = intrinsics.vjp2 f x dy

-- | Forward mode in several directions at once.
def jmp2 'a 'b [n] (f: a -> b) (x: a) (dxs: [n]a) : (b, [n]b) =
  (f x, intrinsics.map (\dx -> (intrinsics.jvp2 f x dx).1) dxs)

-- | Reverse mode for several changes at once.
def mjp2 'a 'b [n] (f: a -> b) (x: a) (dys: [n]b) : (b, [n]a) =
  (f x, intrinsics.map (\dy -> (intrinsics.vjp2 f x dy).1) dys)

def jvp 'a 'b (f: a -> b) (x: a) (dx: a) : b = (jvp2 f x dx).1

def vjp 'a 'b (f: a -> b) (x: a) (dy: b) : a = (vjp2 f x dy).1

def jmp 'a 'b [n] (f: a -> b) (x: a) (dxs: [n]a) : [n]b = (jmp2 f x dxs).1

def mjp 'a 'b [n] (f: a -> b) (x: a) (dys: [n]b) : [n]a = (mjp2 f x dys).1

-- | Apply `f`, and let reverse mode use `f'` in the place of its derivative: it gets the result
-- and the change of it.
def with_vjp 'a 'b (f: a -> b) (f': (res: b) -> (b_adj: b) -> a) (x: a) : b =
  intrinsics.with_vjp f f' x

-- | The same, with something that `f` leaves behind for `f'`.
def with_vjp_tape 'a 'b 'c (f: a -> (c, b)) (f': (c, b) -> a) (x: a) : b =
  let backwards (left, _) (_, change) = f' (left, change)
  in (with_vjp f backwards x).1
