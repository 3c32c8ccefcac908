// Tuning parameters on the server's command line.
#pragma once

#include <string>

#include "protocol/base/result.h"
#include "server/host/engine.h"
#include "server/options.h"

namespace kenaz {

/// The text of a tuning file: lines NAME=INT, with blank lines and -- comments. The last value of a
/// name counts.
Result<host::Tuning> parse_tuning(const std::string& text);

/// --tuning, --param and --default-threshold, for the parameters that a program has. Names in a
/// file that it does not have are no error, since Futhark's own tuning files stand beside programs:
/// they are warned of on stderr. Those of --param are.
Result<host::Tuning> read_tuning(const Options& options,
                                 const std::vector<program::TuningParam>& params);

}  // namespace kenaz
