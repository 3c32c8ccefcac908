-- Modules, nested ones, opening, local names.
-- ==
-- entry: uses
-- input { 3 }
-- output { [9, 27, 12, 6] }

-- ==
-- entry: local_open
-- input { 3 }
-- output { 13 }

module powers = {
  def square (x: i32) = x * x
  module higher = {
    def cube x = x * square x
  }
  local def hidden = 4i32
  def times_hidden (x: i32) = x * hidden
}

module more = {
  open powers
  def double (x: i32) = x + x
}

entry uses (x: i32) = [powers.square x, powers.higher.cube x, more.times_hidden x, more.double x]

entry local_open (x: i32) = powers.(square x + times_hidden 1)
