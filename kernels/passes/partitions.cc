// Stable partitions that a program has written as sums of flags and a scatter, and radix sorts,
// which are such in a loop. What is recognised is not how they are written but what they come to:
// for every value of the few bits that decide, the place of an element must be the number of
// elements of its class that stand before it, and those of the classes before that.
#include <algorithm>

#include "kernels/ir/analysis/alias.h"
#include "kernels/ir/analysis/element_terms.h"
#include "kernels/ir/analysis/rename.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/visit.h"
#include "kernels/passes/classes.h"
#include "kernels/passes/emitter.h"
#include "kernels/passes/passes.h"
#include "kernels/passes/sort_key.h"

namespace kenaz::passes {
namespace {

using namespace ir;

class Partitions {
 public:
  explicit Partitions(Program& p) : p_(p) {}

  bool program() {
    for (Function& f : p_.functions) body(f.body);
    return found_;
  }

 private:
  /// At host level, and sorts in maps whose rows have all the same length: flattening makes one
  /// sort of them.
  void body(Body& b) {
    around_.push_back(&b);
    Body out;
    for (size_t n = 0; n < b.stms.size(); ++n) {
      Stm& s = b.stms[n];
      if (by_turns(b, n, out)) continue;
      if (auto* loop = std::get_if<ELoop>(&s.exp)) {
        if (!in_map_ || is_uniform(*loop)) body(loop->body);
      } else if (auto* branch = std::get_if<EIf>(&s.exp); branch != nullptr && !in_map_) {
        body(branch->then_body);
        body(branch->else_body);
      } else if (auto* map = std::get_if<ESoac>(&s.exp); map != nullptr && s.attrs.empty()) {
        elements(s, map->map.body);
      }
      if (in_map_ || !by_class(b, n, out)) out.stms.push_back(s);
    }
    around_.pop_back();
    b.stms = std::move(out.stms);
  }

  void elements(const Stm& map, Body& b) {
    const bool outermost = !in_map_;
    if (outermost) {
      inside_.clear();
      for_each_bound(map, [&](VarId v) { inside_.insert(v); });
    }
    in_map_ = true;
    body(b);
    in_map_ = !outermost;
  }

