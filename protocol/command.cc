#include "protocol/command.h"

#include <fmt/format.h>

#include <algorithm>

namespace kenaz::protocol {
namespace {

constexpr CommandInfo kCommands[] = {
#define COMMAND(e, name, min, max, where, reply, args, help) \
  {CommandId::e, #name, min, max, Where::where, ReplyForm::reply, args, help},
#include "protocol/commands.def"
#undef COMMAND
};
static_assert(std::is_sorted(std::begin(kCommands), std::end(kCommands),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace

std::span<const CommandInfo> commands() { return kCommands; }

const CommandInfo* find_command(std::string_view name) {
  const auto* it = std::find_if(std::begin(kCommands), std::end(kCommands),
                                [&](const auto& c) { return c.name == name; });
  return it == std::end(kCommands) ? nullptr : it;
}

std::vector<std::string> split_line(std::string_view line) {
  std::vector<std::string> words;
  size_t i = 0;
  while (true) {
    while (i < line.size() && is_space(line[i])) ++i;
    if (i == line.size()) return words;
    size_t start = i, end = 0;
    if (line[i] == '"') {
      ++start;
      end = line.find('"', start);
      if (end == std::string_view::npos) return words;
      i = end + 1;
    } else {
      while (i < line.size() && !is_space(line[i])) ++i;
      end = i;
    }
    words.emplace_back(line.substr(start, end - start));
  }
}

Result<Request> parse_request(std::string_view line) {
  auto words = split_line(line);
  if (words.empty()) return bad_request("Empty line");
  const CommandInfo* command = find_command(words[0]);
  if (command == nullptr) {
    std::string known;
    for (const auto& c : commands()) known += fmt::format(" {}", c.name);
    return bad_request(fmt::format("Unknown command: {}\nCommands are:{}", words[0], known));
  }
  const auto n = static_cast<int>(words.size()) - 1;
  if (n < command->min_args || (command->max_args >= 0 && n > command->max_args)) {
    return bad_request(fmt::format("Wrong number of arguments: {}\nUsage: {} {}", n, command->name,
                                   command->args));
  }
  words.erase(words.begin());
  return Request{command, std::move(words)};
}

const std::string* bytes_that_follow(const Request& request) {
  switch (request.command->id) {
    case CommandId::kUpload: return request.args.data();
    case CommandId::kLoad: return request.args.data() + 1;
    default: return nullptr;
  }
}

Result<std::string> join_words(std::span<const std::string> words) {
  std::string line;
  for (const auto& word : words) {
    const bool quote =
        word.empty() || word[0] == '"' || std::any_of(word.begin(), word.end(), is_space);
    if (word.find('\n') != std::string::npos || (quote && word.find('"') != std::string::npos)) {
      return bad_request(fmt::format("\"{}\" cannot be written as a word of a command", word));
    }
    if (!line.empty()) line += ' ';
    line += quote ? "\"" + word + "\"" : word;
  }
  return line;
}

}  // namespace kenaz::protocol
