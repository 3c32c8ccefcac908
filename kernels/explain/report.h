// How a program runs on a device: what --explain prints, as data. Collected by code generation
// (recorder.h) out of what it decides, and of the notes that passes leave (ir/notes.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/diagnostics/source.h"
#include "kernels/ir/notes.h"
#include "kernels/plan/host_expr.h"

namespace kenaz::explain {

enum class Kind : uint8_t {
  kMap,
  kScatter,
  kHistogram,
  kReduce,
  kScan,
  kPack,
  kSort,
  kOneThread,
  kGroups,  // a workgroup for each element
};

/// A product of sizes, by their names in --dump seg; a constant factor apart.
struct Size {
  int64_t factor = 1;
  std::vector<std::string> names;  // sorted
  friend bool operator==(const Size&, const Size&) = default;
};
/// The sum of these, in bytes.
using Bytes = std::vector<Size>;

/// The operation runs only where a version of the nest around it is taken.
struct InVersion {
  std::string name;          // of the version
  std::string param;         // tuning parameter; empty: the condition is none of a threshold
  std::optional<Size> size;  // that the parameter is compared with
  bool holds = true;         // whether the parameter must be at most that, or above
};

/// Of the plans, the first whose condition holds is taken. Sizes 0, 1 and 2 in it are the number
/// of segments, their length and the number of bins; spec 0 is the workgroup's size.
struct PlanChoice {
  std::string name;
  plan::HostExpr when;
};

enum class OneByOne : uint8_t {
  kElements,  // the code of an element loads it by itself
  kAcross,    // neighbouring threads take neighbouring segments
};

/// A combinator, or a loop or branch around some, in the code of one element.
struct Inside {
  SourceRange place;
  std::optional<ir::Stays::Why> why;  // null: the version leaves it there
};

struct Operation {
  Kind kind = Kind::kMap;
  SourceRange place;
  std::vector<SourceRange> fused;  // combinators that have become part of it
  std::vector<InVersion> versions;
  std::vector<Size> space;          // the sizes of the dims, from outside to inside
  std::vector<PlanChoice> plans;    // empty: a thread for each element
  int group_size = 0;               // threads of a workgroup, as far as plans decide; else 0
  int width = 1;                    // neighbours that are loaded at once
  std::optional<OneByOne> why_one;  // where width is 1
  Bytes reads, writes;              // of the code of one element, memory of its own left out
  std::vector<Inside> inside;
  std::optional<ir::OneThread::Why> one_thread;  // kOneThread: why, if that is noted
};

/// A nest of which there could have been two versions, and is one.
struct Refused {
  SourceRange place;
  ir::OneVersion::Why why = ir::OneVersion::Why::kAttribute;
};

/// A nest that has no version for workgroups, where such versions are made.
struct NoGroups {
  SourceRange place;
  ir::NoGroups::Why why = ir::NoGroups::Why::kAttribute;
};

struct EntryReport {
  std::string name;  // "constants": what is computed when the program is loaded
  std::vector<Operation> operations;
};

struct Report {
  std::string device;  // that it is about
  std::vector<EntryReport> entries;
  std::vector<Refused> refused;     // of the whole program
  std::vector<NoGroups> no_groups;  // likewise
};

}  // namespace kenaz::explain
