// The protocol's commands as data, and a command line taken into words.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/result.h"

namespace kenaz::protocol {

enum class CommandId : uint8_t {
#define COMMAND(e, name, min, max, args, help) e,
#include "protocol/commands.def"
#undef COMMAND
};

struct CommandInfo {
  CommandId id;
  std::string_view name;
  int min_args, max_args;  // max_args -1: any number
  std::string_view args;   // "ENTRY OUT IN.."
  std::string_view help;
};

/// Sorted by name.
std::span<const CommandInfo> commands();
const CommandInfo* find_command(std::string_view name);

inline constexpr size_t kMaxWords = 999;
inline constexpr size_t kMaxLine = size_t{1} << 20;  // bytes, without the newline

/// Words are separated by white space. A word that starts with `"` runs to the next `"`; if there
/// is none, it is dropped with the rest of the line.
Result<std::vector<std::string>> split_line(std::string_view line);
/// The words as a line that split_line takes apart again; fails if a word has a newline or a quote
/// where it cannot be written.
Result<std::string> join_words(std::span<const std::string> words);

}  // namespace kenaz::protocol
