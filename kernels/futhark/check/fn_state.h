// The definition that is being checked, and what of it waits for its end.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/futhark/check/lookup.h"
#include "kernels/futhark/check/sizes_known.h"
#include "kernels/futhark/check/variables.h"

namespace kenaz::check {

using MutExp = std::shared_ptr<core::Exp>;
using MutPat = std::shared_ptr<core::Pat>;
using MutDef = std::shared_ptr<core::Def>;

/// What is pending until the types of the enclosing top-level definition are known.
struct PendingExp {
  MutExp exp;
  uint32_t start = 0, end = 0;  // size variables made while checking this expression
  enum Kind : uint8_t { kPlain, kIntLit, kConvert } kind = kPlain;
  bool negative = false;  // kIntLit
  /// Type arguments whose sizes are no part of the instance: those of lifted type parameters, which
  /// stand for values of any size.
  std::vector<size_t> sizeless;
};

struct PendingPat {
  MutPat pat;
  bool placeholder = false;  // a literal without a type of its own
  bool negative = false;
};

/// State of one top-level definition (or of a type or module type outside definitions).
struct FnState {
  Surroundings here;
  Frame frame;
  std::vector<PendingExp> exps;
  std::vector<PendingPat> pats;
  std::vector<PatPtr> whole;  // patterns that must fit every value: all but those of matches
  std::vector<MutExp> matches;
  std::vector<MutDef> defs;
  std::vector<MutExp> self_uses;
  std::vector<ExpPtr> equalities;                                    // a == b, not (==)
  std::unordered_map<const core::Exp*, size_t> results_of_any_size;  // uses, with their arity
  std::vector<Section> sections;
  std::vector<uint32_t> starts;
};

/// The definition that is being checked. Others that it was needed for wait around it.
class Current {
 public:
  /// Both must outlive this; they work for the current definition.
  Current(Variables& vars, Lookup& lookup) : vars_(vars), lookup_(lookup) {}
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

  FnState* operator->() { return now_; }
  FnState& operator*() { return *now_; }
  /// How deeply what is being checked is nested; see DepthGuard.
  int& depth() { return depth_; }
  /// Calls body(FnState&) with a state of its own, where `env` is around.
  template <class F>
  void inside(EnvRef env, F body) {
    FnState state;
    state.here.env = env;
    FnState* before = std::exchange(now_, &state);
    Frame* frame = vars_.enter(&state.frame);
    Surroundings* here = lookup_.enter(&state.here);
    body(state);
    lookup_.enter(here);
    vars_.enter(frame);
    now_ = before;
  }

 private:
  Variables& vars_;
  Lookup& lookup_;
  FnState outermost_;  // outside of all definitions
  FnState* now_ = &outermost_;
  int depth_ = 0;
};

}  // namespace kenaz::check
