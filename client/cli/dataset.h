// kenaz dataset and kenaz datacmp, which read their command lines themselves: as with Futhark's,
// options hold for what follows them.
#pragma once

namespace kenaz::cli {

/// argv[0] is the subcommand; gives the exit code.
int dataset(int argc, char** argv);
int datacmp(int argc, char** argv);

}  // namespace kenaz::cli
