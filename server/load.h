// What can be said of a program without serving it.
#pragma once

#include <string>

#include "server/options.h"

namespace kenaz {

/// --check: prints warnings to stderr. Kind kCompile if the program could not be served (or, with
/// types_only, has a type error), or has warnings where those are errors.
Status check_loading(const Options& options);
/// --print-params: a line "NAME (CLASS)" for each of the program's tuning parameters, on the device
/// that --device names. If it names none, none is started: they are those of the least of all.
Result<std::string> print_params(const Options& options);
/// --explain: how the program runs on the device, as text or JSON.
Result<std::string> explanation(const Options& options);
/// --dump: the text.
Result<std::string> dump(const Options& options);

}  // namespace kenaz
