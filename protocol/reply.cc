#include "protocol/reply.h"

#include <utility>

namespace kenaz::protocol {
namespace {

void add_lines(std::string_view text, std::string& out) {
  while (true) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (line == kOk || line == kFailure) out += ' ';
    out += line;
    out += '\n';
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
    if (text.empty()) return;  // `text` ended with a newline
  }
}

}  // namespace

std::string render(const Reply& reply) {
  std::string out;
  for (const auto& line : reply.output) add_lines(line, out);
  if (reply.failure) {
    out += kFailure;
    out += '\n';
    add_lines(*reply.failure, out);
  }
  out += kOk;
  out += '\n';
  return out;
}

bool ReplyReader::feed(std::string_view line) {
  if (complete_) *this = ReplyReader();
  if (line == kOk) return complete_ = true;
  if (!reply_.failure) {
    if (line == kFailure) {
      reply_.failure = "";
    } else {
      reply_.output.emplace_back(line);
    }
    return false;
  }
  if (!reply_.failure->empty()) *reply_.failure += '\n';
  *reply_.failure += line;
  return false;
}

Reply ReplyReader::take() {
  Reply reply = std::move(reply_);
  *this = ReplyReader();
  return reply;
}

}  // namespace kenaz::protocol
