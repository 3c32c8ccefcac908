// Stable partitions that a program has written as sums of flags and a scatter, and radix sorts,
// which are such in a loop. What is recognised is not how they are written but what they come to:
// for every value of the few bits that decide, the place of an element must be the number of
// elements of its class that stand before it, and those of the classes before that.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "kernels/ir/analysis/alias.h"
#include "kernels/ir/analysis/element_terms.h"
#include "kernels/ir/analysis/rename.h"
#include "kernels/ir/visit.h"
#include "kernels/passes/classes.h"
#include "kernels/passes/passes.h"
#include "protocol/base/overloaded.h"

namespace kenaz::passes {
namespace {

using namespace ir;

/// Code for terms in a function on rows of arrays.
class Emitter {
 public:
  explicit Emitter(const Terms& terms) : terms_(terms) {}

  /// Notes the arrays that the term needs rows of. False if there is no code for it.
  bool needs(TermId t) {
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
  bool is_row(TermId t, VarId array) const {
    const auto* row = std::get_if<TermRow>(&terms_.at(t));
    return row != nullptr && row->array == array;
  }
  const std::vector<VarId>& rows() const { return rows_; }
  const std::vector<VarId>& outside() const { return outside_; }

  /// The rows are the function's parameters.
  Atom emit(Builder& b, const std::vector<VarId>& params, TermId t) {
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

 private:
  const Terms& terms_;
  std::vector<VarId> rows_, outside_;
  std::map<TermId, Atom> made_;
};

/// How far the word that a decider takes its bits from is shifted, in a loop: `step` times the
/// loop's index and `start`.
struct Shift {
  int64_t step = 0, start = 0;
};

class Partitions {
 public:
  explicit Partitions(Program& p) : p_(p) {}

  bool program() {
    for (Function& f : p_.functions) body(f.body);
    return found_;
  }

 private:
  /// Host level: lambdas are left alone.
  void body(Body& b) {
    around_.push_back(&b);
    Body out;
    for (size_t n = 0; n < b.stms.size(); ++n) {
      Stm& s = b.stms[n];
      if (auto* loop = std::get_if<ELoop>(&s.exp)) {
        body(loop->body);
      } else if (auto* branch = std::get_if<EIf>(&s.exp)) {
        body(branch->then_body);
        body(branch->else_body);
      }
      if (!by_class(b, n, out) && !by_key(b, n, out)) out.stms.push_back(s);
    }
    around_.pop_back();
    b.stms = std::move(out.stms);
  }

  Terms terms_at(const Body& b, size_t n, const Atom& width) const {
    Terms terms(p_, width);
    for (const Body* other : around_) {
      if (other != &b) terms.add_around(*other);
    }
    size_t first = n;
    while (first > 0 && consumes_fresh(b, first - 1)) --first;
    terms.add(b, first, n);
    return terms;
  }

  /// What the statement consumes, if anything, was made for it: no other array is the same memory.
  bool consumes_fresh(const Body& b, size_t n) const {
    const std::vector<VarId> consumed = consumed_in(p_, b.stms[n]);
    return std::all_of(consumed.begin(), consumed.end(), [&](VarId v) {
      return std::any_of(b.stms.begin(), b.stms.end(), [&](const Stm& s) {
        return s.pat[0] == v &&
               (std::holds_alternative<EReplicate>(s.exp) ||
                std::holds_alternative<EScratch>(s.exp) || std::holds_alternative<ECopy>(s.exp));
      });
    });
  }
  bool is_consumed_before(const Body& b, size_t n, const std::vector<VarId>& arrays) const {
    for (size_t k = 0; k < n; ++k) {
      for (const VarId v : consumed_in(p_, b.stms[k])) {
        if (std::find(arrays.begin(), arrays.end(), v) != arrays.end()) return true;
      }
    }
    return false;
  }

  /// Whether the statement is a scatter that partitions, and is another operation now.
  bool by_class(const Body& b, size_t n, Body& out) {
    const Stm& s = b.stms[n];
    const auto* e = std::get_if<EScatter>(&s.exp);
    if (e == nullptr || !s.attrs.empty()) return false;
    for (const auto& d : e->dests) {
      const Type& t = p_.type_of(d.array);
      if (d.index_rank != 1 || t.dims[0] != e->width) return false;
    }
    Terms terms = terms_at(b, n, e->width);
    const std::vector<TermId> made = terms.results(e->map, e->inputs);
    const size_t dests = e->dests.size();
    for (size_t k = 1; k < dests; ++k) {
      if (made[k] != made[0]) return false;
    }
    Classes classes(terms, e->width);
    if (terms.checks() || !classes.find(made[0])) return false;
    Emitter emitter(terms);
    for (const Decider& d : classes.deciders()) {
      if (!emitter.needs(d.term)) return false;
    }
    if (emitter.rows().empty() || is_consumed_before(b, n, emitter.rows())) return false;
    Builder to(p_, out, s.prov);
    to.certs() = s.certs;
    to.certs().insert(to.certs().end(), terms.certs().begin(), terms.certs().end());
    const bool packs = classes.count() <= kMaxClasses + 1;
    const PrimType number = packs ? PrimType::kI32 : PrimType::kU8;
    // Which of the inputs only the places need shows when nobody uses them.
    std::vector<VarId> inputs = e->inputs;
    inputs.insert(inputs.end(), emitter.rows().begin(), emitter.rows().end());
    std::vector<Type> rows, ret = {{number, {}}};
    for (const VarId v : inputs) rows.push_back(row_type(p_.type_of(v)));
    ret.insert(ret.end(), e->map.ret.begin() + static_cast<std::ptrdiff_t>(dests),
               e->map.ret.end());
    Lambda map = to.lambda(
        rows,
        [&](Builder& in, const std::vector<VarId>& params) {
          Subst renamed;
          for (size_t k = 0; k < e->inputs.size(); ++k) renamed[e->map.params[k]] = params[k];
          Body values = copy_renamed(p_, e->map.body, renamed);
          std::move(values.stms.begin(), values.stms.end(), std::back_inserter(in.body().stms));
          const std::vector<VarId> of_class(params.end() - std::ssize(emitter.rows()),
                                            params.end());
          std::vector<Atom> results = {class_of(in, of_class, classes, emitter, number)};
          results.insert(results.end(), values.results.begin() + std::ssize(e->dests),
                         values.results.end());
          return results;
        },
        ret);
    const int counted = std::max(1, classes.count() - 1);
    const Type first = packs ? Type{PrimType::kI64, {i64(counted)}} : Type{number, {e->width}};
    std::vector<VarId> pat = {p_.new_var(first, packs ? "counts" : "classes")};
    pat.insert(pat.end(), s.pat.begin(), s.pat.end());
    if (packs) {
      to.emit_to(std::move(pat), EPack{e->width, inputs, std::move(map), counted, true});
    } else {
      to.emit_to(std::move(pat), ESort{e->width, inputs, std::move(map)});
    }
    return found_ = true;
  }

  static Atom class_of(Builder& b, const std::vector<VarId>& params, const Classes& classes,
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

  /// A loop that partitions its arrays by some bits of a key in every turn, from the lowest on.
  struct Keyed {
    TermId key;
    PrimType type;
    int bits;  // of the key, the lowest
  };

  /// Whether the statement is a loop that sorts, and is another operation now.
  bool by_key(const Body& b, size_t n, Body& out) {
    const Stm& s = b.stms[n];
    const auto* loop = std::get_if<ELoop>(&s.exp);
    const auto* turns = loop == nullptr ? nullptr : std::get_if<LoopFor>(&loop->form);
    if (turns == nullptr || !turns->bound.is_const() || !s.attrs.empty()) return false;
    const Stm* step = last_step(*loop);
    if (step == nullptr) return false;
    const auto* pack = std::get_if<EPack>(&step->exp);
    const auto* sort = std::get_if<ESort>(&step->exp);
    const Lambda& map = pack != nullptr ? pack->map : sort->map;
    const auto& inputs = pack != nullptr ? pack->inputs : sort->inputs;
    const Atom& width = pack != nullptr ? pack->width : sort->width;
    Terms terms(p_, width);
    for (const Body* other : around_) terms.add_around(*other);
    terms.add_around(loop->body);
    const std::vector<TermId> made = terms.results(map, inputs);
    const auto keyed = keyed_by(terms, *loop, *turns, *step, made, width);
    if (!keyed || terms.checks() || !terms.certs().empty() || !step->certs.empty()) return false;
    Emitter emitter(terms);
    if (!emitter.needs(keyed->key)) return false;
    if (!width.is_const() && is_bound_in(loop->body, width.var())) return false;
    for (const VarId v : emitter.outside()) {
      if (v == turns->index || is_bound_in(loop->body, v)) return false;
    }
    std::vector<VarId> params, starts;
    for (const auto& param : loop->params) {
      if (param.init.is_const() || p_.type_of(param.var).dims[0] != width) return false;
      params.push_back(param.var);
      starts.push_back(param.init.var());
    }
    for (const VarId row : emitter.rows()) {
      if (std::find(params.begin(), params.end(), row) == params.end()) return false;
    }
    emit_sort(s, width, *keyed, emitter, params, starts, out);
    return found_ = true;
  }

  static bool is_bound_in(const Body& b, VarId v) {
    return std::any_of(b.stms.begin(), b.stms.end(), [&](const Stm& s) {
      return std::find(s.pat.begin(), s.pat.end(), v) != s.pat.end();
    });
  }

  /// The partition whose arrays the loop's body results in, all of them and nothing else.
  static const Stm* last_step(const ELoop& loop) {
    const auto& results = loop.body.results;
    for (const Stm& s : loop.body.stms) {
      const auto* pack = std::get_if<EPack>(&s.exp);
      const bool is = std::holds_alternative<ESort>(s.exp) || (pack != nullptr && pack->rest);
      if (!is || !s.attrs.empty() || s.pat.size() != results.size() + 1) continue;
      const bool all = std::all_of(results.begin(), results.end(), [&](const Atom& r) {
        return !r.is_const() && std::find(s.pat.begin() + 1, s.pat.end(), r.var()) != s.pat.end();
      });
      if (all) return &s;
    }
    return nullptr;
  }

  std::optional<Keyed> keyed_by(Terms& terms, const ELoop& loop, const LoopFor& turns,
                                const Stm& step, const std::vector<TermId>& made,
                                const Atom& width) const {
    Keyed out{0, PrimType::kU8, 0};
    for (size_t k = 0; k < loop.params.size(); ++k) {
      const VarId result = loop.body.results[k].var();
      const auto at = std::find(step.pat.begin() + 1, step.pat.end(), result) - step.pat.begin();
      const auto* row = std::get_if<TermRow>(&terms.at(made[static_cast<size_t>(at)]));
      if (row == nullptr || row->array != loop.params[k].var) return {};
    }
    Classes classes(terms, width);
    if (!classes.find_number(made[0]) || classes.deciders().empty()) return {};
    // Each decider is a field of the number, which has so many bits.
    std::vector<Shift> shifts;
    int64_t bits = 0;
    for (const Decider& d : classes.deciders()) {
      const auto word = shifted_word(terms, d);
      const auto shift = word ? shift_by(terms, word->amount, turns.index) : std::nullopt;
      if (!shift || shift->start < 0) return {};
      if (!shifts.empty() && (word->word != out.key || shift->step != shifts[0].step)) return {};
      out.key = word->word;
      out.type = word->type;
      shifts.push_back(*shift);
      bits += log2(d.values);
    }
    if (shifts[0].step != bits || !are_all_bits(shifts, classes.deciders(), bits)) return {};
    for (size_t v = 0; v < classes.classes().size(); ++v) {
      const auto values = classes.values(v);
      int64_t number = 0;
      for (size_t k = 0; k < values.size(); ++k) {
        number += static_cast<int64_t>(values[k]) << shifts[k].start;
      }
      if (number != classes.classes()[v]) return {};
    }
    const int64_t count = turns.bound.constant().as_i64();
    if (count < 1 || count > 64 || count * bits > 8 * int64_t{prim_size(out.type)}) return {};
    out.bits = static_cast<int>(count * bits);
    return out;
  }

  /// Whether the fields are the lowest `bits` bits, each bit of one field.
  static bool are_all_bits(const std::vector<Shift>& shifts, const std::vector<Decider>& fields,
                           int64_t bits) {
    if (bits >= 64) return false;
    uint64_t seen = 0;
    for (size_t k = 0; k < fields.size(); ++k) {
      const int64_t width = log2(fields[k].values);
      if (shifts[k].start + width > bits) return false;
      const uint64_t field = ((uint64_t{1} << width) - 1) << shifts[k].start;
      if ((seen & field) != 0) return false;
      seen |= field;
    }
    return seen == (uint64_t{1} << bits) - 1;
  }

  static int64_t log2(uint64_t n) {
    int64_t bits = 0;
    while ((uint64_t{1} << bits) < n) ++bits;
    return bits;
  }

  struct ShiftedWord {
    TermId word, amount;
    PrimType type;
  };
  /// Conversions between integers leave the lowest bits, of which no more than six are taken.
  static std::optional<ShiftedWord> shifted_word(const Terms& terms, const Decider& d) {
    const auto* mask = std::get_if<TermPrim>(&terms.at(d.term));
    if (mask == nullptr || mask->op != ScalarOp::kAnd || !is_integer(mask->type)) return {};
    TermId t =
        std::holds_alternative<PrimValue>(terms.at(mask->args[0])) ? mask->args[1] : mask->args[0];
    for (;;) {
      const auto* e = std::get_if<TermPrim>(&terms.at(t));
      if (e == nullptr || !is_integer(e->type)) return {};
      if (e->op == ScalarOp::kShr || e->op == ScalarOp::kLShr) {
        return ShiftedWord{e->args[0], e->args[1], e->type};
      }
      if (e->op != ScalarOp::kConvert || !is_integer(e->to)) return {};
      t = e->args[0];
    }
  }

  /// The numbers are small: at most 64 turns of at most 64.
  static std::optional<Shift> shift_by(const Terms& terms, TermId t, VarId index) {
    const Term& term = terms.at(t);
    if (const auto* v = std::get_if<VarId>(&term)) {
      return *v == index ? std::optional(Shift{1, 0}) : std::nullopt;
    }
    if (const auto* c = std::get_if<PrimValue>(&term)) {
      if (!is_integer(c->type) || std::abs(c->as_i64()) > 64) return {};
      return Shift{0, c->as_i64()};
    }
    const auto* e = std::get_if<TermPrim>(&term);
    if (e == nullptr || !is_integer(e->type)) return {};
    std::vector<Shift> args;
    for (const TermId a : e->args) {
      const auto shift = shift_by(terms, a, index);
      if (!shift) return {};
      args.push_back(*shift);
    }
    switch (e->op) {
      case ScalarOp::kConvert: return is_integer(e->to) ? std::optional(args[0]) : std::nullopt;
      case ScalarOp::kAdd: return Shift{args[0].step + args[1].step, args[0].start + args[1].start};
      case ScalarOp::kMul:
        if (args[0].step != 0) std::swap(args[0], args[1]);
        if (args[0].step != 0) return {};
        return Shift{args[0].start * args[1].step, args[0].start * args[1].start};
      case ScalarOp::kShl:
        if (args[1].step != 0 || args[1].start < 0 || args[1].start > 5) return {};
        return Shift{args[0].step << args[1].start, args[0].start << args[1].start};
      default: return {};
    }
  }

  static PrimType word_of(PrimType t) {
    switch (prim_size(t)) {
      case 1: return PrimType::kU8;
      case 2: return PrimType::kU16;
      case 4: return PrimType::kU32;
      default: return PrimType::kU64;
    }
  }

  /// The array that is its own key, if there is one, is the sorted keys.
  void emit_sort(const Stm& s, const Atom& width, const Keyed& keyed, Emitter& emitter,
                 const std::vector<VarId>& params, const std::vector<VarId>& starts, Body& out) {
    Builder to(p_, out, s.prov);
    to.certs() = s.certs;
    const PrimType word = word_of(keyed.type);
    const bool whole = keyed.bits == 8 * prim_size(word);
    std::vector<VarId> pat = {p_.new_var({word, {width}}, "keys")};
    std::vector<size_t> values;
    std::vector<Type> rows, ret = {{word, {}}};
    for (size_t k = 0; k < params.size(); ++k) {
      rows.push_back(row_type(p_.type_of(params[k])));
      if (whole && emitter.is_row(keyed.key, params[k]) && rows[k].prim == word) {
        pat[0] = s.pat[k];
        continue;
      }
      values.push_back(k);
      pat.push_back(s.pat[k]);
      ret.push_back(rows[k]);
    }
    Lambda map = to.lambda(
        rows,
        [&](Builder& in, const std::vector<VarId>& row) {
          std::vector<VarId> of_key;
          for (const VarId v : emitter.rows()) {
            const auto at = std::find(params.begin(), params.end(), v) - params.begin();
            of_key.push_back(row[static_cast<size_t>(at)]);
          }
          Atom key = in.convert(emitter.emit(in, of_key, keyed.key), word);
          if (!whole) {
            const int64_t mask = (int64_t{1} << keyed.bits) - 1;
            key = in.prim(ScalarOp::kAnd, {key, PrimValue::of_int(word, mask)});
          }
          std::vector<Atom> results = {key};
          for (const size_t k : values) results.emplace_back(row[k]);
          return results;
        },
        ret);
    to.emit_to(std::move(pat), ESort{width, starts, std::move(map)});
  }

  Program& p_;
  std::vector<const Body*> around_;
  bool found_ = false;
};

}  // namespace

void partitions(Program& p) {
  if (!Partitions(p).program()) return;
  remove_dead_code(p);
  sorts(p);
  packs(p);
  remove_dead_code(p);
}

}  // namespace kenaz::passes
