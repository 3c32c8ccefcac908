// Versions and the parameters that choose between them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/eval/machine.h"

namespace kenaz::ir::eval {
namespace {

/// Whether two results of versions are the same, but for rounding in another order.
bool alike(PrimType t, uint64_t a, uint64_t b) {
  if (a == b) return true;
  if (!is_float(t)) return false;
  const double x = PrimValue{t, a}.as_double();
  const double y = PrimValue{t, b}.as_double();
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  const double tolerance = t == PrimType::kF64 ? 1e-9 : t == PrimType::kF32 ? 1e-3 : 1e-1;
  return std::abs(x - y) <= tolerance * std::max({1.0, std::abs(x), std::abs(y)});
}

bool alike(PrimType t, const Array& a, const Array& b) {
  if (a.shape != b.shape) return false;
  const int size = prim_size(t);
  const std::byte* x = a.buffer->data.get() + a.offset * size;
  const std::byte* y = b.buffer->data.get() + b.offset * size;
  const int64_t n = count_elements(a.shape).value();
  for (int64_t i = 0; i < n; i++) {
    if (!alike(t, load(x + i * size, size), load(y + i * size, size))) return false;
  }
  return true;
}

}  // namespace

int64_t Machine::tune(TuneId id) const {
  const Tune& t = program.tunes[id.index];
  const auto set = seg_options.tunes.find(t.name);
  return set != seg_options.tunes.end() ? set->second : t.fallback.value_or(1);
}

bool Machine::take(const Atom& a, Loose& out) {
  if (!is_array(a)) {
    out = {bits(a), {}};
    return true;
  }
  const Array* from = array(a.var());
  if (from) out = {0, *from};
  return from != nullptr;
}

void Machine::put(VarId v, Loose value) {
  scalars_[v.index] = value.bits;
  arrays_[v.index] = std::move(value.array);
}

bool Machine::versions(const EVersions& e, const Stm& s) {
  if (seg_options.all_versions) return all_versions(e, s);
  for (const auto& v : e.versions) {
    if (bits(v.test) != 0) return run(v.body) && bind_results(v.body, s.pat);
  }
  return internal("no version's test holds");
}

bool Machine::all_versions(const EVersions& e, const Stm& s) {
  // While the arrays have a second owner, a version that updates them works on copies.
  std::vector<std::pair<VarId, Array>> outside;
  for (const VarId v : free_vars(program, s)) {
    if (is_array(v)) outside.emplace_back(v, arrays_[v.index]);
  }
  std::vector<Loose> expected;
  for (const auto& v : e.versions) {
    const bool is_first = &v == &e.versions.front();
    for (const auto& [var, array] : outside) {
      arrays_[var.index] = array;
      if (array.buffer) array.buffer->has_places = false;
    }
    if (!run(v.body)) {
      if (is_first || error.kind != ErrorKind::kProgramFailure) return false;
      return internal(fmt::format("version {} fails: {}", v.name, error.message));
    }
    for (size_t k = 0; k < s.pat.size(); k++) {
      Loose made;
      if (!take(v.body.results[k], made)) return false;
      if (is_first) {
        expected.push_back(std::move(made));
        continue;
      }
      const Loose& want = expected[k];
      const PrimType t = prim(s.pat[k]);
      if (is_array(s.pat[k]) ? !alike(t, want.array, made.array)
                             : !alike(t, want.bits, made.bits)) {
        return internal(fmt::format("versions {} and {} differ in result {}",
                                    e.versions.front().name, v.name, k));
      }
    }
  }
  for (size_t k = 0; k < s.pat.size(); k++) put(s.pat[k], std::move(expected[k]));
  return true;
}

}  // namespace kenaz::ir::eval
