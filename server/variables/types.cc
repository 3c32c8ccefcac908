#include "server/variables/types.h"

#include <algorithm>
#include <set>

namespace kenaz {

namespace {

/// Compares types with all that they consist of, each once.
class Comparison {
 public:
  Comparison(const ProgramTypes& a, const ProgramTypes& b) : a_(a), b_(b) {}

  bool agree(const std::string& name) {
    if (!compared_.insert(name).second) return true;
    const auto x = a_.table.find(name), y = b_.table.find(name);
    return x != a_.table.end() && y != b_.table.end() && agree(x->second, y->second);
  }

 private:
  bool agree(const ValueType& x, const ValueType& y) {
    if (x.kind != y.kind || x.leaves != y.leaves || x.rank != y.rank) return false;
    switch (x.kind) {
      case TypeKind::kPrimitive: return true;
      case TypeKind::kOpaque: return a_.program == b_.program;
      case TypeKind::kArray:
        return x.elemtype == y.elemtype && agree(x.elemtype) && agree(x.fields, y.fields);
      case TypeKind::kRecord: return agree(x.fields, y.fields);
      case TypeKind::kSum: return agree(x.variants, y.variants);
    }
    return false;
  }

  bool agree(const std::vector<ValueType::Field>& x, const std::vector<ValueType::Field>& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), [&](const auto& f, const auto& g) {
      return f.name == g.name && f.type == g.type && agree(f.type);
    });
  }

  bool agree(const std::vector<ValueType::Variant>& x, const std::vector<ValueType::Variant>& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), [&](const auto& v, const auto& w) {
      return v.name == w.name && v.payload == w.payload && v.payload_leaves == w.payload_leaves &&
             std::all_of(v.payload.begin(), v.payload.end(),
                         [&](const std::string& type) { return agree(type); });
    });
  }

  const ProgramTypes &a_, &b_;
  std::set<std::string> compared_;
};

}  // namespace

bool types_agree(const std::string& name, const ProgramTypes& a, const ProgramTypes& b) {
  return &a == &b || Comparison(a, b).agree(name);
}

bool same_types(const ProgramTypes& a, const ProgramTypes& b) {
  if (a.table.size() != b.table.size()) return false;
  Comparison comparison(a, b);
  return std::all_of(a.table.begin(), a.table.end(),
                     [&](const auto& type) { return comparison.agree(type.first); });
}

}  // namespace kenaz
