// Loops inside a thread.
#include "kernels/body/analysis.h"
#include "kernels/body/statements.h"
#include "kernels/body/thread.h"

namespace kenaz::body {

using ir::VarId;
using kir::Value;

namespace {

/// Where a loop's parameters are, from one iteration to the next.
class Params {
 public:
  Params(Thread& t, const ir::Stm& s, const ir::ELoop& e) : t_(t), e_(e), params_(e.params.size()) {
    find_swaps();
    // Scalars first (sizes may be among them); what moves must lie on top of the heap.
    for (size_t k = 0; k < params_.size(); k++) {
      if (type(k).is_scalar()) start_scalar(k);
    }
    for (size_t k = 0; k < params_.size(); k++) {
      if (!type(k).is_scalar() && !is_moving(k)) start_array(k, s.pat[k]);
    }
    bottom_ = t.heap.mark(t.k);
    for (size_t k = 0; k < params_.size(); k++) {
      if (is_moving(k)) start_moving(k);
    }
  }

  /// Binds `names` to what the parameters are at this place.
  void bind(const std::vector<VarId>& names) {
    for (size_t k = 0; k < params_.size(); k++) {
      if (!type(k).is_scalar()) continue;
      const Param& p = params_[k];
      t_.env.bind_param(names[k], p.var ? KernelValue(t_.k.read(*p.var)) : p.value);
    }
    for (size_t k = 0; k < params_.size(); k++) {
      if (type(k).is_scalar()) continue;
      KernelArray a = std::get<KernelArray>(params_[k].value);
      if (params_[k].var) a.base = t_.k.read(*params_[k].var);
      a.layout.dims = t_.env.scalars(t_.ir().type_of(names[k]).dims);
      params_[k].now = a;
      t_.env.bind_param(names[k], std::move(a));
    }
  }

  /// At the end of an iteration, which began with the heap at `mark`.
  void next(const std::vector<KernelValue>& results, const Value& mark) {
    std::vector<VarId> types_of;
    std::vector<Slot> slots;
    std::vector<KernelValue> values;
    bool moving = false;
    const bool swap = have_changed_places(results);
    for (size_t k = 0; k < params_.size(); k++) {
      moving |= is_moving(k);
      if (is_moving(k) || is_same(k) || (swap && params_[k].from)) continue;
      types_of.push_back(e_.params[k].var);
      if (params_[k].from) {
        slots.emplace_back(params_[k].now);
      } else if (params_[k].var) {
        slots.emplace_back(*params_[k].var);
      } else {
        slots.emplace_back(std::get<KernelArray>(params_[k].value));
      }
      values.push_back(results[k]);
    }
    // Sizes of what moves are those of the results, whatever the parameters are by then.
    if (moving) move(results);
    assign(t_, slots, values, types_of);
    for (size_t k = 0; swap && k < params_.size(); k++) {
      if (params_[k].from) t_.k.assign(*params_[k].var, params_[*params_[k].from].now.base);
    }
    if (!moving) t_.heap.reset(t_.k, mark);
  }

 private:
  struct Param {
    KernelValue value;            // its first, or where it stays
    std::optional<kir::Var> var;  // of a scalar, or of the base of an array that moves
    /// Of arrays that change places: the param whose memory the next one is expected in.
    std::optional<size_t> from;
    KernelArray now;  // of an array, in this iteration
  };

  /// Arrays of one shape that change places, as the rows of a table do of which two are kept: only
  /// their addresses change. Small ones may be in registers, which have none; of larger local
  /// arrays the copies would be more turns than llvmpipe allows a thread.
  void find_swaps() {
    constexpr size_t kNone = SIZE_MAX;
    std::vector<size_t> from(params_.size(), kNone);
    for (size_t k = 0; k < params_.size(); k++) {
      if (type(k).is_scalar() || is_moving(k) || e_.body.results[k].is_const()) continue;
      const VarId source = source_of_result(t_.ir(), e_.body, k);
      for (size_t j = 0; j < params_.size(); j++) {
        if (e_.params[j].var == source && type(j) == type(k)) from[k] = j;
      }
    }
    for (size_t k = 0; k < params_.size(); k++) {
      size_t at = k, length = 0;
      do {
        at = from[at];
        length++;
      } while (at != kNone && at != k && length <= params_.size());
      const bool stays =
          is_within(type(k), kMostOfTable) && local_length(t_, type(k).prim, type(k).dims);
      if (at == k && length > 1 && !stays) {
        params_[k].from = from[k];
      }
    }
  }

  /// Whether all arrays that were expected to have done so have.
  bool have_changed_places(const std::vector<KernelValue>& results) const {
    bool any = false;
    for (size_t k = 0; k < params_.size(); k++) {
      if (!params_[k].from) continue;
      any = true;
      if (!identical(std::get<KernelArray>(results[k]), params_[*params_[k].from].now))
        return false;
    }
    return any;
  }

