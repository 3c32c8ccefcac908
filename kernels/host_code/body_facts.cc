#include "kernels/host_code/body_facts.h"

#include <algorithm>
#include <set>

#include "kernels/ir/visit.h"

namespace kenaz::host_code {

namespace {

/// So many statements, and a driver's compiler takes seconds for a kernel that repeats them.
constexpr size_t kManyStatements = 48;

/// As many statements as a function of the GLSL library is worth.
size_t weight(const ir::Stm& s) {
  const auto* prim = std::get_if<ir::EPrim>(&s.exp);
  const bool function =
      prim != nullptr && prim->op >= ScalarOp::kCbrt && prim->op <= ScalarOp::kErfc;
  return function ? kManyStatements / 2 : 1;
}

void add_reads(const ir::Program& p, const ir::Body& b, std::set<ir::VarId>& made, Reads& reads) {
  for (const ir::Stm& s : b.stms) {
    if (const auto* read = std::get_if<ir::EIndex>(&s.exp)) {
      const ir::Type& type = p.type_of(s.pat[0]);
      if (type.is_scalar()) reads.bytes += prim_size(type.prim);
      for (const auto& dim : read->dims) {
        const auto* fix = std::get_if<ir::DimFix>(&dim);
        const auto* index = fix == nullptr ? nullptr : std::get_if<ir::VarId>(&fix->index.v);
        reads.gathers = reads.gathers || (index != nullptr && made.contains(*index));
      }
    }
    ir::visit_bodies(s.exp, [&](const ir::Body& inner) { add_reads(p, inner, made, reads); });
    made.insert(s.pat.begin(), s.pat.end());
  }
}

}  // namespace

bool is_slow(const ir::Body& b) {
  size_t size = 0;
  for (const ir::Stm& s : b.stms) size += weight(s);
  return size > kManyStatements || std::any_of(b.stms.begin(), b.stms.end(), [](const ir::Stm& s) {
           bool has_bodies = false;
           ir::visit_bodies(s.exp, [&](const ir::Body&) { has_bodies = true; });
           return has_bodies && !std::holds_alternative<ir::EIf>(s.exp);
         });
}

Reads reads_of(const ir::Program& p, const ir::Body& b) {
  Reads reads;
  std::set<ir::VarId> made;
  add_reads(p, b, made, reads);
  return reads;
}

bool may_stop(const ir::Body& b) {
  return std::any_of(b.stms.begin(), b.stms.end(), [](const ir::Stm& s) {
    if (std::holds_alternative<ir::EIf>(s.exp)) {
      bool inside = false;
      ir::visit_bodies(s.exp, [&](const ir::Body& inner) { inside = inside || may_stop(inner); });
      return inside;
    }
    bool has_bodies = std::holds_alternative<ir::EAssert>(s.exp);
    ir::visit_bodies(s.exp, [&](const ir::Body&) { has_bodies = true; });
    return has_bodies;
  });
}

}  // namespace kenaz::host_code
