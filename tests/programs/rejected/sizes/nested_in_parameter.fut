-- What is nested in a parameter has no name for callers.
-- ==
-- error: "rows".*accessible

def table (rows: i64, columns: i64) : [rows][3]i64 =
  tabulate_2d rows 3 (\i j -> i * columns + j)
