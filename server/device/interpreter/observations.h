// What the interpreter has seen kernels do, by kernel and instruction.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/kir/eval/observe.h"
#include "server/device/interpreter/unread.h"

namespace kenaz::device::interpreter {

/// An instruction that accesses memory or branches.
struct Site {
  enum class Kind : uint8_t { kLoad, kStore, kAtomic, kBranch, kLoop };
  Kind kind = Kind::kLoad;
  std::string array;  // the argument or shared array that it accesses; empty: not known, or none
  std::string place;  // a backtrace, as program::KernelFailure has it; empty: not known
  std::optional<kir::AccessFigures> access;  // of kLoad, kStore, kAtomic
  std::optional<kir::BranchFigures> branch;  // of kBranch, kLoop
};

struct ObservedKernel {
  std::string place;  // as Site::place
  int64_t launches = 0, groups = 0;
  int64_t groups_run = 0;  // to their end
  int group_size = 0;
  std::map<int, Site> sites;  // by the instruction's number in the kernel
};

struct Observations {
  int subgroup_size = 0;
  std::map<std::string, ObservedKernel> kernels;  // by name
  Unread unread;
  /// A launch or a call has not come to its end: what later launches would have read is not known.
  bool broken_off = false;
  /// By kernel and the instruction's number in it.
  std::map<std::pair<std::string, int>, Unread::Writer> writers;

  struct Groups {
    int64_t all = 0, run = 0;
  };
  /// Adds one launch. `places`: by provenance.
  void add(const kir::Kernel& kernel, const std::vector<std::string>& places, Groups groups,
           const kir::FiguresObserver& seen);
};

/// Sees one launch of the kernel, which must outlive it, as must `all`: what it stores and reads
/// goes there at once, its figures by Observations::add.
class LaunchObserver : public kir::FiguresObserver {
 public:
  LaunchObserver(const kir::Kernel& kernel, Observations& all);
  void on_access(const kir::Inst& inst, const Place& place, bool shared, bool write,
                 uint64_t address, int bytes) override;
  void on_group_end(int64_t group) override;
  /// Workgroups that have ended.
  int64_t ended() const { return ended_; }

 private:
  Observations& all_;
  int64_t ended_ = 0;
  std::unordered_map<const kir::Inst*, Unread::Writer> writers_;
};

}  // namespace kenaz::device::interpreter
