-- | Arrays of tuples from tuples of arrays, and back. These cost nothing at run time: an array of
-- tuples is kept as a tuple of arrays anyway.

def zip [n] 'a 'b (as: [n]a) (bs: [n]b) : *[n](a, b) = intrinsics.zip as bs

def zip2 [n] 'a 'b (as: [n]a) (bs: [n]b) : *[n](a, b) = intrinsics.zip as bs

def zip3 [n] 'a 'b 'c (as: [n]a) (bs: [n]b) (cs: [n]c) : *[n](a, b, c) =
  intrinsics.map (\((a, b), c) -> (a, b, c)) (zip (zip as bs) cs)

def zip4 [n] 'a 'b 'c 'd (as: [n]a) (bs: [n]b) (cs: [n]c) (ds: [n]d) : *[n](a, b, c, d) =
  intrinsics.map (\((a, b), (c, d)) -> (a, b, c, d)) (zip (zip as bs) (zip cs ds))

def zip5 [n] 'a 'b 'c 'd 'e (as: [n]a) (bs: [n]b) (cs: [n]c) (ds: [n]d) (es: [n]e)
         : *[n](a, b, c, d, e) =
  intrinsics.map (\((a, b, c), (d, e)) -> (a, b, c, d, e)) (zip (zip3 as bs cs) (zip ds es))

def unzip [n] 'a 'b (xs: [n](a, b)) : ([n]a, [n]b) = intrinsics.unzip xs

def unzip2 [n] 'a 'b (xs: [n](a, b)) : ([n]a, [n]b) = intrinsics.unzip xs

def unzip3 [n] 'a 'b 'c (xs: [n](a, b, c)) : ([n]a, [n]b, [n]c) =
  ( intrinsics.map (\(x, _, _) -> x) xs
  , intrinsics.map (\(_, x, _) -> x) xs
  , intrinsics.map (\(_, _, x) -> x) xs
  )

def unzip4 [n] 'a 'b 'c 'd (xs: [n](a, b, c, d)) : ([n]a, [n]b, [n]c, [n]d) =
  ( intrinsics.map (\(x, _, _, _) -> x) xs
  , intrinsics.map (\(_, x, _, _) -> x) xs
  , intrinsics.map (\(_, _, x, _) -> x) xs
  , intrinsics.map (\(_, _, _, x) -> x) xs
  )

def unzip5 [n] 'a 'b 'c 'd 'e (xs: [n](a, b, c, d, e)) : ([n]a, [n]b, [n]c, [n]d, [n]e) =
  ( intrinsics.map (\(x, _, _, _, _) -> x) xs
  , intrinsics.map (\(_, x, _, _, _) -> x) xs
  , intrinsics.map (\(_, _, x, _, _) -> x) xs
  , intrinsics.map (\(_, _, _, x, _) -> x) xs
  , intrinsics.map (\(_, _, _, _, x) -> x) xs
  )
