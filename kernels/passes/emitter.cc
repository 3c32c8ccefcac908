#include "kernels/passes/emitter.h"

#include <algorithm>
#include <utility>

#include "protocol/base/overloaded.h"

namespace kenaz::passes {

using namespace ir;

bool Emitter::needs(TermId t) {
  const auto known = needed_.find(t);
  if (known != needed_.end()) return known->second;
  const bool has_code = look_at(t);
  needed_.emplace(t, has_code);
  return has_code;
}

bool Emitter::look_at(TermId t) {
  return std::visit(Overloaded{
                        [](const PrimValue&) { return true; },
                        [&](VarId v) {
                          outside_.push_back(v);
                          return true;
                        },
                        [&](const TermRow& r) {
                          if (std::find(rows_.begin(), rows_.end(), r.array) == rows_.end()) {
                            rows_.push_back(r.array);
                          }
                          return true;
                        },
                        [&](const TermPrim& e) {
                          return std::all_of(e.args.begin(), e.args.end(),
                                             [&](TermId a) { return needs(a); });
                        },
                        [](const auto&) { return false; },
                    },
                    terms_.at(t));
}

bool Emitter::is_row(TermId t, VarId array) const {
  const auto* row = std::get_if<TermRow>(&terms_.at(t));
  return row != nullptr && row->array == array;
}

Atom Emitter::emit(Builder& b, const std::vector<VarId>& params, TermId t) {
  const auto known = made_.find(t);
  if (known != made_.end()) return known->second;
  const Atom made =
      std::visit(Overloaded{
                     [](const PrimValue& v) -> Atom { return v; },
                     [](VarId v) -> Atom { return v; },
                     [&](const TermRow& r) -> Atom {
                       const auto at = std::find(rows_.begin(), rows_.end(), r.array);
                       return params[static_cast<size_t>(at - rows_.begin())];
                     },
                     [&](const TermPrim& e) -> Atom {
                       std::vector<Atom> args;
                       for (const TermId a : e.args) args.push_back(emit(b, params, a));
                       const Type type{scalar_op_result(e.op, e.type, e.to), {}};
                       return b.emit(EPrim{e.op, e.type, e.to, std::move(args)}, type);
                     },
                     [](const auto&) -> Atom { return {}; },
                 },
                 terms_.at(t));
  made_.emplace(t, made);
  return made;
}

Atom class_of(Builder& b, const std::vector<VarId>& params, const Classes& classes,
              Emitter& emitter, PrimType type) {
  const auto& deciders = classes.deciders();
  std::vector<Atom> bits;
  for (const Decider& d : deciders) bits.push_back(emitter.emit(b, params, d.term));
  const auto& all = classes.classes();
  const auto is_value = [&](size_t v) { return all[v] == static_cast<int>(v); };
  bool same = deciders.size() == 1;
  for (size_t v = 0; v < all.size(); ++v) same = same && is_value(v);
  if (same) return b.convert(bits[0], type);
  Atom made = PrimValue::of_int(type, all.back());
  for (size_t v = all.size() - 1; v-- > 0;) {
    Atom is = PrimValue::of_bool(true);
    const auto values = classes.values(v);
    for (size_t k = 0; k < bits.size(); ++k) {
      const PrimType of = b.program().type_of(bits[k]).prim;
      const PrimValue value = of == PrimType::kBool
                                  ? PrimValue::of_bool(values[k] != 0)
                                  : PrimValue::of_int(of, static_cast<int64_t>(values[k]));
      const Atom equal = b.eq(bits[k], value);
      is = k == 0 ? equal : b.logical_and(is, equal);
    }
    made = b.select(is, PrimValue::of_int(type, all[v]), made);
  }
  return made;
}

}  // namespace kenaz::passes
