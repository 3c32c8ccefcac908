-- Neighbours of every element.
-- ==
-- entry: smooth
-- input { [1.0f32, 2.0f32, 6.0f32, 3.0f32] 1 }
-- output { [1.3333334f32, 3.0f32, 3.6666667f32, 4.0f32] }

-- ==
-- entry: life
-- input { [[false, true, false], [false, true, false], [false, true, false]] 1 }
-- output { [[true, true, true], [true, true, true], [true, true, true]] }

-- ==
-- entry: life_open
-- input { [[false, false, false, false, false],
--          [false, false, true, false, false],
--          [false, false, true, false, false],
--          [false, false, true, false, false],
--          [false, false, false, false, false]] }
-- output { [[false, false, false, false, false],
--           [false, false, false, false, false],
--           [false, true, true, true, false],
--           [false, false, false, false, false],
--           [false, false, false, false, false]] }

entry smooth [n] (xs: [n]f32) (steps: i32) =
  let at (ys: [n]f32) (i: i64) = ys[i64.max 0 (i64.min (n - 1) i)]
  in iterate steps (\ys -> tabulate n (\i -> (at ys (i - 1) + at ys i + at ys (i + 1)) / 3)) xs

def step [n] [m] (cells: [n][m]bool) : [n][m]bool =
  let alive i j = i32.bool cells[i % n, j % m]
  let next i j =
    let around =
      alive (i - 1) (j - 1) + alive (i - 1) j + alive (i - 1) (j + 1)
      + alive i (j - 1) + alive i (j + 1)
      + alive (i + 1) (j - 1) + alive (i + 1) j + alive (i + 1) (j + 1)
    in around == 3 || (around == 2 && cells[i, j])
  in tabulate_2d n m next

entry life (cells: [][]bool) (steps: i32) = loop cells for _i < steps do step cells
entry life_open (cells: [][]bool) = step cells
