#include "kernels/primitives/monoid_text.h"

#include <fmt/format.h>

#include "kernels/glsl/types.h"

namespace kenaz::primitives {

using glsl::glsl_type;

FlatMonoids::FlatMonoids(const std::vector<MonoidText>& monoids) : monoids_(monoids) {
  for (const auto& m : monoids) {
    types.insert(types.end(), m.types.begin(), m.types.end());
    neutral.insert(neutral.end(), m.neutral.begin(), m.neutral.end());
  }
}

std::string FlatMonoids::numbered(const std::string& name, size_t k) const {
  const size_t bracket = name.find('[');
  if (bracket == std::string::npos) return fmt::format("{}{}", name, k);
  return fmt::format("{}{}{}", name.substr(0, bracket), k, name.substr(bracket));
}

std::string FlatMonoids::declare_neutral(const std::string& name) const {
  std::string s;
  for (size_t k = 0; k < size(); k++) {
    s += fmt::format("{} {}{} = {}; ", glsl_type(types[k]), name, k, neutral[k]);
  }
  return s;
}

std::string FlatMonoids::declare(const std::string& name) const {
  std::string s;
  for (size_t k = 0; k < size(); k++) s += fmt::format("{} {}{}; ", glsl_type(types[k]), name, k);
  return s;
}

std::string FlatMonoids::list(const std::string& name) const {
  std::string s;
  for (size_t k = 0; k < size(); k++) s += fmt::format("{}{}", k ? ", " : "", numbered(name, k));
  return s;
}

std::string FlatMonoids::assign(const std::string& to, const std::string& from) const {
  std::string s;
  for (size_t k = 0; k < size(); k++) {
    s += fmt::format("{} = {}; ", numbered(to, k), numbered(from, k));
  }
  return s;
}

// Through fresh variables, since an out parameter is undefined where its argument is read too.
std::string FlatMonoids::combine(const std::string& result, const std::string& a,
                                 const std::string& b) const {
  std::string s = "{ ";
  size_t at = 0;
  for (const auto& m : monoids_) {
    std::string args, outs;
    for (size_t k = 0; k < m.types.size(); k++) {
      s += fmt::format("{} c{}; ", glsl_type(m.types[k]), at + k);
      args += (k ? ", " : "") + numbered(a, at + k);
    }
    for (size_t k = 0; k < m.types.size(); k++) args += ", " + numbered(b, at + k);
    for (size_t k = 0; k < m.types.size(); k++) outs += fmt::format(", c{}", at + k);
    s += fmt::format("{}({}{}); ", m.function, args, outs);
    at += m.types.size();
  }
  return s + assign(result, "c") + "}";
}

}  // namespace kenaz::primitives
