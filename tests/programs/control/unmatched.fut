-- A value that no case of a match fits is a failure of the call, with the match's place.
-- ==
-- entry: number
-- input { 1 }
-- output { 1 }
-- input { 2 }
-- output { 2 }
-- input { 7 }
-- error: No case of the match fits the value.*unmatched.fut:41:31-62

-- ==
-- entry: constructor
-- input { 0 }
-- output { 5 }
-- input { 1 }
-- output { 6 }
-- input { 2 }
-- error: No case of the match fits the value

-- ==
-- entry: payload
-- input { 0 }
-- output { 5 }
-- input { 1 }
-- error: No case of the match fits the value

-- ==
-- entry: unused
-- input { [1, 2] }
-- output { [10, 10] }
-- input { [1, 3] }
-- error: No case of the match fits the value

-- ==
-- entry: mapped
-- input { [1, 2] }
-- output { [10, 20] }
-- input { [1, 3] }
-- error: No case of the match fits the value

entry number (n: i32) : i32 = match n case 1 -> 1 case 2 -> 2

type t = #a i32 | #b i32 | #c [2]i32

def make (n: i32) : t = if n == 0 then #a 5 else if n == 1 then #b 6 else #c [7, 8]

entry constructor (n: i32) : i32 =
  match make n
  case #a x -> x
  case #b x -> x

entry payload (n: i32) : i32 =
  match make n
  case #a 5 -> 5
  case #b 5 -> 6
  case #c xs -> xs[0]

entry unused (xs: []i32) = map (\x -> match x case 1 -> 10 case 2 -> 10) xs

entry mapped (xs: []i32) = map (\x -> match x case 1 -> 10 case 2 -> 20) xs
