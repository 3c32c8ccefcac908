-- | What every program sees without importing anything.

open import "soacs"
open import "array"
open import "math"
open import "functional"
open import "ad"

-- | Short conversions between `i32` and floats.
def r32 (x: i32) : f32 = f32.i32 x

def t32 (x: f32) : i32 = i32.f32 x

def r64 (x: i32) : f64 = f64.i32 x

def t64 (x: f64) : i32 = i32.f64 x

-- | Negation, as a function.
def not (x: bool) : bool = !x

-- | The same value, but nothing that the compiler knows about it.
def opaque 't (x: t) : t = intrinsics.opaque x

-- | The same value; an interpreter may print it.
def trace 't (x: t) : t = #[trace(trace)] x

-- | The same value; an interpreter may stop here.
def break 't (x: t) : t = #[break] x
