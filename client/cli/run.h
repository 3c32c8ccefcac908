// Running one entry point on values from standard input.
#pragma once

#include <string>

#include "client/lib/connection.h"

namespace kenaz::cli {

struct RunOptions {
  client::ServerOptions server;
  std::string entry;                 // empty: the only one, or main
  std::string runtimes;              // file for run times; empty: none
  std::string png;                   // file for a picture; empty: none
  std::string complainer = "kenaz";  // begins error messages
  int runs = 1;
  bool warm_up = false;  // one run more, before those that count
  bool binary = false;
  bool no_print = false;
  bool end_server = false;  // let the server come to its end after a failed call, too
};

/// Gives the exit code.
int run_program(const RunOptions& options);

}  // namespace kenaz::cli
