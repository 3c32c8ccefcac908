// Tests many programs, several at a time, and reports on them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "client/testing/program_runner.h"

namespace kenaz::testing {

/// The programs named, and all *.fut below the folders named, sorted, each once.
Result<std::vector<std::string>> collect_programs(const std::vector<std::string>& paths);

/// Results in the order of `programs`. `done` is called after each program, never twice at once; if
/// it gives false, no further programs are begun, and their results are left empty.
std::vector<ProgramResult> test_programs(const std::vector<std::string>& programs,
                                         const TestOptions& options, int workers,
                                         const std::function<bool(const ProgramResult&)>& done);

}  // namespace kenaz::testing
