// Makes a case that shows something smaller, as long as it still shows it.
#pragma once

#include <functional>

#include "tests/fuzz/program/expr.h"

namespace kenaz::fuzz {

/// `shows` is asked at most `tries` times.
Case shrink(Case c, const std::function<bool(const Case&)>& shows, int tries);

}  // namespace kenaz::fuzz
