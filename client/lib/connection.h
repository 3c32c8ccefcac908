// A conversation with a server: commands and replies, and the bytes of values.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/lib/process.h"
#include "client/lib/stream.h"
#include "protocol/base/result.h"
#include "protocol/reply.h"

namespace kenaz::client {

struct ServerOptions {
  std::string server;      // path of kenaz-server, or of any server executable
  std::string program;     // path of the .fut file; empty: `server` needs none
  bool reference = false;  // run on the reference evaluator
  std::string stage;       // .. at this stage of the compiler; empty: the server's choice
  std::string device;      // empty: the server's choice
  std::vector<std::string> arguments;  // more options for the server
  std::string stderr_path;             // empty: ours
  int64_t memory_limit = 0;            // bytes of address space of the server; 0: none
  bool ignores_interrupts = false;     // SIGINT, as of Ctrl-C on the terminal, is for us alone
};

struct ConnectOptions {
  std::string token;         // empty: none is shown
  std::string session_name;  // a session that outlives the connection; empty: one's own
  std::string ca_file;       // authorities for tls://, PEM; empty: the system's
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
  /// Starts the server and waits for its greeting. Kind kCompile if the server rejects the program:
  /// what it says of that, or nothing if its standard error is ours.
  static Result<std::unique_ptr<Connection>> start(const ServerOptions& options, Deadline deadline);
  /// The two halves of `start`, so that several servers can compile at the same time: a server that
  /// has not greeted, for which nothing can be asked, and the wait for its greeting.
  static Result<std::unique_ptr<Connection>> launch(const ServerOptions& options);
  Status wait_for_greeting(Deadline deadline);
  /// Connects to a server that runs already: tcp://HOST:PORT, tls://HOST:PORT, unix://PATH.
  static Result<std::unique_ptr<Connection>> connect(std::string_view url,
                                                     const ConnectOptions& options,
                                                     Deadline deadline);

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

  // The two halves of a command. Any number may be sent before their replies are received, which
  // then come in the same order.
  /// Fails only if the words cannot be a command or the connection is broken already; what goes
  /// wrong in writing shows when the reply is received.
  Status send(const std::vector<std::string>& words);
  /// A line as it is (no newline in it).
  Status send_line(std::string_view line);
  /// Bytes that belong to the command sent last: those of an `upload`.
  Status send_bytes(std::string_view bytes);
  Result<protocol::Reply> receive();

  /// The reply to `download`, up to the number of bytes; or the server's refusal, which is all of
  /// the reply then. `take` gets the bytes, in any portions. `receive_end`
  /// skips what has not been taken; its failure means that the bytes are not to be trusted.
  /// `elsewhere`: values of at most so many bytes are in shared memory, and do not come here.
  Result<int64_t> receive_count(int64_t elsewhere = -1);
  Status take(std::span<std::byte> out);
  int64_t untaken() const { return untaken_; }
  Status receive_end();

  /// Breaks the connection: for whoever cannot receive the rest of a reply.
  void give_up(const std::string& why);

  /// Tells the server that there are no more commands and waits for its end.
  Result<ExitStatus> finish();

 private:
  explicit Connection(std::unique_ptr<Stream> stream, std::string stderr_path)
      : stream_(std::move(stream)), stderr_path_(std::move(stderr_path)), chunk_(kChunk) {}
  Status greet();
  /// The next line without its end; marks the connection broken if there is none.
  Result<std::string> read_line();
  Status skip();
  tl::unexpected<Error> lost(const std::string& why);
  tl::unexpected<Error> lost_late(const Error& error);

  static constexpr size_t kChunk = 65536;
  std::unique_ptr<Stream> stream_;
  std::string stderr_path_;  // where the server's standard error goes; empty: not to a file
  Deadline deadline_ = Deadline::max();
  std::vector<std::string> greeting_;
  std::optional<Error> broken_;
  bool greeted_ = false;
  std::vector<char> chunk_;  // received, unread from begin_ to end_
  size_t begin_ = 0, end_ = 0;
  int64_t untaken_ = 0;  // bytes of a download
};

}  // namespace kenaz::client
