// Command lines: whatever is taken apart can be put together again, and replies survive the wire.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/base/check.h"
#include "protocol/command.h"
#include "protocol/reply.h"

using namespace kenaz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view line = text.substr(0, text.find('\n'));
  const auto words = protocol::split_line(line);
  for (const auto& word : words) CHECK(word.find('\n') == std::string::npos);
  if (const auto joined = protocol::join_words(words)) {
    CHECK(protocol::split_line(*joined) == words);
  }
  const auto request = protocol::parse_request(line);
  CHECK(request || !request.error().message.empty());
  if (request) {
    const auto n = static_cast<int>(request->args.size());
    CHECK(n >= request->command->min_args);
    CHECK(request->command->max_args < 0 || n <= request->command->max_args);
  }

  // As a reply: any text is told apart from the markers.
  protocol::Reply reply;
  reply.output.emplace_back(line);
  if (line.size() < text.size()) reply.failure = std::string(text.substr(line.size() + 1));
  const std::string wire = protocol::render(reply);
  protocol::ReplyReader reader;
  size_t start = 0;
  for (size_t end = 0; (end = wire.find('\n', start)) != std::string::npos; start = end + 1) {
    const bool complete = reader.feed(std::string_view(wire).substr(start, end - start));
    CHECK(complete == (end + 1 == wire.size()));
  }
  CHECK(reader.take().failure.has_value() == reply.failure.has_value());
  return 0;
}
