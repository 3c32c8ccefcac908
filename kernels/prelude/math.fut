-- | Numbers: one module for each primitive type, and the module types they have in common.

import "soacs"

-- | Types into which every primitive type can be converted.
module type from_prim = {
  type t

  val i8 : i8 -> t
  val i16 : i16 -> t
  val i32 : i32 -> t
  val i64 : i64 -> t
  val u8 : u8 -> t
  val u16 : u16 -> t
  val u32 : u32 -> t
  val u64 : u64 -> t
  val f16 : f16 -> t
  val f32 : f32 -> t
  val f64 : f64 -> t
  val bool : bool -> t
}

-- | What integers and floating-point numbers share.
module type numeric = {
  include from_prim

  val (+) : t -> t -> t
  val (-) : t -> t -> t
  val (*) : t -> t -> t
  val (/) : t -> t -> t
  val (%) : t -> t -> t
  val (**) : t -> t -> t

  val (==) : t -> t -> bool
  val (!=) : t -> t -> bool
  val (<) : t -> t -> bool
  val (<=) : t -> t -> bool
  val (>) : t -> t -> bool
  val (>=) : t -> t -> bool

  val to_i64 : t -> i64
  val neg : t -> t
  val abs : t -> t
  -- | -1, 0 or 1.
  val sgn : t -> t
  val min : t -> t -> t
  val max : t -> t -> t
  -- | No number is larger; for floats this is infinity.
  val highest : t
  val lowest : t

  val sum [n] : [n]t -> t
  val product [n] : [n]t -> t
  -- | `lowest` for an empty array.
  val maximum [n] : [n]t -> t
  -- | `highest` for an empty array.
  val minimum [n] : [n]t -> t
}

-- | Integers. `/` and `%` round towards minus infinity, `//` and `%%` towards zero.
module type integral = {
  include numeric

  val (//) : t -> t -> t
  val (%%) : t -> t -> t
  val (&) : t -> t -> t
  val (|) : t -> t -> t
  val (^) : t -> t -> t
  val (<<) : t -> t -> t
  -- | Keeps the sign of a signed number.
  val (>>) : t -> t -> t
  -- | Shifts in zeros.
  val (>>>) : t -> t -> t
  val not : t -> t

  val num_bits : i32
  val get_bit : i32 -> t -> i32
  val set_bit : i32 -> t -> i32 -> t
  -- | The number of ones.
  val popc : t -> i32
  -- | The number of zeros above the highest one.
  val clz : t -> i32
  -- | The number of zeros below the lowest one.
  val ctz : t -> i32
  -- | The upper half of the double-width product.
  val mul_hi : (x: t) -> (y: t) -> t
  -- | `mul_hi a b + c`.
  val mad_hi : (a: t) -> (b: t) -> (c: t) -> t
}

-- | Numbers with the functions of analysis.
module type real = {
  include numeric

  val recip : t -> t
  val from_fraction : i64 -> i64 -> t
  val to_i64 : t -> i64
  val to_f64 : t -> f64

  val sqrt : t -> t
  val rsqrt : t -> t
  val cbrt : t -> t
  val hypot : t -> t -> t
  val exp : t -> t
  val log : t -> t
  val log2 : t -> t
  val log10 : t -> t
  val log1p : t -> t

  val sin : t -> t
  val cos : t -> t
  val tan : t -> t
  val asin : t -> t
  val acos : t -> t
  val atan : t -> t
  val atan2 : t -> t -> t
  val sinh : t -> t
  val cosh : t -> t
  val tanh : t -> t
  val asinh : t -> t
  val acosh : t -> t
  val atanh : t -> t
  -- | The trigonometric functions with angles as multiples of pi.
  val sinpi : t -> t
  val cospi : t -> t
  val tanpi : t -> t
  val asinpi : t -> t
  val acospi : t -> t
  val atanpi : t -> t
  val atan2pi : t -> t -> t

