// A function that calls itself only as the last thing it does is a loop: each iteration has the
// arguments of one call, the last one has the results.
#include <algorithm>
#include <map>

#include "kernels/ir/analysis/calls.h"
#include "kernels/ir/analysis/rename.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/builder.h"
#include "kernels/passes/passes.h"

namespace kenaz::passes {
namespace {

using namespace ir;

bool calls(const Stm& s, FunId id) {
  const auto* call = std::get_if<ECall>(&s.exp);
  if (call != nullptr) return call->fun == id;
  bool found = false;
  visit_bodies(s.exp, [&](const Body& b) {
    found = found || std::any_of(b.stms.begin(), b.stms.end(),
                                 [&](const Stm& inner) { return calls(inner, id); });
  });
  return found;
}

bool gives(const Stm& s, const std::vector<Atom>& results) {
  return std::equal(s.pat.begin(), s.pat.end(), results.begin(), results.end(),
                    [](VarId v, const Atom& a) { return a == Atom(v); });
}

/// Whether the only calls are what the body ends with.
bool ends_with_calls(const Body& b, FunId id) {
  const auto count =
      std::count_if(b.stms.begin(), b.stms.end(), [&](const Stm& s) { return calls(s, id); });
  if (count == 0) return true;
  const Stm& last = b.stms.back();
  if (count > 1 || !calls(last, id) || !gives(last, b.results)) return false;
  if (std::holds_alternative<ECall>(last.exp)) return true;
  const auto* branch = std::get_if<EIf>(&last.exp);
  return branch != nullptr && ends_with_calls(branch->then_body, id) &&
         ends_with_calls(branch->else_body, id);
}

/// The state of the loop is: whether to go on, the sizes of the parameters, the parameters, the
/// results (sizes first). Before the last iteration there are no results, after it no parameters;
/// zeros and arrays of size 0 stand for them.
class MakeLoop {
 public:
  MakeLoop(Program& p, FunId id) : p_(p), id_(id), f_(p.functions[id.index]) {
    VarSet constants;
    for_each_bound(p.constants, [&](VarId v) { constants.insert(v); });
    for (const VarId v : f_.params) {
      for (const Atom& d : p.type_of(v).dims) {
        const bool is_new = !d.is_const() && !contains(f_.params, d.var()) &&
                            !contains(sizes_, d.var()) && !constants.contains(d.var());
        if (is_new) sizes_.push_back(d.var());
      }
    }
    for (size_t k = 0; k < f_.ret.size(); ++k) {
      const bool is_size = k < f_.ret_size_vars.size();
      results_.push_back(is_size ? f_.ret_size_vars[k] : p.new_var(f_.ret[k], "result"));
    }
    for (const auto* list : {&sizes_, &f_.params, &results_}) {
      for (const VarId v : *list) zeros_[v] = i64(0);
    }
  }

  /// Changes nothing if the function is no loop.
  void run() {
    std::vector<Stm> copies = take_copies();
    if (!ends_with_calls(f_.body, id_)) {
      for (Stm& s : copies) {
        replace_result(Atom(std::get<ECopy>(s.exp).array), s.pat[0]);
        f_.body.stms.push_back(std::move(s));
      }
      return;
    }
    const ProvId prov = f_.body.stms.back().prov;
    std::vector<VarId> params = sizes_;
    params.insert(params.end(), f_.params.begin(), f_.params.end());
    const std::vector<VarId> outer = copy_pattern(p_, params), made = copy_pattern(p_, results_);
    rewrite(f_.body);
    Body all;
    Builder b(p_, all, prov);
    ELoop loop;
    const VarId more = p_.new_var({PrimType::kBool, {}}, "more");
    loop.form = LoopWhile{more};
    loop.params.push_back({more, PrimValue::of_bool(true)});
    for (size_t k = 0; k < params.size(); ++k) loop.params.push_back({params[k], outer[k]});
    for (size_t k = 0; k < made.size(); ++k) {
      loop.params.push_back({made[k], nothing(b, p_.type_of(results_[k]))});
    }
    loop.body = std::move(f_.body);
    const std::vector<VarId> pat = state();
    b.emit_to(pat, std::move(loop));
    all.results.assign(pat.end() - static_cast<std::ptrdiff_t>(made.size()), pat.end());
    f_.body = std::move(all);
    for (const auto& [result, copy] : copied_) {
      Atom& r = f_.body.results[result];
      std::get<ECopy>(copies[copy].exp).array = r.var();
      p_.vars[copies[copy].pat[0].index].type = p_.type_of(r.var());
      r = copies[copy].pat[0];
    }
    for (Stm& s : copies) f_.body.stms.push_back(std::move(s));
    f_.params.assign(outer.begin() + static_cast<std::ptrdiff_t>(sizes_.size()), outer.end());
  }

