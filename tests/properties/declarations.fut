-- Wrong declarations: no property is tested then, not even `fine`.
-- ==
-- property: fine two_inputs no_input not_bool no_attribute twice_different twice_same
-- property: hidden_generator wrong_generator hidden_shrinker lonely_shrinker wrong_shrinker
-- property: other_result nowhere

#[prop(unknown(argument))]
entry fine (x: i32) = x == x && x != x

#[prop]
entry two_inputs (x: i32) (y: i32) = x == y

#[prop]
entry no_input = true

#[prop]
entry not_bool (x: i32) = x

entry no_attribute (x: i32) = x == x

#[prop(size(1))] #[prop(size(2))]
entry twice_different (x: i32) = x == x

#[prop(size(1))] #[prop(size(1))]
entry twice_same (x: i32) = x == x

def hidden (_: i64) (_: u64) : i32 = 0

#[prop(gen(hidden))]
entry hidden_generator (x: i32) = x == x

entry one_argument (x: i64) = x

#[prop(gen(one_argument))]
entry wrong_generator (x: i32) = x == x

#[prop(shrink(hidden))]
entry hidden_shrinker (x: i32) = x == x

#[prop(shrink(one_argument))]
entry lonely_shrinker (x: i64) = x == x

entry two_arguments (_: i64) (_: i64) : bool = true

#[prop(shrink(two_arguments))]
entry wrong_shrinker (x: i32) = x == x

entry to_bool (x: i64) (_: u64) : bool = x == 0

#[prop(shrink(to_bool))]
entry other_result (x: i64) = x == x

#[prop]
entry undeclared (x: i32) = x == x
