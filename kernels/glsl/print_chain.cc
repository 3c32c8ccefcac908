// Long chains of `if .. else if .. else if ..`.
//
// Nested, as they are in the IR, they would exceed what llvmpipe keeps of nested conditions (and
// what compilers take without effort). So all conditions are evaluated first, one behind the other,
// and tell the number of the branch to take; a nest of the logarithm's depth leads to that branch.
// What a condition needs is computed by every thread: one that has found its branch passes over it
// as if it had stopped.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "kernels/glsl/print_block.h"
#include "kernels/kir/visit.h"
#include "protocol/base/check.h"

namespace kenaz::glsl {

using namespace kir;  // NOLINT: this folder prints that one's instructions

namespace {

/// Chains of fewer branches are nested.
constexpr size_t kLongChain = 16;

/// An else-block that consists of the chain's next link, what that needs, and what hands the
/// results on.
struct Else {
  std::span<const Inst> before;
  const Inst* link;
  std::span<const Inst> behind;
  const IIf& branch() const { return std::get<IIf>(link->op); }
};

/// As for_each_inst, of part of a block.
template <class F>
void each_inst(std::span<const Inst> insts, const F& f) {
  for (const Inst& i : insts) {
    f(i);
    visit_blocks(i.op, [&](const Block& b) { for_each_inst(b, f); });
  }
}

bool is_uniform(const Inst& i) {
  if (const auto* loop = std::get_if<IFor>(&i.op)) return loop->uniform;
  if (const auto* loop = std::get_if<IWhile>(&i.op)) return loop->uniform;
  return std::holds_alternative<ISubgroup>(i.op) || std::holds_alternative<IBarrier>(i.op);
}

/// Whether threads that have stopped can run this without harm to those that pass over it.
bool can_be_passed_over(std::span<const Inst> insts) {
  std::set<uint32_t> own;
  bool can = true;
  each_inst(insts, [&](const Inst& i) {
    if (const auto* d = std::get_if<IDeclare>(&i.op)) own.insert(d->var.index);
    can &= !is_uniform(i);
  });
  each_inst(insts, [&](const Inst& i) {
    if (const auto* a = std::get_if<IAssign>(&i.op)) can &= own.count(a->var.index) != 0;
  });
  return can;
}

/// Whether stopped threads and others do the same here.
bool is_harmless(std::span<const Inst> insts) {
  bool harmless = true;
  each_inst(insts, [&](const Inst& i) {
    harmless &= std::holds_alternative<IDeclare>(i.op) ||
                (is_pure(i) && !std::holds_alternative<ILoad>(i.op));
  });
  return harmless;
}

std::optional<Else> else_of(const IIf& i) {
  const std::vector<Inst>& all = i.else_block.insts;
  size_t at = all.size();
  while (at > 0 && (std::holds_alternative<IRead>(all[at - 1].op) ||
                    std::holds_alternative<IAssign>(all[at - 1].op))) {
    at--;
  }
  if (at == 0 || !std::holds_alternative<IIf>(all[at - 1].op)) return std::nullopt;
  const std::span<const Inst> insts(all);
  const Else e{insts.first(at - 1), &all[at - 1], insts.subspan(at)};
  if (!can_be_passed_over(e.before)) return std::nullopt;
  return e;
}

/// The variables that `behind` hands on, with the chain's: only if that is all it does, so that
/// both may be the same.
std::optional<std::vector<std::pair<VarId, VarId>>> handed_on(const Else& e) {
  std::vector<std::pair<VarId, VarId>> pairs;
  std::set<uint32_t> inner, outer;
  for (size_t k = 0; k < e.behind.size(); k++) {
    const auto* assign = std::get_if<IAssign>(&e.behind[k].op);
    if (assign == nullptr) continue;
    const auto read = std::find_if(e.behind.begin(), e.behind.end(), [&](const Inst& i) {
      const auto* r = std::get_if<IRead>(&i.op);
      return r != nullptr && !assign->value.is_const() && r->dst == assign->value.id();
    });
    if (read == e.behind.end()) return std::nullopt;
    const VarId from = std::get<IRead>(read->op).var;
    if (!inner.insert(from.index).second || !outer.insert(assign->var.index).second) {
      return std::nullopt;
    }
    pairs.emplace_back(from, assign->var);
  }
  std::set<uint32_t> declared;
  for (const Inst& i : e.before) {
    const auto* d = std::get_if<IDeclare>(&i.op);
    if (d != nullptr && !d->init) declared.insert(d->var.index);
  }
  bool same = std::includes(declared.begin(), declared.end(), inner.begin(), inner.end());
  const auto look = [&](const Inst& i) {
    if (const auto* r = std::get_if<IRead>(&i.op)) same &= outer.count(r->var.index) == 0;
    if (const auto* a = std::get_if<IAssign>(&i.op)) same &= outer.count(a->var.index) == 0;
  };
  each_inst(e.before, look);
  each_inst(std::span(e.link, 1), look);
  if (!same) return std::nullopt;
  return pairs;
}

}  // namespace

bool BlockPrinter::is_long_chain(const IIf& i) {
  size_t links = 1;
  const IIf* link = &i;
  for (; links < kLongChain; links++) {
    const auto e = else_of(*link);
    if (!e) return false;
    link = &e->branch();
  }
  return true;
}

void BlockPrinter::print_chain(const Inst& inst, const std::string& first_cond) {
  std::vector<Else> elses;
  std::vector<const Block*> branches{&std::get<IIf>(inst.op).then_block};
  bool masked = false, stops = may_have_stopped_;
  const IIf* last = &std::get<IIf>(inst.op);
  for (auto e = else_of(*last); e; e = else_of(*last)) {
    masked |= !is_harmless(e->before);
    for (const Inst& i : e->before) stops |= c_.facts.may_stop(i);
    elses.push_back(*e);
    last = &e->branch();
    branches.push_back(&last->then_block);
  }
  branches.push_back(&last->else_block);
  const size_t n = elses.size() + 1;  // the number of the last branch
  const std::string branch = names_.fresh('b'), went = names_.fresh('g');
  out_.line(fmt::format("int {} = {};", branch, n));
  if (masked) {
    c_.masks_threads = may_have_stopped_ = true;
    out_.line(fmt::format("bool {} = going;", went));
  }
  const std::string pass = masked ? fmt::format(" {} = going; going = false;", went) : "";
  std::vector<bool> hands_on;
  out_.line(fmt::format("if ({}) {{ {} = 0;{} }}", first_cond, branch, pass));
  for (size_t k = 0; k < elses.size(); k++) {
    const auto same = handed_on(elses[k]);
    hands_on.push_back(!same);
    if (same) {
      for (const auto& [inner, outer] : *same) names_.make_same(inner, outer);
    }
    for (const Inst& i : elses[k].before) this->inst(i);
    std::set<uint32_t> reads;
    const std::string cond = names_.operand(elses[k].branch().cond, reads);
    out_.line(
        fmt::format("if ({} == {} && {}) {{ {} = {};{} }}", branch, n, cond, branch, k + 1, pass));
  }
  if (masked) out_.line(fmt::format("if ({} < {}) going = {};", branch, n, went));
  names_.settle_before(inst);
  may_have_stopped_ = stops;
  lead_to(branches, 0, n, branch);
  for (size_t k = elses.size(); k-- > 0;) {
    if (!hands_on[k]) continue;
    out_.open(fmt::format("if ({} > {}) {{", branch, k));
    for (const Inst& i : elses[k].behind) this->inst(i);
    out_.close();
  }
}

/// Prints branches first..last, of which the thread takes the one whose number is in `branch`.
void BlockPrinter::lead_to(const std::vector<const Block*>& branches, size_t first, size_t last,
                           const std::string& branch) {
  if (first == last) {
    block(*branches[first]);
    return;
  }
  const size_t middle = (first + last) / 2;
  const bool before = may_have_stopped_;
  out_.open(fmt::format("if ({} <= {}) {{", branch, middle));
  lead_to(branches, first, middle, branch);
  const bool after = std::exchange(may_have_stopped_, before);
  out_.close("} else {");
  out_.deeper();
  lead_to(branches, middle + 1, last, branch);
  out_.close();
  may_have_stopped_ |= after;
}

}  // namespace kenaz::glsl
