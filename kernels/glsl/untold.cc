#include "kernels/glsl/untold.h"

#include "kernels/kir/access.h"
#include "kernels/kir/origins.h"
#include "kernels/kir/visit.h"
#include "protocol/base/overloaded.h"

namespace kenaz::glsl {

using namespace kir;  // NOLINT: this folder prints that one's instructions

namespace {

uint64_t source(size_t arg) { return uint64_t{1} << (arg % 64); }

/// Of each load, the blocks that it may be from; all if the kernel writes one of them, as drivers
/// take what a thread has stored for what it loads.
std::vector<uint64_t> sources_of_loads(const Kernel& kernel) {
  const Origins origins(kernel);
  const std::vector<Access> access = access_of(kernel);
  std::vector<uint64_t> sources;
  for_each_inst_of(kernel, [&](const Inst& inst) {
    const auto* load = std::get_if<ILoad>(&inst.op);
    if (load == nullptr) return;
    uint64_t all = 0;
    if (const auto* base = std::get_if<Value>(&load->from.base)) {
      for (const size_t arg : origins.blocks_of(*base)) {
        const bool written = access[arg] == Access::kWrite || access[arg] == Access::kReadWrite;
        all |= written ? ~uint64_t{0} : source(arg);
      }
    } else {
      all = ~uint64_t{0};
    }
    sources.push_back(all);
  });
  return sources;
}

bool makes_floats_of_integers(const Kernel& kernel) {
  bool any = false;
  for_each_inst_of(kernel, [&](const Inst& inst) {
    const auto* prim = std::get_if<IPrim>(&inst.op);
    any |= prim != nullptr && prim->op == ScalarOp::kConvert && is_integer(prim->type) &&
           is_float(prim->to);
  });
  return any;
}

bool is_odd(const Value& v) { return v.is_const() && (v.constant().as_i64() & 1) != 0; }

/// By fewer bits than there are.
bool is_shift(const Value& by, PrimType type) {
  return by.is_const() && by.constant().as_i64() >= 0 &&
         by.constant().as_i64() < int64_t{8} * prim_size(type);
}

}  // namespace

Untold::Untold(const Kernel& kernel) : known_(kernel.vals.size()) {
  if (!makes_floats_of_integers(kernel)) return;  // nobody asks
  for (size_t k = 0; k < kernel.args.size(); ++k) {
    known_[kernel.args[k].val.index] = {source(k), true, true};
  }
  for (const Spec& s : kernel.specs) known_[s.val.index] = kConstant;
  const std::vector<uint64_t> blocks = sources_of_loads(kernel);
  size_t load = 0;
  for (const Function& f : kernel.functions) look_at(f.body, blocks, load);
  look_at(kernel.main, blocks, load);
}

void Untold::look_at(const Block& block, const std::vector<uint64_t>& blocks, size_t& load) {
  for_each_inst(block, [&](const Inst& inst) {
    std::visit(
        Overloaded{
            [&](const ILoad& i) {
              const uint64_t sources = blocks[load++];
              known_[i.dst.index] = {sources, sources != kAny, sources != kAny};
            },
            [&](const IExtract& i) { known_[i.dst.index] = of(i.vector); },
            [&](const IBuiltin& i) { known_[i.dst.index] = kConstant; },
            [&](const IFor& i) {
              known_[i.index.index] = {of(i.from).sources | of(i.step).sources, false, false};
            },
            [&](const IPrim& i) { known_[i.dst.index] = of_prim(i); },
            [](const auto&) {},
        },
        inst.op);
  });
}

Untold::Known Untold::of_prim(const IPrim& i) const {
  Known known{0, false, false};
  for (const Value& v : i.args) known.sources |= of(v).sources;
  if (!is_integer(i.type)) return known;
  const Known& a = of(i.args[0]);
  const Known& b = i.args.size() > 1 ? of(i.args[1]) : kConstant;
  const bool apart = (a.sources & b.sources) == 0;
  switch (i.op) {
    case ScalarOp::kAdd:
    case ScalarOp::kSub:
    case ScalarOp::kXor: known.untold = apart && (a.untold || b.untold); break;
    case ScalarOp::kMul:  // by 0, in the first turn of a loop, it would be told
      known.untold = apart && ((a.untold && b.untold) || (a.untold && is_odd(i.args[1])) ||
                               (b.untold && is_odd(i.args[0])));
      break;
    case ScalarOp::kLShr:
    case ScalarOp::kShr: known.untold = a.mixed && is_shift(i.args[1], i.type); return known;
    case ScalarOp::kConvert: known.untold = a.untold && is_integer(i.to); return known;
    default: return known;
  }
  known.mixed = known.untold && (a.mixed || b.mixed);
  return known;
}

}  // namespace kenaz::glsl