  val gamma : t -> t
  val lgamma : t -> t
  val erf : t -> t
  val erfc : t -> t

  val ceil : t -> t
  val floor : t -> t
  val trunc : t -> t
  -- | To the nearest integer, to the even one of two.
  val round : t -> t

  -- | From `a` to `b`, by the fraction `x`.
  val lerp : (a: t) -> (b: t) -> (x: t) -> t
  -- | `a * b + c`, rounded as the machine likes.
  val mad : (a: t) -> (b: t) -> (c: t) -> t
  -- | `a * b + c`, rounded once.
  val fma : (a: t) -> (b: t) -> (c: t) -> t

  val isinf : t -> bool
  val isnan : t -> bool
  val inf : t
  val nan : t
  val pi : t
  val e : t
}

-- | Real numbers as they are stored.
module type float = {
  include real

  -- | The unsigned integers of the same width.
  type int_t
  val from_bits : int_t -> t
  val to_bits : t -> int_t
  val num_bits : i32
  val get_bit : i32 -> t -> i32
  val set_bit : i32 -> t -> i32 -> t

  -- | The difference between 1 and the next number.
  val epsilon : t
  val nextafter : (x: t) -> (y: t) -> t
  val ldexp : t -> i32 -> t
  val copysign : (x: t) -> (y: t) -> t
}

-- The parts of a number type that are the same for all of them.
local module conversions (P: {type t}) = {
  type t = P.t

  def i8 (x: i8) : t = intrinsics.convert x
  def i16 (x: i16) : t = intrinsics.convert x
  def i32 (x: i32) : t = intrinsics.convert x
  def i64 (x: i64) : t = intrinsics.convert x
  def u8 (x: u8) : t = intrinsics.convert x
  def u16 (x: u16) : t = intrinsics.convert x
  def u32 (x: u32) : t = intrinsics.convert x
  def u64 (x: u64) : t = intrinsics.convert x
  def f16 (x: f16) : t = intrinsics.convert x
  def f32 (x: f32) : t = intrinsics.convert x
  def f64 (x: f64) : t = intrinsics.convert x
  def bool (x: bool) : t = intrinsics.convert x
}

local module numbers (P: {type t val lowest : t val highest : t}) = {
  open conversions P

  def (+) (x: t) (y: t) : t = x intrinsics.+ y
  def (-) (x: t) (y: t) : t = x intrinsics.- y
  def (*) (x: t) (y: t) : t = x intrinsics.* y
  def (/) (x: t) (y: t) : t = x intrinsics./ y
  def (%) (x: t) (y: t) : t = x intrinsics.% y
  def (**) (x: t) (y: t) : t = x intrinsics.** y

  def (==) (x: t) (y: t) : bool = x intrinsics.== y
  def (!=) (x: t) (y: t) : bool = x intrinsics.!= y
  def (<) (x: t) (y: t) : bool = x intrinsics.< y
  def (<=) (x: t) (y: t) : bool = x intrinsics.<= y
  def (>) (x: t) (y: t) : bool = x intrinsics.> y
  def (>=) (x: t) (y: t) : bool = x intrinsics.>= y

  def to_i64 (x: t) : i64 = intrinsics.convert x
  def neg (x: t) : t = intrinsics.neg x
  def abs (x: t) : t = intrinsics.abs x
  def sgn (x: t) : t = intrinsics.sgn x
  def min (x: t) (y: t) : t = intrinsics.min x y
  def max (x: t) (y: t) : t = intrinsics.max x y
  def lowest : t = P.lowest
  def highest : t = P.highest

  def sum [n] (xs: [n]t) : t = reduce_comm (+) (i32 0) xs
  def product [n] (xs: [n]t) : t = reduce_comm (*) (i32 1) xs
  def maximum [n] (xs: [n]t) : t = reduce_comm max lowest xs
  def minimum [n] (xs: [n]t) : t = reduce_comm min highest xs
}

local module integers (P: {type t val lowest : t val highest : t val num_bits : i32}) = {
  open numbers P

  def (//) (x: t) (y: t) : t = x intrinsics.// y
  def (%%) (x: t) (y: t) : t = x intrinsics.%% y
  def (&) (x: t) (y: t) : t = x intrinsics.& y
  def (|) (x: t) (y: t) : t = x intrinsics.| y
  def (^) (x: t) (y: t) : t = x intrinsics.^ y
  def (<<) (x: t) (y: t) : t = x intrinsics.<< y
  def (>>) (x: t) (y: t) : t = x intrinsics.>> y
  def (>>>) (x: t) (y: t) : t = x intrinsics.>>> y
  def not (x: t) : t = !x

  def num_bits : i32 = P.num_bits
  def get_bit (bit: i32) (x: t) : i32 = intrinsics.convert ((x >>> i32 bit) & i32 1)
  def set_bit (bit: i32) (x: t) (b: i32) : t =
    (x & not (i32 1 << i32 bit)) | (i32 b << i32 bit)
  def popc (x: t) : i32 = intrinsics.popc x
  def clz (x: t) : i32 = intrinsics.clz x
  def ctz (x: t) : i32 = intrinsics.ctz x
  def mul_hi (x: t) (y: t) : t = intrinsics.mulhi x y
  def mad_hi (a: t) (b: t) (c: t) : t = mul_hi a b + c
}

module bool : from_prim with t = bool = conversions {type t = bool}

module i8 : integral with t = i8 = integers {
  type t = i8
  def num_bits = 8i32
  def lowest = -128i8
  def highest = 127i8
}

module i16 : integral with t = i16 = integers {
  type t = i16
  def num_bits = 16i32
  def lowest = -32768i16
  def highest = 32767i16
}

module i32 : integral with t = i32 = integers {
  type t = i32
  def num_bits = 32i32
  def lowest = -2147483648i32
  def highest = 2147483647i32
}

module i64 : integral with t = i64 = integers {
  type t = i64
  def num_bits = 64i32
  def lowest = -9223372036854775808i64
  def highest = 9223372036854775807i64
}

module u8 : integral with t = u8 = integers {
  type t = u8
  def num_bits = 8i32
  def lowest = 0u8
  def highest = 255u8
}

module u16 : integral with t = u16 = integers {
  type t = u16
  def num_bits = 16i32
  def lowest = 0u16
  def highest = 65535u16
}

module u32 : integral with t = u32 = integers {
  type t = u32
  def num_bits = 32i32
  def lowest = 0u32
  def highest = 4294967295u32
}

module u64 : integral with t = u64 = integers {
  type t = u64
  def num_bits = 64i32
  def lowest = 0u64
  def highest = 18446744073709551615u64
}

local module type float_facts = {
  type t
  module bits : integral
  val inf : t
  val nan : t
  val epsilon : t
  val pi : t
  val e : t
}

local module floats (P: float_facts) = {
  open numbers {
    type t = P.t
    def lowest : t = intrinsics.neg P.inf
    def highest : t = P.inf
  }
  type int_t = P.bits.t

  def recip (x: t) : t = i32 1 / x
  def from_fraction (x: i64) (y: i64) : t = i64 x / i64 y
  def to_f64 (x: t) : f64 = intrinsics.convert x

  def sqrt (x: t) : t = intrinsics.sqrt x
  def rsqrt (x: t) : t = intrinsics.rsqrt x
  def cbrt (x: t) : t = intrinsics.cbrt x
  def hypot (x: t) (y: t) : t = intrinsics.hypot x y
  def exp (x: t) : t = intrinsics.exp x
  def log (x: t) : t = intrinsics.log x
  def log2 (x: t) : t = intrinsics.log2 x
  def log10 (x: t) : t = intrinsics.log10 x
  def log1p (x: t) : t = intrinsics.log1p x

  def sin (x: t) : t = intrinsics.sin x
  def cos (x: t) : t = intrinsics.cos x
  def tan (x: t) : t = intrinsics.tan x
  def asin (x: t) : t = intrinsics.asin x
  def acos (x: t) : t = intrinsics.acos x
  def atan (x: t) : t = intrinsics.atan x
  def atan2 (y: t) (x: t) : t = intrinsics.atan2 y x
  def sinh (x: t) : t = intrinsics.sinh x
  def cosh (x: t) : t = intrinsics.cosh x
  def tanh (x: t) : t = intrinsics.tanh x
  def asinh (x: t) : t = intrinsics.asinh x
  def acosh (x: t) : t = intrinsics.acosh x
  def atanh (x: t) : t = intrinsics.atanh x
  def sinpi (x: t) : t = intrinsics.sinpi x
  def cospi (x: t) : t = intrinsics.cospi x
  def tanpi (x: t) : t = intrinsics.tanpi x
  def asinpi (x: t) : t = intrinsics.asinpi x
  def acospi (x: t) : t = intrinsics.acospi x
  def atanpi (x: t) : t = intrinsics.atanpi x
  def atan2pi (y: t) (x: t) : t = intrinsics.atan2pi y x

  def gamma (x: t) : t = intrinsics.gamma x
  def lgamma (x: t) : t = intrinsics.lgamma x
  def erf (x: t) : t = intrinsics.erf x
  def erfc (x: t) : t = intrinsics.erfc x

  def ceil (x: t) : t = intrinsics.ceil x
  def floor (x: t) : t = intrinsics.floor x
  def trunc (x: t) : t = intrinsics.trunc x
  def round (x: t) : t = intrinsics.round x

  def lerp (a: t) (b: t) (x: t) : t = intrinsics.lerp a b x
  def mad (a: t) (b: t) (c: t) : t = intrinsics.mad a b c
  def fma (a: t) (b: t) (c: t) : t = intrinsics.fma a b c

  def isinf (x: t) : bool = intrinsics.isinf x
  def isnan (x: t) : bool = intrinsics.isnan x
  def inf : t = P.inf
  def nan : t = P.nan
  def pi : t = P.pi
  def e : t = P.e

  def from_bits (x: int_t) : t = intrinsics.bitcast x
  def to_bits (x: t) : int_t = intrinsics.bitcast x
  def num_bits : i32 = P.bits.num_bits
  def get_bit (bit: i32) (x: t) : i32 = P.bits.get_bit bit (to_bits x)
  def set_bit (bit: i32) (x: t) (b: i32) : t = from_bits (P.bits.set_bit bit (to_bits x) b)

  def epsilon : t = P.epsilon
  def nextafter (x: t) (y: t) : t = intrinsics.nextafter x y
  def ldexp (x: t) (n: i32) : t = intrinsics.ldexp x n
  def copysign (x: t) (y: t) : t = intrinsics.copysign x y
}

module f64 : float with t = f64 with int_t = u64 = floats {
  type t = f64
  module bits = u64
  def inf : t = intrinsics.bitcast 0x7ff0000000000000u64
  def nan : t = intrinsics.bitcast 0x7ff8000000000000u64
  def epsilon = 0x1.0p-52f64
  def pi = 3.141592653589793f64
  def e = 2.718281828459045f64
}

module f32 : float with t = f32 with int_t = u32 = floats {
  type t = f32
  module bits = u32
  def inf : t = intrinsics.bitcast 0x7f800000u32
  def nan : t = intrinsics.bitcast 0x7fc00000u32
  def epsilon = 0x1.0p-23f32
  def pi = 3.141592653589793f32
  def e = 2.718281828459045f32
}

module f16 : float with t = f16 with int_t = u16 = floats {
  type t = f16
  module bits = u16
  def inf : t = intrinsics.bitcast 0x7c00u16
  def nan : t = intrinsics.bitcast 0x7e00u16
  def epsilon = 0x1.0p-10f16
  def pi = 3.141592653589793f16
  def e = 2.718281828459045f16
}
