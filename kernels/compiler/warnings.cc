#include "kernels/compiler/warnings.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "kernels/ir/visit.h"

namespace kenaz::compiler {
namespace {

bool has_attribute(const ir::Stm& s, std::string_view name) {
  return std::find(s.attrs.begin(), s.attrs.end(), name) != s.attrs.end();
}

/// What is to be said of the statement; empty: nothing.
std::string_view complaint(const ir::Stm& s) {
  const auto* check = std::get_if<ir::EAssert>(&s.exp);
  if (check != nullptr && has_attribute(s, "warn(safety_checks)")) {
    return check->cond.is_bool(true) ? "" : "Safety check required at run time.";
  }
  const auto* loop = std::get_if<ir::ELoop>(&s.exp);
  if (loop == nullptr || !has_attribute(s, "warn(unroll)")) return "";
  const auto* counted = std::get_if<ir::LoopFor>(&loop->form);
  return counted != nullptr && counted->bound.is_const()
             ? ""
             : "#[unroll] has no effect: the number of iterations is not known.";
}

bool in_prelude(const SourceRange& range) {
  return range.file == nullptr || range.file->name.rfind("/prelude", 0) == 0;
}

class Walk {
 public:
  explicit Walk(const ir::Program& p) : p_(p) {}

  void body(const ir::Body& b) {
    for (const ir::Stm& s : b.stms) {
      if (const auto text = complaint(s); !text.empty()) add(s, text);
      ir::visit_bodies(s.exp, [&](const ir::Body& inner) { body(inner); });
    }
  }
  std::vector<Diagnostic> sorted() {
    std::stable_sort(found_.begin(), found_.end(), [](const Diagnostic& a, const Diagnostic& b) {
      const std::string name_a = a.range.file ? a.range.file->name : "";
      const std::string name_b = b.range.file ? b.range.file->name : "";
      return std::tie(name_a, a.range.begin) < std::tie(name_b, b.range.begin);
    });
    return std::move(found_);
  }

 private:
  void add(const ir::Stm& s, std::string_view text) {
    // The innermost place in the user's own text.
    ir::ProvId place = s.prov;
    while (place.valid() && in_prelude(p_.provenances[place.index].range)) {
      place = p_.provenances[place.index].caller;
    }
    if (!place.valid()) return;
    Diagnostic d;
    d.severity = Severity::kWarning;
    d.range = p_.provenances[place.index].range;
    d.message = text;
    if (seen_.insert(d.str()).second) found_.push_back(std::move(d));
  }

  const ir::Program& p_;
  std::vector<Diagnostic> found_;
  std::set<std::string> seen_;
};

}  // namespace

std::vector<Diagnostic> warnings_of(const ir::Program& program) {
  Walk walk(program);
  visit_bodies(program, [&](const ir::Body& b) { walk.body(b); });
  return walk.sorted();
}

}  // namespace kenaz::compiler
