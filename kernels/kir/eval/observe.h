// Figures of what a kernel's accesses and branches cost on a GPU: how many sectors of memory the
// threads of a subgroup touch together, whether they conflict in shared memory, how many of them
// are active. An observer of the interpreter collects them by instruction.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/kir/eval/machine.h"

namespace kenaz::kir {

/// How the addresses of a subgroup's threads, in the order of their lanes, lie in memory.
enum class AccessClass : uint8_t {
  kSingle,      // one thread only
  kContiguous,  // each thread the place behind the one before
  kMisaligned,  // the same, but across more sectors than the bytes need
  kBroadcast,   // all the same place
  kStrided,     // the same distance from each to the next, also backwards
  kPermuted,    // places without gaps, in another order
  kScattered,   // anything else
};
inline constexpr int kAccessClasses = 7;
/// "contiguous", ..
std::string_view describe(AccessClass c);

inline constexpr uint64_t kSectorBytes = 32, kLineBytes = 128;
inline constexpr int kBanks = 32, kBankBytes = 4;

/// A request is what the threads of one subgroup do by one instruction in one turn of the loops
/// around it. Sums over requests.
struct AccessFigures {
  bool shared = false, write = false;
  int bytes_each = 0;  // of a thread's access
  int64_t requests = 0;
  int64_t lanes = 0;                           // threads that take part
  int64_t bytes = 0;                           // different ones
  int64_t sectors = 0, lines = 0;              // touched; of device memory
  int64_t least_sectors = 0, least_lines = 0;  // that could hold the bytes
  /// Of shared memory: how often a bank must be accessed, one time after the other, and how often
  /// if the words were spread evenly.
  int64_t bank_turns = 0, least_bank_turns = 0;
  int64_t same_place = 0;  // most threads at one place, of each request; for atomics
  std::array<int64_t, kAccessClasses> classes{};  // requests by class
  /// kStrided: requests by distance, in sizes of an access.
  std::map<int64_t, int64_t> strides;
  /// Requests by the sectors that they touch (shared memory: by bank_turns), and by their threads.
  std::map<int64_t, int64_t> by_sectors, by_lanes;

  void add(const AccessFigures& other);
};

struct BranchFigures {
  int64_t requests = 0, lanes = 0, taken = 0;
  int64_t divergent = 0;  // requests whose threads go both ways

  void add(const BranchFigures& other);
};

/// One request's class, and the distance if it is kStrided (else 0). Addresses by lane.
std::pair<AccessClass, int64_t> classify(std::span<const uint64_t> addresses, int bytes);

/// Counts what kernels do, of any number of runs with subgroups of this size. Instructions are told
/// apart by their address.
class FiguresObserver : public Observer {
 public:
  explicit FiguresObserver(int subgroup_size) : subgroup_size_(subgroup_size) {}

  void on_access(const Inst& inst, const Place& place, bool shared, bool write, uint64_t address,
                 int bytes) override;
  void on_branch(const Inst& inst, const Place& place, bool taken) override;
  void on_group_end(int64_t group) override;

  /// Complete for workgroups that have ended.
  const std::map<const Inst*, AccessFigures>& accesses() const { return accesses_; }
  const std::map<const Inst*, BranchFigures>& branches() const { return branches_; }

 private:
  struct Key {
    const Inst* inst;
    int64_t group;
    int subgroup;
    uint64_t turn;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    size_t operator()(const Key& k) const;
  };
  struct Request {
    std::vector<std::pair<int, uint64_t>> lanes;  // with their addresses
    int bytes = 0;
    bool shared = false, write = false;
  };
  struct Branch {
    int lanes = 0, taken = 0;
  };
  Key key(const Inst& inst, const Place& place) const;
  void finish(const Key& key, Request& request);
  void finish(const Key& key, const Branch& branch);

  const int subgroup_size_;
  std::unordered_map<Key, Request, Hash> requests_;  // not complete yet
  std::unordered_map<Key, Branch, Hash> open_branches_;
  std::map<const Inst*, AccessFigures> accesses_;
  std::map<const Inst*, BranchFigures> branches_;
};

}  // namespace kenaz::kir
