#include "client/testing/regex.h"

#include <fmt/format.h>
#include <regex.h>

namespace kenaz::testing {

Result<bool> regex_found(const std::string& expression, const std::string& text) {
  if (expression.empty()) return true;
  regex_t compiled;
  const int code = regcomp(&compiled, expression.c_str(), REG_EXTENDED | REG_NOSUB);
  if (code != 0) {
    char message[256];
    regerror(code, &compiled, message, sizeof message);
    return bad_request(fmt::format("the regular expression '{}': {}", expression, message));
  }
  const bool found = regexec(&compiled, text.c_str(), 0, nullptr, 0) == 0;
  regfree(&compiled);
  return found;
}

}  // namespace kenaz::testing
