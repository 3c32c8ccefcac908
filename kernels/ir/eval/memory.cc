// Stage mem: arrays at places, in memory whose contents are worthless until something is made
// there, and which nobody may use any more after what the analysis says is the last use.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "kernels/ir/analysis/lifetimes.h"
#include "kernels/ir/eval/machine.h"
#include "kernels/ir/visit.h"

namespace kenaz::ir::eval {

void Machine::poison(const Array& a, PrimType type) {
  constexpr int kPoison = 0xa5;  // a large negative integer, a tiny float
  const int size = prim_size(type);
  const int64_t bytes = (count_elements(a.shape) * Size(size)).value();
  std::memset(a.buffer->data.get() + a.offset * size, kPoison, static_cast<size_t>(bytes));
}

bool Machine::make(VarId v, const std::vector<int64_t>& shape, Array& out, bool is_whole) {
  const auto& place = program.vars[v.index].place;
  const bool negative = std::any_of(shape.begin(), shape.end(), [](int64_t d) { return d < 0; });
  if (!place || negative) return allocate(prim(v), shape, out);
  if (array(place->memory) == nullptr) return false;
  Array& memory = arrays_[place->memory.index];
  // Arrays at other places share it; anybody else, who may have it from before, keeps what it had.
  if (!memory.buffer->has_places && !make_unique(memory, prim(v))) return false;
  memory.buffer->has_places = true;
  const int64_t start = integer(place->start), count = count_elements(shape).value();
  const int64_t room = count_elements(memory.shape).value();
  if (count > 0 && (start < 0 || start > room || count > room - start)) {
    return internal(
        fmt::format("{} elements from {} on are placed in memory of {}", count, start, room));
  }
  out = {memory.buffer, memory.offset + (count > 0 ? start : 0), shape};
  if (!is_whole) poison(out, prim(v));
  return true;
}

bool Machine::copy_to(VarId v, const Array& from) {
  Array out;
  if (!make(v, from.shape, out) || !copy_elements(from, prim(v), out)) return false;
  arrays_[v.index] = std::move(out);
  return true;
}

bool Machine::is_there(VarId v, const std::optional<Place>& whole, const Array& to, int64_t start,
                       bool& there) {
  const auto& place = program.vars[v.index].place;
  there = place && whole && place->memory == whole->memory;
  const Array& a = arrays_[v.index];
  if (!there || count_elements(a.shape).value() == 0) return true;
  if (a.buffer == to.buffer && a.offset == start) return true;
  return internal(fmt::format("{}_{} is not at the place where it belongs",
                              program.vars[v.index].name, v.index));
}

void Machine::find_last_uses(const Body& body, const Aliases& aliases) {
  const auto last = last_uses(program, aliases, body);
  auto& forgotten = last_uses_[&body];
  forgotten.resize(body.stms.size());
  for (const Stm& s : body.stms) {
    for (const VarId v : s.pat) {
      if (!is_array(v)) continue;
      const size_t n = last.at(aliases.of(v));
      if (n < forgotten.size()) forgotten[n].push_back(v);
    }
    const bool is_control = std::holds_alternative<EIf>(s.exp) ||
                            std::holds_alternative<ELoop>(s.exp) ||
                            std::holds_alternative<EVersions>(s.exp);
    if (is_control) visit_bodies(s.exp, [&](const Body& b) { find_last_uses(b, aliases); });
  }
}

bool Machine::run_and_forget(const Body& body, const std::vector<std::vector<VarId>>& forgotten) {
  for (size_t n = 0; n < body.stms.size(); n++) {
    if (!run_stm(body.stms[n])) return false;
    for (const VarId v : forgotten[n]) arrays_[v.index] = {};
  }
  return true;
}

}  // namespace kenaz::ir::eval
