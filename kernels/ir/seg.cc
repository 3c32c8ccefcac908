#include "kernels/ir/seg.h"

#include <array>

#include "kernels/ir/ir.h"

namespace kenaz::ir {
namespace {

// By value of the enumeration.
constexpr std::array<std::string_view, 3> kStages = {"soacs", "seg", "mem"};
constexpr std::array<std::string_view, 5> kKinds = {"map", "reduce", "scan", "pack", "sort"};
constexpr std::array<std::string_view, 3> kLevels = {"device", "group", "ingroup"};
constexpr std::array<std::string_view, 8> kClasses = {
    "threshold", "group_size", "groups", "tile", "reg_tile", "items", "device_fact", "user"};

template <class E, size_t N>
std::optional<E> from_name(const std::array<std::string_view, N>& names, std::string_view name) {
  for (size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<E>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view stage_name(Stage s) { return kStages.at(static_cast<size_t>(s)); }
std::string_view seg_kind_name(SegKind k) { return kKinds.at(static_cast<size_t>(k)); }
std::string_view seg_level_name(SegLevel l) { return kLevels.at(static_cast<size_t>(l)); }
std::string_view tune_class_name(TuneClass c) { return kClasses.at(static_cast<size_t>(c)); }
std::optional<Stage> stage_from_name(std::string_view n) { return from_name<Stage>(kStages, n); }
std::optional<SegKind> seg_kind_from_name(std::string_view n) {
  return from_name<SegKind>(kKinds, n);
}
std::optional<SegLevel> seg_level_from_name(std::string_view n) {
  return from_name<SegLevel>(kLevels, n);
}
std::optional<TuneClass> tune_class_from_name(std::string_view n) {
  return from_name<TuneClass>(kClasses, n);
}

std::vector<Atom> sizes_of(const std::vector<SegDim>& dims) {
  std::vector<Atom> out;
  for (const SegDim& d : dims) out.push_back(d.size);
  return out;
}

size_t operands_of(const ESeg& e) {
  if (e.kind == SegKind::kPack || e.kind == SegKind::kSort) return e.body.results.size();
  size_t n = 0;
  for (const SegMonoid& m : e.monoids) n += m.op.neutral.size();
  return n;
}

size_t write_results_of(const ESeg& e) {
  size_t n = 0;
  for (const SegWrite& w : e.writes) n += static_cast<size_t>(w.index_rank) + w.dests.size();
  return n;
}

size_t dests_of(const ESeg& e) {
  size_t n = 0;
  for (const SegWrite& w : e.writes) n += w.dests.size();
  return n;
}

}  // namespace kenaz::ir
