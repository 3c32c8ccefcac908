#include <fmt/format.h>

#include "kernels/kir/eval/interpreter.h"

namespace kenaz::kir {
namespace {

constexpr const char* kFaults[] = {"kOutOfBlock", "kUndefined",        "kMisaligned",
                                   "kRace",       "kDivergentBarrier", "kDivergentSubgroup",
                                   "kEndless"};

/// By the alternatives of Inst::op.
constexpr const char* kNames[] = {"scalar operation",
                                  "builtin",
                                  "compose",
                                  "extract",
                                  "load",
                                  "store",
                                  "atomic",
                                  "subgroup operation",
                                  "barrier",
                                  "fence",
                                  "declare",
                                  "read",
                                  "assign",
                                  "if",
                                  "for",
                                  "while",
                                  "call",
                                  "fail",
                                  "stop"};
static_assert(std::size(kNames) == std::variant_size_v<decltype(Inst::op)>);

template <class T>
concept HasDst = requires(const T& op) {
  op.dst;
};

std::string place_text(const Kernel& kernel, const Address& at) {
  if (const auto* shared = std::get_if<SharedId>(&at.base)) {
    return " of shared array " + kernel.shared[shared->index].name;
  }
  if (const auto* local = std::get_if<LocalId>(&at.base)) {
    return " of local array " + kernel.locals[local->index].name;
  }
  return "";
}

}  // namespace

std::string Machine::name(const Op& op) const {
  if (op.inst == nullptr) return "end";
  std::string text = kNames[op.inst->op.index()];
  if (const auto* load = std::get_if<ILoad>(&op.inst->op)) text += place_text(kernel_, load->from);
  if (const auto* store = std::get_if<IStore>(&op.inst->op)) text += place_text(kernel_, store->to);
  if (const auto* a = std::get_if<IAtomic>(&op.inst->op)) text += place_text(kernel_, a->at);
  std::visit(
      [&](const auto& inst) {
        if constexpr (HasDst<std::decay_t<decltype(inst)>>) {
          if (inst.dst.valid()) text += fmt::format(" v{}", inst.dst.index);
        }
      },
      op.inst->op);
  return text + fmt::format(" (#{})", &op - code_.ops.data());
}

bool Machine::fault(FaultKind kind, const Group& g, const Thread& t, const Op& op,
                    const std::string& what) {
  fault_ = Fault{fmt::format("{}: {}, in kernel {}, thread {} of workgroup {}: {}",
                             kFaults[static_cast<int>(kind)], name(op), kernel_.name, t.number(),
                             g.number, what),
                 op.inst == nullptr ? kernel_.prov : op.inst->prov};
  return false;
}

}  // namespace kenaz::kir
