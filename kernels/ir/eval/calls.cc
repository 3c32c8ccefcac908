// Calls of functions. A variable has one slot, so a call sets aside what its function's variables
// hold: they may be those of a call that is not done.
#include <fmt/format.h>

#include "kernels/ir/analysis/calls.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/eval/machine.h"
#include "kernels/ir/visit.h"
#include "protocol/base/large_stack_thread.h"

namespace kenaz::ir::eval {

namespace {

// A level of nested calls and branches takes some hundred bytes, with sanitizers a few thousand.
constexpr size_t kStackBytes = size_t{256} << 20;

}  // namespace

bool Machine::with_stack(const std::function<bool()>& run) {
  if (!has_calls_) {
    bool found = false;
    const auto note = [&](const ECall&) { found = true; };
    visit_bodies(program, [&](const Body& b) { for_each_call(b, note); });
    has_calls_ = found;
  }
  if (!*has_calls_) return run();
  bool fine = false;
  if (!run_on_large_stack(kStackBytes, [&] { fine = run(); })) {
    return internal("cannot start a thread for calls");
  }
  return fine;
}

const std::vector<VarId>& Machine::variables_of(FunId function) {
  const auto [it, is_new] = variables_.try_emplace(function.index);
  if (is_new) {
    const Function& f = program.functions[function.index];
    VarSet all(f.params.begin(), f.params.end());
    for (const VarId p : f.params) {
      uses_detail::type_uses(program.type_of(p), [&](VarId v) { all.insert(v); });
    }
    for_each_bound(program.constants, [&](VarId v) { all.erase(v); });
    for_each_bound(f.body, [&](VarId v) { all.insert(v); });
    it->second.assign(all.begin(), all.end());
  }
  return it->second;
}

bool Machine::call_stm(const ECall& e, const Stm& s) {
  const Function& f = program.functions[e.fun.index];
  if (call_depth_ >= limits.call_depth) {
    return fail(ErrorKind::kProgramFailure, "Error: " + too_deep(f, limits.call_depth));
  }
  if (!go_on()) return false;
  const auto& variables = variables_of(e.fun);
  std::vector<Loose> args(e.args.size()), saved(variables.size()), results(s.pat.size());
  for (size_t i = 0; i < args.size(); i++) {
    if (!take(e.args[i], args[i])) return false;
  }
  for (size_t i = 0; i < variables.size(); i++) {
    const uint32_t slot = variables[i].index;
    saved[i] = {scalars_[slot], std::exchange(arrays_[slot], {})};
  }
  for (size_t i = 0; i < args.size(); i++) {
    const Type& t = program.type_of(f.params[i]);
    for (size_t d = 0; d < t.dims.size(); d++) {
      if (t.dims[d].is_const()) continue;
      scalars_[t.dims[d].var().index] = static_cast<uint64_t>(args[i].array.shape[d]);
    }
    put(f.params[i], std::move(args[i]));
  }
  call_depth_++;
  bool fine = run(f.body);
  for (size_t i = 0; fine && i < results.size(); i++) fine = take(f.body.results[i], results[i]);
  call_depth_--;
  if (!fine) return false;
  for (size_t i = 0; i < variables.size(); i++) put(variables[i], std::move(saved[i]));
  for (size_t i = 0; i < s.pat.size(); i++) put(s.pat[i], std::move(results[i]));
  return true;
}

}  // namespace kenaz::ir::eval
