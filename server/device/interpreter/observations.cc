#include "server/device/interpreter/observations.h"

#include "kernels/kir/needs.h"
#include "kernels/kir/visit.h"

namespace kenaz::device::interpreter {
namespace {

std::string array_name(const kir::Kernel& kernel, const kir::Inst& inst) {
  std::string name;
  kir::visit_address(inst.op, [&](const kir::Address& at) {
    if (const auto* shared = std::get_if<kir::SharedId>(&at.base)) {
      name = kernel.shared[shared->index].name;
    }
    const auto* base = std::get_if<kir::Value>(&at.base);
    if (base == nullptr || base->is_const()) return;
    for (const kir::Arg& arg : kernel.args) {
      if (arg.val == base->id()) name = arg.name;
    }
  });
  return name;
}

Site::Kind kind_of(const kir::Inst& inst) {
  if (std::holds_alternative<kir::ILoad>(inst.op)) return Site::Kind::kLoad;
  if (std::holds_alternative<kir::IStore>(inst.op)) return Site::Kind::kStore;
  if (std::holds_alternative<kir::IAtomic>(inst.op)) return Site::Kind::kAtomic;
  return std::holds_alternative<kir::IIf>(inst.op) ? Site::Kind::kBranch : Site::Kind::kLoop;
}

template <class Figures>
void add_to(std::optional<Figures>& sum, const Figures& more) {
  if (!sum) sum.emplace();
  sum->add(more);
}

}  // namespace

LaunchObserver::LaunchObserver(const kir::Kernel& kernel, Observations& all)
    : FiguresObserver(all.subgroup_size), all_(all) {
  int number = 0;
  kir::for_each_inst_of(kernel, [&](const kir::Inst& inst) {
    const int here = number++;
    if (!std::holds_alternative<kir::IStore>(inst.op) &&
        !std::holds_alternative<kir::IAtomic>(inst.op)) {
      return;
    }
    const auto next = static_cast<Unread::Writer>(all_.writers.size() + 1);
    writers_[&inst] = all_.writers.try_emplace({kernel.name, here}, next).first->second;
  });
}

void LaunchObserver::on_access(const kir::Inst& inst, const Place& place, bool shared, bool write,
                               uint64_t address, int bytes) {
  FiguresObserver::on_access(inst, place, shared, write, address, bytes);
  if (shared) return;
  const auto* atomic = std::get_if<kir::IAtomic>(&inst.op);
  const bool reads = atomic != nullptr ? atomic->op != kir::AtomicOp::kStore : !write;
  if (reads) all_.unread.read(address, bytes);
  if (write) all_.unread.stored(address, bytes, writers_.at(&inst));
}

void LaunchObserver::on_group_end(int64_t group) {
  FiguresObserver::on_group_end(group);
  ++ended_;
}

void Observations::add(const kir::Kernel& kernel, const std::vector<std::string>& places,
                       Groups groups, const kir::FiguresObserver& seen) {
  ObservedKernel& observed = kernels[kernel.name];
  const auto place_of = [&](ir::ProvId prov) {
    return prov.valid() && prov.index < places.size() ? places[prov.index] : "";
  };
  observed.place = place_of(kernel.prov);
  ++observed.launches;
  observed.groups += groups.all;
  observed.groups_run += groups.run;
  observed.group_size = static_cast<int>(kir::value_of(kernel, kernel.group_size));
  int number = 0;
  kir::for_each_inst_of(kernel, [&](const kir::Inst& inst) {
    const int here = number++;
    const auto access = seen.accesses().find(&inst);
    const auto branch = seen.branches().find(&inst);
    if (access == seen.accesses().end() && branch == seen.branches().end()) return;
    Site& site = observed.sites[here];
    site.kind = kind_of(inst);
    site.array = array_name(kernel, inst);
    site.place = place_of(inst.prov.valid() ? inst.prov : kernel.prov);
    if (access != seen.accesses().end()) add_to(site.access, access->second);
    if (branch != seen.branches().end()) add_to(site.branch, branch->second);
  });
}

}  // namespace kenaz::device::interpreter
