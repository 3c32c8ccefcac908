#include <fmt/format.h>

#include "kernels/kir/eval/interpreter.h"
#include "protocol/base/check.h"

namespace kenaz::kir {
namespace {

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
  fault_ = Fault{kind,
                 fmt::format("{}, in kernel {}, thread {} of workgroup {}: {}", name(op),
                             kernel_.name, t.number(), g.number, what),
                 op.inst == nullptr ? kernel_.prov : op.inst->prov,
                 {},
                 0};
  return false;
}

/// `where` says which bytes.
bool Machine::race(const Group& g, const Thread& t, const Op& op, const std::string& where,
                   const eval::Races::Conflict& conflict) {
  const eval::Who who = races_.who(conflict.with);
  const size_t number = launches_.of_group(who.group);
  const eval::Launches::Launch& launch = launches_.launch(number);
  const auto before = static_cast<int>(launches_.count() - 1 - number);
  std::string whose = fmt::format("workgroup {}", who.group - launch.first_group);
  if (who.local != eval::kAnyThread) whose = fmt::format("thread {} of {}", who.local, whose);
  const std::string in = before == 0 ? name(code_.ops[conflict.with.op()])
                                     : fmt::format(
                                           "in kernel {}, which ran before without a "
                                           "barrier behind it",
                                           launch.kernel);
  fault(FaultKind::kRace, g, t, op,
        fmt::format("{}: unordered with the {} of {}: {}", where,
                    conflict.was_write ? "write" : "read", whose, in));
  fault_->other = launch.places[conflict.with.op()];
  fault_->launches_before = before;
  return false;
}

std::string_view describe(FaultKind kind) {
  switch (kind) {
    case FaultKind::kOutOfBlock: return "an access outside of a block";
    case FaultKind::kUndefined: return "use of an undefined value";
    case FaultKind::kMisaligned: return "a misaligned access";
    case FaultKind::kRace: return "a race";
    case FaultKind::kDivergentBarrier: return "a barrier that not all threads reach";
    case FaultKind::kDivergentSubgroup:
      return "a subgroup operation that not all threads of the subgroup reach";
    case FaultKind::kEndless: return "a kernel that does not end";
  }
  UNREACHABLE("a FaultKind");
}

std::string_view title_of_other(FaultKind kind) {
  switch (kind) {
    case FaultKind::kRace: return "The other access";
    case FaultKind::kUndefined: return "Where the value comes from";
    default: return "Where threads part, or others wait";
  }
}

}  // namespace kenaz::kir