  ir::Type type(size_t k) const { return t_.ir().type_of(e_.params[k].var); }
  /// Whether no iteration changes it.
  bool is_same(size_t k) const { return e_.body.results[k] == ir::Atom(e_.params[k].var); }

  /// Whether the array's size depends on other parameters.
  bool is_moving(size_t k) const {
    for (const auto& d : type(k).dims) {
      for (const auto& p : e_.params) {
        if (!d.is_const() && d.var() == p.var) return true;
      }
    }
    return false;
  }

  void start_scalar(size_t k) {
    const Value init = t_.env.scalar(e_.params[k].init);
    params_[k].value = init;
    if (!is_same(k)) params_[k].var = t_.k.declare(init);
    t_.env.bind_param(e_.params[k].var, init);
  }

  void start_array(size_t k, VarId result) {
    if (params_[k].from) {
      const KernelArray own = allocate_addressed(t_, type(k).prim, type(k).dims);
      copy(t_, t_.env.array(e_.params[k].init.var()), own);
      params_[k].value = own;
      params_[k].var = t_.k.declare(own.base);
      t_.env.bind_param(e_.params[k].var, own);
      return;
    }
    params_[k].value = memory_of(k, result);
    t_.env.bind_param(e_.params[k].var, params_[k].value);
  }

  /// The memory that an array lives in throughout.
  KernelArray memory_of(size_t k, VarId result) {
    const auto& p = e_.params[k];
    const KernelArray init = t_.env.array(p.init.var());
    const auto dest = t_.dests.of(result);
    const bool consumed = consumed_in(t_.ir(), e_.body).count(p.var) != 0;
    const bool wanted_elsewhere = dest && !identical(init, *dest);
    if (consumed && init.kind == ArrayKind::kMemory && !wanted_elsewhere) return init;
    if (!consumed && is_same(k)) return init;
    const KernelArray memory = dest ? *dest : allocate(t_, type(k).prim, type(k).dims);
    copy(t_, init, memory);
    return memory;
  }

  /// An array whose memory moves from one iteration to the next: dense, its address in a variable.
  void start_moving(size_t k) {
    // Its sizes are parameters too, and have their first values by now.
    const KernelArray first = t_.heap.allocate(t_, type(k).prim, type(k).dims);
    copy(t_, t_.env.array(e_.params[k].init.var()), first);
    params_[k].value = first;
    params_[k].var = t_.k.declare(first.base);
    t_.env.bind_param(e_.params[k].var, first);
  }

  /// Moves the results to the bottom of what the loop has on the heap, one after the other, and
  /// frees the rest.
  void move(const std::vector<KernelValue>& results) {
    const auto on_top = [&](size_t k, const KernelArray& from) {
      const ir::Type type = t_.ir().type_of(e_.body.results[k]);
      const KernelArray to = t_.heap.allocate(t_, type.prim, type.dims);
      copy(t_, from, to);
      return to;
    };
    std::vector<std::pair<size_t, KernelArray>> tops;
    for (size_t k = 0; k < params_.size(); k++) {
      if (is_moving(k)) tops.emplace_back(k, on_top(k, std::get<KernelArray>(results[k])));
    }
    t_.heap.reset(t_.k, bottom_);
    // Ascending: what is written lies below what is still to be read.
    for (const auto& [k, top] : tops) t_.k.assign(*params_[k].var, on_top(k, top).base);
  }

  Thread& t_;
  const ir::ELoop& e_;
  std::vector<Param> params_;
  Value bottom_;  // of the heap, below what moves
};

}  // namespace

void loop(Thread& t, const ir::Stm& s, const ir::ELoop& e) {
  std::vector<VarId> names;
  for (const auto& p : e.params) names.push_back(p.var);
  Params params(t, s, e);
  if (t.host.failed()) return;
  const auto iteration = [&] {
    const Value mark = t.heap.mark(t.k);
    const auto results = translate(t, e.body);
    t.k.set_prov(s.prov);
    if (!t.host.failed()) params.next(results, mark);
  };
  if (const auto* counted = std::get_if<ir::LoopFor>(&e.form)) {
    t.k.for_(t.env.scalar(counted->bound), [&](const Value& i) {
      params.bind(names);
      t.env.bind_param(counted->index, i);
      iteration();
    });
  } else {
    const auto cond = [&] {
      params.bind(names);
      return t.env.scalar(std::get<ir::LoopWhile>(e.form).cond);
    };
    t.k.while_(cond, iteration);
  }
  if (!t.host.failed()) params.bind(s.pat);
}

}  // namespace kenaz::body
