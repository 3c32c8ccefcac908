// What the threads of a workgroup do together: the body of an ESeg of level kGroup, in the main of
// a kernel.
//
// Scalars are computed by every thread. The points of ESegs in the body are spread over the threads
// and so are the elements of arrays that are copied, updated or put together; behind each stands a
// barrier, and before it one if something may still be read that it overwrites.
//
// A thread that has stopped makes no elements. So that others don't take for elements what was
// there before, all threads stop behind the barrier if one has.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "kernels/body/thread.h"
#include "kernels/host_code/group_memory.h"
#include "kernels/host_code/host_arrays.h"
#include "kernels/primitives/blocks/combine.h"

namespace kenaz::host_code {

class GroupCode {
 public:
  /// At the start of main; what it is given must outlive it.
  GroupCode(HostArrays& host, body::Thread& t, plan::Team& team, GroupMemory& memory,
            const ir::Body& b);

  /// Runs the body. `dests`: where its results go, by number.
  void run(const ir::Body& b, const std::vector<body::KernelArray>& dests);

 private:
  using Array = body::KernelArray;
  using Result = body::KernelValue;
  using Value = kir::Value;
  using Values = kir::Values;
  using AtIndex = std::function<void(const Values&)>;

  void find_combiners(const ir::Body& b, plan::Team& team);
  void want(const ir::Body& b, const ir::Atom& result, const Array& dest);
  std::vector<Result> body(const ir::Body& b);
  void stm(const ir::Stm& s);

  // the threads and what they have written
  void count_threads();
  void before_write();
  void after_write();
  void strided(const Value& count, const std::function<void(const Value&)>& f);
  /// For each of some points, by one of the threads.
  void points(const Values& sizes, const AtIndex& f);
  Value count(const Values& sizes);
  Values indices(const Values& sizes, const Value& linear);
  void by_one(const std::function<void()>& f);

  // arrays (group_arrays.cc)
  bool arrays(const ir::Stm& s);
  Array new_array(ir::VarId v);
  Array in_memory(const Array& a, ir::VarId type_of);
  void copy(const Array& from, const Array& to);  // without barriers
  void move(const Array& from, const Array& to);  // with barriers
  void put(const Result& v, const Array& to);     // without
  void update(const ir::Stm& s, const ir::EUpdate& e);
  void replicate(const ir::Stm& s, const ir::EReplicate& e);
  void literal(const ir::Stm& s, const ir::EArrayLit& e);
  void concat(const ir::Stm& s, const ir::EConcat& e);
  void reshape(const ir::Stm& s, const ir::EReshape& e);
  // control (group_control.cc)
  void branch(const ir::Stm& s, const ir::EIf& e);
  void loop(const ir::Stm& s, const ir::ELoop& e);
  Array loop_memory(const ir::ELoop& e, size_t k);
  void next(const ir::ELoop& e, const std::map<size_t, kir::Var>& scalars,
            const std::map<size_t, Array>& memory, const std::vector<Result>& results);
  // segmented operations (group_segs.cc)
  void seg(const ir::Stm& s, const ir::ESeg& e);
  Values element(const ir::ESeg& e, const std::vector<Array>& targets, const Values& at);
  void reduce(const ir::Stm& s, const ir::ESeg& e, const std::vector<Array>& targets);
  Values reduce_together(const ir::ESeg& e, const std::vector<Array>& targets, const Values& at,
                         const Value& length);
  void scan(const ir::ESeg& e, const std::vector<Array>& targets);
  struct Range {
    Value from, to;
  };
  /// Combines what `before` is with the targets in this range of a segment, one after the other;
  /// `store`: each becomes what it comes to there.
  Values fold(const ir::ESeg& e, const std::vector<Array>& targets, const Values& at,
              const Range& range, const Values& before, bool store);
  void scan_together(const ir::ESeg& e, const std::vector<Array>& targets, const Values& at,
                     const Value& length);
  /// Lanes next to each other, as many as a power of two; both i32.
  struct Part {
    Value log2_width, width;
  };
  Part part_of(const Values& sizes);
  void reduce_apart(const ir::ESeg& e, const std::vector<Array>& targets, const Values& sizes,
                    const Part& part);
  /// Runs all segments at the same time, each by a part, or one after the other by all threads.
  void segments(const Values& sizes, const Part& part, const std::function<void()>& apart,
                const AtIndex& together);
  void store(const std::vector<Array>& targets, const Values& at, const Values& made);

  HostArrays& host_;
  body::Thread& t_;
  GroupMemory& memory_;
  Value group_size_;  // i64
  bool has_subgroups_;
  std::map<const ir::ESeg*, std::unique_ptr<primitives::blocks::Combiner>> combiners_;
  std::unordered_map<ir::VarId, Array> wanted_;  // places of what ESegs make
  bool dirty_ = false;                           // something has been read since the last barrier
  bool stopping_ = false;  // a thread may have stopped since all have been counted
  /// How many threads have come to each barrier at which they are counted, the sum of all such:
  /// every other barrier has one of two, so that it is read before anybody comes to the next.
  kir::SharedId arrived_;
  kir::Var counted_;  // u32: how often
};

}  // namespace kenaz::host_code
