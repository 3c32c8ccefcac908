// Reverse mode of loops: the forward loop keeps the state at the start of each iteration; the loop
// back takes it from there and runs the iteration again, but for large sums, which are kept, too.
// Where no iteration needs what another one leaves, the loop back is a map.
#include <algorithm>
#include <iterator>

#include "kernels/ad/large_sums.h"
#include "kernels/ad/reverse_sweep.h"
#include "kernels/ad/turns.h"
#include "kernels/ad/values.h"
#include "kernels/ir/analysis/uses.h"

namespace kenaz::ad {

using namespace ir;

/// The loop returns the values of a variable of its body in all turns as well.
void Reverse::keep(Builder& b, Builder& in, ELoop& loop, const Atom& at, const Kept& kept) {
  const Type t = p_.type_of(kept.all);
  const VarId start = b.emit(EScratch{t.prim, t.dims}, t, "tape");
  const VarId state = p_.new_var(t, "tape");
  loop.params.push_back({state, start});
  loop.body.results.emplace_back(in.update_at(state, Atoms{at}, kept.var, "tape"));
}

void Reverse::forward_loop(Builder& b, const Stm& s, const ELoop& e, Tape& tape) {
  const LoopFor form = std::get<LoopFor>(e.form);
  VarSet own;
  for (const auto& param : e.params) own.insert(param.var);
  for (const auto& param : e.params) {
    for (const Atom& d : p_.type_of(param.var).dims) {
      if (d.is_const() || !own.contains(d.var())) continue;
      return refuse(s,
                    "a loop whose arrays change their shape cannot be differentiated in reverse");
    }
  }
  tape.iterations = b.max(b.convert(form.bound, PrimType::kI64), i64(0));
  counters_.clamped(tape.iterations, form.bound);
  Stm kept = s;
  auto& loop = std::get<ELoop>(kept.exp);
  std::vector<Stm> body = std::exchange(loop.body.stms, {});
  Builder in(p_, loop.body, s.prov);
  const Atom at = in.convert(form.index, PrimType::kI64);
  for (const auto& param : e.params) {
    tape.states.push_back(p_.new_var(array_of(tape.iterations, p_.type_of(param.var)), "tape"));
    keep(b, in, loop, at, {param.var, tape.states.back()});
    kept.pat.push_back(tape.states.back());
  }
  for (Stm& inner : body) loop.body.stms.push_back(std::move(inner));
  for (const VarId v : in_map_ ? Vars() : large_sums(p_, activity_, e)) {
    tape.sums.push_back({v, p_.new_var(array_of(tape.iterations, p_.type_of(v)), "tape")});
    keep(b, in, loop, at, tape.sums.back());
    kept.pat.push_back(tape.sums.back().all);
  }
  b.body().stms.push_back(std::move(kept));
}

/// The loop back, as it grows.
struct Reverse::LoopBack {
  ELoop loop;
  Vars pat;
  Vars free;  // variables from outside, whose adjoints are the last params
  void add(Program& p, VarId param, const Atom& init, const Atom& result) {
    loop.params.push_back({param, init});
    loop.body.results.push_back(result);
    pat.push_back(p.new_var(p.type_of(param), "adj"));
  }
};

/// The values of the params at the start of the iteration, in `names` for the params.
Reverse::Vars Reverse::restore(Builder& in, const ELoop& e, const Tape& tape, const Atom& at,
                               Subst& names) {
  Vars states;
  for (size_t k = 0; k < e.params.size(); ++k) {
    const VarId v = e.params[k].var;
    states.push_back(in.index(tape.states[k], Atoms{at}, p_.vars[v.index].name).var());
    p_.vars[states[k].index].type = p_.type_of(v);
    counters_.bind(states[k]);
    names[v] = states[k];
  }
  return states;
}

/// Sums that the loop kept are not made again.
void Reverse::take_sums(Builder& in, const ELoop& e, const Sweep& sweep, const Tape& tape,
                        const Atom& at) {
  for (const Kept& kept : tape.sums) {
    size_t k = 0;
    while (e.body.stms[k].pat != Vars{kept.var}) ++k;
    const VarId again = sweep.body.stms[k].pat[0];
    for (Stm& s : in.body().stms) {
      if (s.pat == Vars{again}) s.exp = EIndex{kept.all, row_dims(p_.type_of(kept.all), {at})};
    }
  }
}

/// Takes the adjoints out of `left` that can be made behind the loop.
Frame Reverse::sums_of_all_turns(AllTurns& all, Frame& left,
                                 const std::map<uint32_t, VarId>& arrays) {
  Frame out;
  for (const auto& [index, param] : arrays) {
    const auto it = left.find(index);
    if (it == left.end()) continue;
    Adjoint sum = it->second;
    bool found = !sum.value || (sum.value = all.sum(*sum.value));
    for (Part& part : sum.parts) {
      found = found && part.is_slice() && part.certs.empty() &&
              is_always_inside(p_.type_of(param), part.slice);
      const Maybe value = found ? all.sum(part.value) : std::nullopt;
      found = value.has_value();
      if (found) part.value = *value;
    }
    if (!found) continue;
    left.erase(it);
    out.emplace(index, std::move(sum));
  }
  return out;
}

/// Adds the adjoints of variables from outside to the loop back: those of `arrays` (the params that
/// stand for them) go on from what they are, scalars are sums.
void Reverse::carry(Builder& b, Builder& in, const Frame& left,
                    const std::map<uint32_t, VarId>& arrays, LoopBack& back) {
  for (const auto& [index, a] : left) {
    const VarId v{index};
    const auto carried = arrays.find(index);
    if (carried == arrays.end()) {
      const VarId param = p_.new_var(p_.type_of(v), "adj");
      back.add(p_, param, zero_of(b, p_.type_of(v)), total(in, v, a, Atom(param)));
      back.free.push_back(v);
    } else if (a.value != Atom(carried->second) || !a.parts.empty()) {
      back.add(p_, carried->second, take_or_zero(b, v), total(in, v, a, std::nullopt));
      back.free.push_back(v);
    }
  }
}

/// The loop back as a map, with as many elements for each element of a map around, if it is known
/// how many may be needed.
void Reverse::turns(Builder& b, const Stm& s, const ELoop& e, const std::vector<Maybe>& adj,
                    const Tape& tape) {
  const LoopFor form = std::get<LoopFor>(e.form);
  const Atom most = counters_.at_most(form.bound);
  const bool some = most != form.bound;
  Atom width = tape.iterations;
  if (some) {
    // There may be a bound below zero, and no turn.
    width = counters_.is_size_everywhere(most) ? most : b.max(most, i64(0));
    counters_.clamped(width, most);
  }
  const VarId numbers = b.iota(width);
  counters_.note(b.last());
  reverse_map(b, width, {numbers}, [&](Builder& in, const Vars& params) {
    const Atom turn = params[0];
    counters_.below(turn.var(), width);
    Subst names;
    names[form.index] = in.convert(turn, p_.type_of(form.index).prim);
    EIf needed;
    Builder then(p_, needed.then_body, s.prov);
    restore(then, e, tape, turn, names);
    Body body = copy_renamed(p_, e.body, names);
    Stm back{{}, EAtom{}, {}, s.prov, {}};
    std::vector<Maybe> seeds;
    for (size_t k = 0; k < adj.size(); ++k) {
      if (!adj[k]) continue;
      const Type t = p_.type_of(e.params[k].var);
      back.pat.push_back(p_.new_var(t, "turn"));
      seeds.push_back(adj[k]);
      needed.then_body.results.push_back(body.results[k]);
      needed.else_body.results.push_back(zero_of(in, t));
    }
    std::move(body.stms.begin(), body.stms.end(), std::back_inserter(needed.then_body.stms));
    if (some) {
      needed.cond = in.lt(turn, tape.iterations);
      branches(in, back, needed, seeds);
    } else {
      const Sweep sweep = forward(in, std::move(needed.then_body));
      for (size_t k = 0; k < seeds.size(); ++k) {
        contribute(in, sweep.body.results[k], *seeds[k]);
      }
      backward(in, sweep);
    }
    return std::vector<Row>();
  });
  for (size_t k = 0; k < adj.size(); ++k) {
    if (adj[k]) contribute(b, e.params[k].init, *adj[k]);
  }
}

void Reverse::loop(Builder& b, const Stm& s, const ELoop& e, const std::vector<Maybe>& adj,
                   const Tape& tape) {
  if (has_independent_turns(p_, activity_, e)) return turns(b, s, e, adj, tape);
  LoopBack back;
  const LoopFor form = std::get<LoopFor>(e.form);
  const VarId turn = p_.new_var({PrimType::kI64, {}}, "turn");
  back.loop.form = LoopFor{turn, tape.iterations};
  Builder in(p_, back.loop.body, s.prov);
  const Atom at = in.sub(in.sub(tape.iterations, i64(1)), turn);
  Subst names;
  names[form.index] = in.convert(at, p_.type_of(form.index).prim);
  const Vars states = restore(in, e, tape, at, names);
  VarSet own;
  std::vector<size_t> varied;
  for (size_t k = 0; k < e.params.size(); ++k) {
    own.insert(e.params[k].var);
    if (!activity_.has(e.params[k].var)) continue;
    varied.push_back(k);
    activity_.add(states[k]);
  }
  const Atom most = counters_.at_most(form.bound);
  if (!at.is_const()) {
    counters_.bind(at.var());
    counters_.below(at.var(), most == form.bound ? tape.iterations : most);
  }
  std::map<uint32_t, VarId> arrays;
  for (const VarId v : free_vars(p_, e.body)) {
    if (own.contains(v) || !activity_.has(v) || p_.type_of(v).is_scalar()) continue;
    arrays.emplace(v.index, p_.new_var(p_.type_of(v), "adj"));
  }
  // A loop inside would begin with zeros instead of what there is.
  const bool apart = !in_map_ && !has_loops(e.body);
  std::vector<Type> types;
  Frame left = in_frame([&] {
    for (const auto& [index, param] : arrays) {
      if (!apart) adjoint(VarId{index}).value = param;
    }
    const Sweep sweep = forward(in, copy_renamed(p_, e.body, names));
    take_sums(in, e, sweep, tape, at);
    Vars seeds;
    for (const size_t k : varied) {
      types.push_back(p_.type_of(e.params[k].var));
      seeds.push_back(p_.new_var(types.back(), "adj"));
      contribute(in, sweep.body.results[k], seeds.back());
    }
    backward(in, sweep);
    for (size_t i = 0; i < varied.size(); ++i) {
      const size_t k = varied[i];
      const Atom init = adj[k] ? *adj[k] : zero_of(b, p_.type_of(s.pat[k]));
      back.add(p_, seeds[i], init, take_or_zero(in, states[k]));
    }
  });
  if (error_) return;
  std::optional<AllTurns> all;
  Frame behind;
  if (apart) {
    all.emplace(p_, back.loop, at, tape.iterations, form.bound, types, s.prov);
    behind = sums_of_all_turns(*all, left, arrays);
    for (auto& [index, a] : left) {
      const auto param = arrays.find(index);
      if (param == arrays.end()) continue;
      a.value = a.value ? add_values(in, param->second, *a.value) : Atom(param->second);
    }
  }
  carry(b, in, left, arrays, back);
  for (const Kept& kept : all ? all->kept() : std::vector<Kept>()) {
    keep(b, in, back.loop, at, kept);
    back.pat.push_back(kept.all);
  }
  b.emit_to(back.pat, std::move(back.loop));
  for (size_t i = 0; i < back.free.size(); ++i) {
    const VarId v = back.free[i], result = back.pat[varied.size() + i];
    if (arrays.contains(v.index)) {
      adjoint(v).value = result;
    } else {
      contribute(b, v, result);
    }
  }
  if (all) {
    for (Stm& inner : all->code().stms) b.body().stms.push_back(std::move(inner));
    merge(b, behind);
  }
  // Behind those: an array that the body reads may be what a param is at first.
  for (size_t i = 0; i < varied.size(); ++i) {
    contribute(b, e.params[varied[i]].init, back.pat[i]);
  }
}

}  // namespace kenaz::ad
