#include "kernels/host_code/body_facts.h"

#include <algorithm>
#include <map>
#include <set>

#include "kernels/ir/analysis/uses.h"
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

bool reads_across(const ir::Program& p, const ir::ESeg& e) {
  const auto& dims = e.space.dims;
  if (dims.size() < 2) return false;
  const ir::Atom position = dims[dims.size() - 1].index, segment = dims[dims.size() - 2].index;
  int far_along = 0, far_across = 0;
  bool reads_along = false;
  ir::VarSet on_position{position.var()};  // what depends on it
  for (const auto& s : e.body.stms) {
    bool depends = false;
    ir::for_each_use(p, s, [&](ir::VarId v) { depends = depends || on_position.contains(v); });
    if (depends) on_position.insert(s.pat.begin(), s.pat.end());
    const auto* index = std::get_if<ir::EIndex>(&s.exp);
    if (index == nullptr) continue;
    reads_along = reads_along || depends;
    for (size_t d = 0; d < index->dims.size(); d++) {
      const auto* fix = std::get_if<ir::DimFix>(&index->dims[d]);
      if (fix == nullptr || d + 1 == index->dims.size()) continue;
      if (fix->index == position) far_along++;
      if (fix->index == segment) far_across++;
    }
  }
  return far_across < far_along || (!reads_along && e.kind != ir::SegKind::kScan);
}

SharedReads shared_reads(const ir::Program& p, const ir::ESeg& e, const ir::GridDims& grid) {
  constexpr size_t kSmall = 12;  // statements: a kernel repeats them 16 times
  if (e.body.stms.size() > kSmall || is_slow(e.body)) return {};
  const auto& dims = e.space.dims;
  const bool has_rows = grid.row < grid.column;
  constexpr unsigned kPosition = 1, kColumn = 2, kRow = 4;
  std::map<ir::VarId, unsigned> depends;  // on which of these a variable does
  depends[dims.back().index] = kPosition;
  for (size_t d = grid.column; d < grid.end; d++) depends[dims[d].index] = kColumn;
  for (size_t d = grid.row; d < grid.column; d++) depends[dims[d].index] = kRow;
  const unsigned all = kPosition | kColumn | (has_rows ? kRow : 0);
  SharedReads out;
  for (const auto& s : e.body.stms) {
    unsigned on = 0;
    ir::for_each_use(p, s, [&](ir::VarId v) {
      if (const auto it = depends.find(v); it != depends.end()) on |= it->second;
    });
    for (const ir::VarId v : s.pat) depends[v] = on;
    if (!std::holds_alternative<ir::EIndex>(s.exp) || (on & kPosition) == 0) continue;
    if (on == all) return {};
    out.by_rows = out.by_rows || (has_rows && (on & kRow) == 0);
    out.by_columns = out.by_columns || (on & kColumn) == 0;
  }
  return out;
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
