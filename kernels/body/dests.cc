#include "kernels/body/dests.h"

#include <algorithm>

#include "kernels/body/analysis.h"

namespace kenaz::body {

using ir::VarId;

std::optional<KernelArray> Dests::of(VarId v) const {
  if (auto it = dests_.find(v); it != dests_.end()) return it->second;
  return std::nullopt;
}

namespace {
/// The variable, if there is one, whose memory the k-th result of `s` is.
std::optional<VarId> source_of(const ir::Program& program, const ir::Stm& s, size_t k) {
  if (const auto* atom = std::get_if<ir::EAtom>(&s.exp)) {
    if (!atom->atom.is_const()) return atom->atom.var();
  } else if (const auto* update = std::get_if<ir::EUpdate>(&s.exp)) {
    return update->array;
  } else if (const auto* scatter = std::get_if<ir::EScatter>(&s.exp)) {
    return scatter->dests[k].array;
  } else if (const auto* loop = std::get_if<ir::ELoop>(&s.exp)) {
    const auto& p = loop->params[k];
    if (!p.init.is_const() && consumed_in(program, loop->body).count(p.var)) return p.init.var();
  }
  return std::nullopt;
}
}  // namespace

VarId source_of_result(const ir::Program& program, const ir::Body& b, size_t result) {
  VarId v = b.results[result].var();
  for (auto it = b.stms.rbegin(); it != b.stms.rend(); ++it) {
    for (size_t k = 0; k < it->pat.size(); k++) {
      if (it->pat[k] != v) continue;
      if (const auto source = source_of(program, *it, k)) v = *source;
      break;
    }
  }
  return v;
}

std::optional<VarId> loop_in_place(const ir::Program& program, const ir::Body& b, size_t result) {
  if (b.results[result].is_const()) return std::nullopt;
  VarId v = b.results[result].var();
  for (auto it = b.stms.rbegin(); it != b.stms.rend(); ++it) {
    const auto made = std::find(it->pat.begin(), it->pat.end(), v);
    if (made == it->pat.end()) continue;
    const auto source = source_of(program, *it, static_cast<size_t>(made - it->pat.begin()));
    if (!source) return std::nullopt;
    if (std::holds_alternative<ir::ELoop>(it->exp)) return v;
    v = *source;
  }
  return std::nullopt;
}

void Dests::spread(const ir::Program& program, const ir::Body& b, VarId v, const KernelArray& dest,
                   const HasOwnMemory& has_own_memory) {
  for (auto it = b.stms.rbegin(); it != b.stms.rend(); ++it) {
    for (size_t k = 0; k < it->pat.size(); k++) {
      if (it->pat[k] != v) continue;
      if (std::holds_alternative<ir::ELoop>(it->exp) && has_own_memory(v)) return;
      if (!dests_.emplace(v, dest).second) return;
      const auto source = source_of(program, *it, k);
      if (source) spread(program, b, *source, dest, has_own_memory);
      return;
    }
  }
}

}  // namespace kenaz::body
