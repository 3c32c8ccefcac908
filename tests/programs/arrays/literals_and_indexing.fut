-- Array literals of several ranks, and taking out elements and rows.
-- ==
-- entry: element
-- input { 1i64 2i64 }
-- output { 6 }

-- ==
-- entry: row
-- input { 1i64 }
-- output { [4, 5, 6] }

-- ==
-- entry: computed
-- input { 5 }
-- output { [[5, 6], [10, 25]] }

-- ==
-- entry: index_types
-- input { 2i8 1i32 }
-- output { [30, 20] }

-- ==
-- entry: chained
-- input { [[[1, 2], [3, 4]], [[5, 6], [7, 8]]] }
-- output { [7, 7, 8] }

def table : [2][3]i32 = [[1, 2, 3], [4, 5, 6]]

entry element (i: i64) (j: i64) = table[i, j]
entry row (i: i64) = copy table[i]
entry computed (x: i32) = [[x, x + 1], [2 * x, x * x]]
entry index_types (i: i8) (j: i32) = let xs = [10i32, 20, 30] in [xs[i], xs[j]]
entry chained (xsss: [][][]i32) = [xsss[1, 1, 0], xsss[1][1][0], (xsss[1])[1, 1]]
