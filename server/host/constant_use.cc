#include "server/host/constant_use.h"

#include <algorithm>

namespace kenaz::host {
namespace {

using namespace program;

/// Looks through code for registers below given numbers.
class Search {
 public:
  Search(int scalars, int blocks)
      : scalars_(static_cast<uint32_t>(scalars)), blocks_(static_cast<uint32_t>(blocks)) {}

  bool in(ScalarReg r) const { return r.index < scalars_; }
  bool in(BlockReg r) const { return r.index < blocks_; }
  bool in(const Operand& o) const {
    const auto* r = std::get_if<ScalarReg>(&o);
    return r != nullptr && in(*r);
  }
  template <class T>
  bool in(const std::vector<T>& list) const {
    return std::any_of(list.begin(), list.end(), [&](const T& x) { return in(x); });
  }
  bool in(const std::variant<std::string, Operand>& part) const {
    const auto* value = std::get_if<Operand>(&part);
    return value != nullptr && in(*value);
  }
  bool in(const Leaf& leaf) const {
    if (const auto* scalar = std::get_if<ScalarLeaf>(&leaf)) return in(scalar->value);
    const auto& array = std::get<ArrayLeaf>(leaf);
    return in(array.block) || in(array.dims);
  }
  bool in(const Arg& arg) const { return arg.kind == Arg::kBlock ? in(arg.block) : in(arg.scalar); }
  /// Whether what was looked through so far calls functions.
  bool calls() const { return calls_; }
  bool in(const HostOp& op) const {
    return std::visit([&](const auto& o) { return in(o); }, op.op);
  }

 private:
  bool in(const OpScalar& o) const { return in(o.dst) || in(o.args); }
  bool in(const OpMove& o) const { return in(o.dst) || in(o.src); }
  bool in(const OpAlloc& o) const { return in(o.dst) || in(o.bytes); }
  bool in(const OpMoveBlock& o) const { return in(o.dst) || in(o.src); }
  bool in(const OpPart& o) const { return in(o.dst) || in(o.src) || in(o.offset) || in(o.bytes); }
  bool in(const OpRelease& o) const { return in(o.block); }
  bool in(const OpLaunch& o) const { return in(o.groups) || in(o.args); }
  bool in(const OpRead& o) const { return in(o.dst) || in(o.block) || in(o.offset); }
  bool in(const OpWrite& o) const { return in(o.block) || in(o.offset) || in(o.values); }
  bool in(const OpIf& o) const { return in(o.cond) || in(o.then_code) || in(o.else_code); }
  bool in(const OpWhile& o) const { return in(o.head) || in(o.cond) || in(o.body); }
  bool in(const OpTune& o) const { return in(o.dst); }
  bool in(const OpCompare& o) const { return in(o.dst) || in(o.size); }
  bool in(const OpAssert& o) const { return in(o.cond) || in(o.message); }
  bool in(const OpCall& o) const {
    calls_ = true;
    return in(o.scalars) || in(o.blocks) || in(o.scalar_results) || in(o.block_results);
  }

  mutable bool calls_ = false;
  uint32_t scalars_, blocks_;
};

}  // namespace

bool uses_constants(const Program& program, const Entry& entry) {
  const Search search(program.constant_scalar_regs, program.constant_block_regs);
  if (search.in(entry.code) || search.in(entry.result)) return true;
  // Which functions are called matters little: most programs have none.
  return search.calls() &&
         std::any_of(program.functions.begin(), program.functions.end(), [&](const Function& f) {
           return search.in(f.code) || search.in(f.scalar_results) || search.in(f.block_results);
         });
}

}  // namespace kenaz::host
