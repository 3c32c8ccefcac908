-- The abstract type is of arrays of any size; this is an array without elements.
-- ==
-- error: val none

module bag : { type~ bag val none : bag } = {
  type~ bag = []i8
  def none = []
}