  /// Of sizes: the same for all elements of the maps around.
  bool is_uniform(const Atom& a) const {
    return !in_map_ || a.is_const() || !inside_.contains(a.var());
  }
  bool is_uniform(const ELoop& loop) const {
    const auto* turns = std::get_if<LoopFor>(&loop.form);
    return turns != nullptr && is_uniform(turns->bound) &&
           std::all_of(loop.params.begin(), loop.params.end(), [&](const auto& param) {
             const auto& dims = p_.type_of(param.var).dims;
             return std::all_of(dims.begin(), dims.end(),
                                [&](const Atom& d) { return is_uniform(d); });
           });
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

  /// A turn's partition in a loop: a scatter, or an EPack or ESort that was there.
  struct Step {
    size_t at;  // in the loop's body
    Atom width;
    const Lambda* map;
    const std::vector<VarId>* inputs;
    size_t decides;           // so many results of the map say where an element goes
    size_t first;             // of the pattern's arrays
    std::optional<int> rest;  // of an EPack: the class of all that have no other one
    bool scatters;
  };

  /// Whether the statement is a loop that sorts, and is another operation now: each turn is a
  /// stable partition of the arrays that the loop has, by what their elements are and the turn's
  /// number.
  bool by_turns(const Body& b, size_t n, Body& out) {
    constexpr int64_t kMostTurns = 64;
    const Stm& s = b.stms[n];
    const auto* loop = std::get_if<ELoop>(&s.exp);
    const auto* turns = loop == nullptr ? nullptr : std::get_if<LoopFor>(&loop->form);
    if (turns == nullptr || !s.attrs.empty() || loop->params.empty()) return false;
    const auto step = last_step(*loop);
    if (!step || !is_sortable(*loop, *step)) return false;
    Terms terms = terms_at(loop->body, step->at, step->width);
    const auto count = terms.constant_if_not_empty(turns->bound, loop->params[0].var);
    if (!count || count->as_i64() < 1 || count->as_i64() > kMostTurns) return false;
    SortKey key(terms);
    for (int64_t turn = 0; turn < count->as_i64(); ++turn) {
      terms.set(turns->index, PrimValue::of_int(p_.type_of(turns->index).prim, turn));
      const std::vector<TermId> made = terms.results(*step->map, *step->inputs);
      Classes classes(terms, step->width);
      if (!moves_all(*loop, *step, terms, made)) return false;
      if (!(step->scatters ? classes.find(made[0]) : classes.find_number(made[0]))) return false;
      if (step->rest) classes.put_others_into(*step->rest);
      if (!key.add(classes)) return false;
    }
    Emitter emitter(terms);
    if (terms.checks() || !terms.certs().empty() || !key.needs(emitter)) return false;
    std::vector<VarId> params;
    for (const auto& param : loop->params) params.push_back(param.var);
    const auto is_own = [&](VarId v) {
      return std::find(params.begin(), params.end(), v) != params.end();
    };
    const auto changes = [&](VarId v) { return v == turns->index || is_bound_in(loop->body, v); };
    if (!std::all_of(emitter.rows().begin(), emitter.rows().end(), is_own) ||
        std::any_of(emitter.outside().begin(), emitter.outside().end(), changes) ||
        is_consumed_before(loop->body, step->at, emitter.rows())) {
      return false;
    }
    emit_sort(s, step->width, key, emitter, out);
    return found_ = true;
  }

  static bool is_bound_in(const Body& b, const Atom& a) {
    return !a.is_const() && std::any_of(b.stms.begin(), b.stms.end(), [&](const Stm& s) {
      return std::find(s.pat.begin(), s.pat.end(), a.var()) != s.pat.end();
    });
  }

  /// The partition whose arrays the loop's body results in, all of them and nothing else. Nothing
  /// is checked in the loop.
  static std::optional<Step> last_step(const ELoop& loop) {
    const auto& results = loop.body.results;
    std::optional<Step> found;
    for (size_t n = 0; n < loop.body.stms.size(); ++n) {
      const Stm& s = loop.body.stms[n];
      if (std::holds_alternative<EAssert>(s.exp)) return {};
      const auto step = step_of(s, n);
      if (!step || !s.attrs.empty() || !s.certs.empty() ||
          s.pat.size() != results.size() + step->first) {
        continue;
      }
      const auto begin = s.pat.begin() + static_cast<std::ptrdiff_t>(step->first);
      const bool all = std::all_of(results.begin(), results.end(), [&](const Atom& r) {
        return !r.is_const() && std::find(begin, s.pat.end(), r.var()) != s.pat.end();
      });
      if (all) found = step;
    }
    return found;
  }

  static std::optional<Step> step_of(const Stm& s, size_t at) {
    if (const auto* e = std::get_if<EScatter>(&s.exp)) {
      return Step{at, e->width, &e->map, &e->inputs, e->dests.size(), 0, {}, true};
    }
    if (const auto* e = std::get_if<EPack>(&s.exp); e != nullptr && e->rest) {
      return Step{at, e->width, &e->map, &e->inputs, 1, 1, e->classes, false};
    }
    if (const auto* e = std::get_if<ESort>(&s.exp)) {
      return Step{at, e->width, &e->map, &e->inputs, 1, 1, {}, false};
    }
    return {};
  }

  /// Whether there may be one sort of the loop's arrays. A few elements are left to one thread.
  bool is_sortable(const ELoop& loop, const Step& step) const {
    const Atom& width = step.width;
    if (!is_uniform(width) || is_bound_in(loop.body, width)) return false;
    if (width.is_const() && width.constant().as_i64() <= kFewToMove) return false;
    if (const auto* e = std::get_if<EScatter>(&loop.body.stms[step.at].exp)) {
      for (const auto& d : e->dests) {
        if (d.index_rank != 1 || p_.type_of(d.array).dims[0] != width) return false;
      }
    }
    return std::all_of(loop.params.begin(), loop.params.end(), [&](const auto& param) {
      const Type& t = p_.type_of(param.var);
      return !param.init.is_const() && !t.is_scalar() && t.dims[0] == width;
    });
  }

  /// Whether all elements of each of the loop's arrays go to the same places of the array that it
  /// will be.
  static bool moves_all(const ELoop& loop, const Step& step, const Terms& terms,
                        const std::vector<TermId>& made) {
    for (size_t k = 1; k < step.decides; ++k) {
      if (made[k] != made[0]) return false;
    }
    const auto& pat = loop.body.stms[step.at].pat;
    const auto begin = pat.begin() + static_cast<std::ptrdiff_t>(step.first);
    for (size_t k = 0; k < loop.params.size(); ++k) {
      const auto at = std::find(begin, pat.end(), loop.body.results[k].var()) - begin;
      const auto* row =
          std::get_if<TermRow>(&terms.at(made[step.decides + static_cast<size_t>(at)]));
      if (row == nullptr || row->array != loop.params[k].var) return false;
    }
    return true;
  }

  /// The array that is its own key, if there is one, is the sorted keys.
  void emit_sort(const Stm& s, const Atom& width, const SortKey& key, Emitter& emitter, Body& out) {
    Builder to(p_, out, s.prov);
    to.certs() = s.certs;
    std::vector<VarId> params, starts;
    for (const auto& param : std::get<ELoop>(s.exp).params) {
      params.push_back(param.var);
      starts.push_back(param.init.var());
    }
    std::vector<VarId> pat = {p_.new_var({key.type(), {width}}, "keys")};
    std::vector<size_t> values;
    std::vector<Type> rows, ret = {{key.type(), {}}};
    const auto word = key.word();
    for (size_t k = 0; k < params.size(); ++k) {
      rows.push_back(row_type(p_.type_of(params[k])));
      if (word && emitter.is_row(*word, params[k]) && rows[k].prim == key.type()) {
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
          std::vector<Atom> results = {key.emit(in, of_key, emitter)};
          for (const size_t k : values) results.emplace_back(row[k]);
          return results;
        },
        ret);
    to.emit_to(std::move(pat), ESort{width, starts, std::move(map)});
  }

  Program& p_;
  std::vector<const Body*> around_;
  bool in_map_ = false;
  VarSet inside_;  // what the map at host level binds
  bool found_ = false;
};

}  // namespace

void partitions(Program& p) {
  if (!Partitions(p).program()) return;
  remove_dead_code(p);
  sorts_in_maps(p);
  packs(p);
  remove_dead_code(p);
}

}  // namespace kenaz::passes
