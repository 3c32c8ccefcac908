#include "kernels/futhark/check/warnings.h"

#include <fmt/format.h>

#include <algorithm>

#include "protocol/base/overloaded.h"

namespace kenaz::check {

namespace {

constexpr size_t kMaxWarnings = 50;

const char* const kTexts[] = {
#define WARNING(kind, text) text,
#include "kernels/futhark/check/warnings.def"
#undef WARNING
};

}  // namespace

void Warnings::add(Warning kind, const SourceRange& range, const std::string& part) {
  if (entries_.size() >= kMaxWarnings) return;
  const auto known = [&](const Entry& e) {
    const SourceRange& r = e.diagnostic.range;
    return e.kind == kind && r.file == range.file && r.begin == range.begin && r.end == range.end;
  };
  if (std::any_of(entries_.begin(), entries_.end(), known)) return;
  Diagnostic d{Severity::kWarning, range, "", "", {}};
  d.message = fmt::format(fmt::runtime(kTexts[static_cast<size_t>(kind)]), part);
  entries_.push_back({kind, std::move(d)});
}

std::vector<Diagnostic> Warnings::sorted() const {
  std::vector<const SourceFile*> files;
  const auto number = [&](const Diagnostic& d) {
    return std::find(files.begin(), files.end(), d.range.file.get()) - files.begin();
  };
  std::vector<Diagnostic> out;
  for (const Entry& e : entries_) {
    if (static_cast<size_t>(number(e.diagnostic)) == files.size()) {
      files.push_back(e.diagnostic.range.file.get());
    }
    out.push_back(e.diagnostic);
  }
  std::stable_sort(out.begin(), out.end(), [&](const Diagnostic& a, const Diagnostic& b) {
    const auto i = number(a), j = number(b);
    return i != j ? i < j : a.range.begin < b.range.begin;
  });
  return out;
}

bool may_contain_array(const core::TypePtr& t) {
  return std::visit(
      Overloaded{
          [](const core::TPrim&) { return false; }, [](const core::TArrow&) { return false; },
          [](const core::TRecord& r) {
            return std::any_of(r.fields.begin(), r.fields.end(),
                               [](const auto& f) { return may_contain_array(f.second); });
          },
          [](const core::TSum& s) {
            return std::any_of(s.constructors.begin(), s.constructors.end(), [](const auto& c) {
              return std::any_of(c.second.begin(), c.second.end(), may_contain_array);
            });
          },
          [](const auto&) { return true; }},
      t->node);
}

}  // namespace kenaz::check
