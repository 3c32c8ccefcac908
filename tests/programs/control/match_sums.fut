-- Choices between values of a sum of which only a part differs.
-- ==
-- input { "wgx" }
-- output { [1, 2, 0] }

type cmd = #go bool | #wait | #stop

def command (c: u8) : cmd =
  match c
  case 'g' -> #wait
  case 'w' -> #go true
  case _ -> #go false

entry main (s: []u8) : []i32 =
  map (\c -> match command c
             case #go b -> i32.bool b
             case #wait -> 2
             case #stop -> 3) s
