// The protocol's commands as data, and the parsing of a command line.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/result.h"

namespace kenaz::protocol {

enum class CommandId : uint8_t {
#define COMMAND(e, name, min, max, where, reply, args, help) e,
#include "protocol/commands.def"
#undef COMMAND
};

/// What running a command needs.
enum class Where : uint8_t {
  kNow,         // the session's own bookkeeping: quick, runs at once
  kDevice,      // the engine, whose turn it waits for
  kStream,      // the engine, and bytes that follow the command or its reply
  kFile,        // the engine in turn with a file of the server's, or with another engine
  kAside,       // no engine, but time: nothing that others wait for
  kConnection,  // the connection; the session knows nothing of it
};

/// What the reply holds if the command succeeds.
enum class ReplyForm : uint8_t {
  kNothing,
  kLine,   // one line
  kLines,  // any number
  kCall,   // "runtime: MICROSECONDS", after log lines if there are any
  kData,   // a line with a number of bytes, and the bytes
};

struct CommandInfo {
  CommandId id;
  std::string_view name;
  int min_args, max_args;  // max_args -1: any number
  Where where;
  ReplyForm reply;
  std::string_view args;  // "ENTRY OUT IN.."
  std::string_view help;
};

/// Sorted by name.
std::span<const CommandInfo> commands();
const CommandInfo* find_command(std::string_view name);

inline constexpr size_t kMaxLine = size_t{1} << 20;  // bytes, without the newline, by default

/// Words are separated by white space. A word that starts with `"` runs to the next `"`; if there
/// is none, it is dropped with the rest of the line.
std::vector<std::string> split_line(std::string_view line);

struct Request {
  const CommandInfo* command;
  std::vector<std::string> args;
};

/// Parses a line into a command and checks the number of its arguments.
Result<Request> parse_request(std::string_view line);

/// The word that says how many bytes of the client's follow the command; null: none do.
const std::string* bytes_that_follow(const Request& request);

/// Joins words into a line that split_line splits into the same words. Fails if a word contains a
/// newline, or a quote where none can be written.
Result<std::string> join_words(std::span<const std::string> words);

}  // namespace kenaz::protocol