 private:
  static bool contains(const std::vector<VarId>& list, VarId v) {
    return std::find(list.begin(), list.end(), v) != list.end();
  }
  void replace_result(const Atom& from, VarId to) {
    for (Atom& r : f_.body.results) {
      if (r == from) r = to;
    }
  }

  /// Takes the copies of results off the end of the body.
  std::vector<Stm> take_copies() {
    std::vector<Stm> copies;
    Body& b = f_.body;
    for (; !b.stms.empty(); b.stms.pop_back()) {
      Stm& s = b.stms.back();
      const auto* copy = std::get_if<ECopy>(&s.exp);
      const auto at = std::find(b.results.begin(), b.results.end(), Atom(s.pat[0]));
      if (copy == nullptr || at == b.results.end()) break;
      copied_[static_cast<size_t>(at - b.results.begin())] = copies.size();
      *at = copy->array;
      copies.push_back(std::move(s));
    }
    return copies;
  }

  /// A new pattern for the state.
  std::vector<VarId> state() {
    std::vector<VarId> all = {p_.new_var({PrimType::kBool, {}}, "more")};
    for (const auto* list : {&sizes_, &f_.params, &results_}) {
      all.insert(all.end(), list->begin(), list->end());
    }
    return copy_pattern(p_, all);
  }

  Atom nothing(Builder& b, Type t) {
    if (t.is_scalar()) return PrimValue{t.prim, 0};
    substitute(t, zeros_);
    return b.emit(EScratch{t.prim, t.dims}, t, "nothing");
  }

  void rewrite(Body& b) {
    if (b.stms.empty() || !calls(b.stms.back(), id_)) return leave(b);
    Stm& last = b.stms.back();
    if (auto* branch = std::get_if<EIf>(&last.exp)) {
      rewrite(branch->then_body);
      rewrite(branch->else_body);
      last.pat = state();
      b.results.assign(last.pat.begin(), last.pat.end());
      return;
    }
    const ECall call = std::get<ECall>(last.exp);
    const ProvId prov = last.prov;
    b.stms.pop_back();
    Builder builder(p_, b, prov);
    b.results = {PrimValue::of_bool(true)};
    for (const VarId size : sizes_) b.results.push_back(size_in(call, size));
    b.results.insert(b.results.end(), call.args.begin(), call.args.end());
    for (const VarId r : results_) b.results.push_back(nothing(builder, p_.type_of(r)));
  }

  /// The end of the loop.
  void leave(Body& b) {
    Builder builder(p_, b, b.stms.empty() ? ProvId{} : b.stms.back().prov);
    std::vector<Atom> all = {PrimValue::of_bool(false)};
    for (size_t k = 0; k < sizes_.size(); ++k) all.push_back(i64(0));
    for (const VarId v : f_.params) all.push_back(nothing(builder, p_.type_of(v)));
    all.insert(all.end(), b.results.begin(), b.results.end());
    b.results = std::move(all);
  }

  Atom size_in(const ECall& call, VarId size) const {
    for (size_t k = 0; k < f_.params.size(); ++k) {
      const auto& dims = p_.type_of(f_.params[k]).dims;
      for (size_t d = 0; d < dims.size(); ++d) {
        if (dims[d] == Atom(size)) return p_.type_of(call.args[k]).dims[d];
      }
    }
    return size;
  }

  Program& p_;
  FunId id_;
  Function& f_;
  std::vector<VarId> sizes_, results_;
  Subst zeros_;
  std::map<size_t, size_t> copied_;  // results to the copies that make them
};

}  // namespace

void tail_calls(Program& p) {
  for (size_t i = 0; i < p.functions.size(); ++i) {
    const FunId id{static_cast<uint32_t>(i)};
    bool sees_itself = false;
    for_each_call(p.functions[i].body,
                  [&](const ECall& call) { sees_itself = sees_itself || call.fun == id; });
    if (sees_itself) MakeLoop(p, id).run();
  }
}

}  // namespace kenaz::passes
