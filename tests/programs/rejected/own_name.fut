-- A definition is in scope in its own body, where older versions of Futhark saw the outer name.
-- ==
-- error: Cannot apply "scale" to "s".*"scale" is this definition itself here

def scale (t: i32) : i32 = t * 2

module m = {
  def scale (s: i32, k: i32) = scale s * k
}

entry main (x: i32) = m.scale (x, 2)
