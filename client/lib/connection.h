// A conversation with a server that runs as a subprocess: one command, one reply.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/lib/process.h"
#include "protocol/base/result.h"
#include "protocol/reply.h"

namespace kenaz::client {

struct ServerOptions {
  std::string server;                  // path of kenaz-server
  std::string program;                 // path of the .fut file
  bool reference = false;              // run on the reference evaluator
  std::string device;                  // empty: the server's choice
  std::vector<std::string> arguments;  // more options for the server
  std::string stderr_path;             // empty: ours
  int64_t memory_limit = 0;            // bytes of address space of the server; 0: none
};

/// The server beside the running executable.
std::string default_server();
/// The command line that starts the server on the program.
std::vector<std::string> server_command(const ServerOptions& options);

struct EntryParam {
  std::string type;
  bool consumed = false;
};

/// Not for use by several threads at once. When the server ends, or does not answer before the
/// deadline, every further command fails with kind kInternal and `broken` tells so; a refusal
/// by the server has kind kProgramFailure and the server's text.
class Connection {
 public:
  /// Starts the server and waits for its greeting.
  static Result<std::unique_ptr<Connection>> start(const ServerOptions& options, Deadline deadline);

  /// For all commands that follow.
  void set_deadline(Deadline deadline) { deadline_ = deadline; }
  bool broken() const { return broken_.has_value(); }
  /// The lines that the server wrote before its greeting.
  const std::vector<std::string>& greeting() const { return greeting_; }

  /// Sends one command; words with spaces are quoted.
  Result<protocol::Reply> command(const std::vector<std::string>& words);
  /// The same; %%% FAILURE becomes an error.
  Result<std::vector<std::string>> request(const std::vector<std::string>& words);
  /// A reply of one line.
  Result<std::string> request_line(const std::vector<std::string>& words);

  Result<std::vector<EntryParam>> inputs(const std::string& entry);
  Result<EntryParam> output(const std::string& entry);
  /// Names and types of a record's fields; nothing if the type is not a record.
  Result<std::optional<std::vector<std::pair<std::string, std::string>>>> fields(
      const std::string& type);

  /// Closes the server's input and waits for its end.
  Result<ExitStatus> finish();

 private:
  explicit Connection(std::unique_ptr<Process> process, ServerOptions options)
      : process_(std::move(process)), options_(std::move(options)) {}
  Result<protocol::Reply> read_reply();
  tl::unexpected<Error> lost(const std::string& why);

  std::unique_ptr<Process> process_;
  ServerOptions options_;
  Deadline deadline_ = Deadline::max();
  std::vector<std::string> greeting_;
  std::optional<Error> broken_;
};

}  // namespace kenaz::client
