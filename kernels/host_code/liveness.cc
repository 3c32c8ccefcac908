// Where block registers die.
#include <algorithm>

#include "kernels/host_code/host_gen.h"
#include "protocol/base/overloaded.h"

namespace kenaz::host_code {
namespace {

using program::Code;
using Live = std::set<BlockReg>;

void uses_of(const program::HostOp& op, Live& uses) {
  std::visit(Overloaded{
                 [&](const program::OpMoveBlock& o) { uses.insert(o.src); },
                 [&](const program::OpPart& o) { uses.insert(o.src); },
                 [&](const program::OpLaunch& o) {
                   for (const auto& a : o.args) {
                     if (a.kind == program::Arg::kBlock) uses.insert(a.block);
                   }
                 },
                 [&](const program::OpCall& o) { uses.insert(o.blocks.begin(), o.blocks.end()); },
                 [&](const program::OpRead& o) { uses.insert(o.block); },
                 [&](const program::OpWrite& o) { uses.insert(o.block); },
                 [](const auto&) {},
             },
             op.op);
}

std::vector<BlockReg> defined_by(const program::HostOp& op) {
  if (const auto* a = std::get_if<program::OpAlloc>(&op.op)) return {a->dst};
  if (const auto* m = std::get_if<program::OpMoveBlock>(&op.op)) return {m->dst};
  if (const auto* p = std::get_if<program::OpPart>(&op.op)) return {p->dst};
  if (const auto* call = std::get_if<program::OpCall>(&op.op)) return call->block_results;
  return {};
}

/// What is live before the code, given what is live after it. Changes nothing.
Live live_before(const Code& code, Live live) {
  for (auto it = code.rbegin(); it != code.rend(); ++it) {
    if (const auto* branch = std::get_if<program::OpIf>(&it->op)) {
      Live a = live_before(branch->then_code, live);
      const Live b = live_before(branch->else_code, live);
      a.insert(b.begin(), b.end());
      live = std::move(a);
      continue;
    }
    if (const auto* loop = std::get_if<program::OpWhile>(&it->op)) {
      // Sets only grow: ends after few rounds.
      for (size_t size = ~size_t{0}; size != live.size();) {
        size = live.size();
        Live round = live_before(loop->head, live_before(loop->body, live));
        live.insert(round.begin(), round.end());
      }
      continue;
    }
    for (const BlockReg b : defined_by(*it)) live.erase(b);
    uses_of(*it, live);
  }
  return live;
}

void release_all(Code& out, const Live& dead) {
  for (BlockReg b : dead) out.push_back({program::OpRelease{b}});
}

Live minus(const Live& a, const Live& b) {
  Live r;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(r, r.end()));
  return r;
}

/// Rewrites the code with releases. `held`: registers that may hold a block when it starts.
/// Returns those that may hold one at its end.
Live rewrite(Code& code, Live held, const Live& live_after) {
  std::vector<Live> after(code.size());
  Live live = live_after;
  for (size_t k = code.size(); k-- > 0;) {
    after[k] = live;
    Code one(1);
    std::swap(one[0], code[k]);
    live = live_before(one, std::move(live));
    std::swap(one[0], code[k]);
  }
  Code out;
  Live dead = minus(held, live);
  release_all(out, dead);
  held = minus(held, dead);
  for (size_t k = 0; k < code.size(); k++) {
    program::HostOp& op = code[k];
    if (auto* branch = std::get_if<program::OpIf>(&op.op)) {
      Live a = rewrite(branch->then_code, held, after[k]);
      const Live b = rewrite(branch->else_code, held, after[k]);
      a.insert(b.begin(), b.end());
      held = std::move(a);
    } else if (auto* loop = std::get_if<program::OpWhile>(&op.op)) {
      // Live at the head: what the next round, or what follows, wants.
      Code one(1);
      std::swap(one[0], op);
      const Live at_head = live_before(one, after[k]);
      std::swap(one[0], op);
      const Live before_body = live_before(loop->body, at_head);
      Live in = held;
      in.insert(at_head.begin(), at_head.end());
      in = rewrite(loop->head, in, [&] {
        Live both = before_body;
        both.insert(after[k].begin(), after[k].end());
        return both;
      }());
      rewrite(loop->body, in, at_head);
      held = in;
    } else {
      const auto defined = defined_by(op);
      held.insert(defined.begin(), defined.end());
    }
    out.push_back(std::move(op));
    dead = minus(held, after[k]);
    release_all(out, dead);
    held = minus(held, dead);
  }
  code = std::move(out);
  return held;
}

}  // namespace

void insert_releases(program::Code& code, const std::set<BlockReg>& keep) {
  Live held = live_before(code, keep);  // parameters
  rewrite(code, held, keep);
}

}  // namespace kenaz::host_code
