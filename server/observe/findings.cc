#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "server/observe/report.h"

namespace kenaz::observe {
namespace {

/// What is less than this much more than the least is not worth a sentence.
constexpr double kWorthSaying = 1.2;
constexpr double kWorthSayingOfBanks = 1.5;
constexpr int64_t kHotLanes = 4;  // of an atomic's request, at one place
constexpr double kOftenDivergent = 0.1, kOftenIdle = 0.25;
/// Of what is stored: never read. And at least so many bytes.
constexpr double kOftenLost = 0.5;
constexpr int64_t kLostBytes = 256;

kir::AccessClass main_class(const kir::AccessFigures& f) {
  const auto most = std::max_element(f.classes.begin(), f.classes.end());
  return static_cast<kir::AccessClass>(most - f.classes.begin());
}

int64_t main_stride(const kir::AccessFigures& f) {
  const auto most = std::max_element(f.strides.begin(), f.strides.end(),
                                     [](auto& a, auto& b) { return a.second < b.second; });
  return most == f.strides.end() ? 0 : most->first;
}

/// Why more sectors than needed are touched, and what to do.
std::string cause(const kir::AccessFigures& f) {
  switch (main_class(f)) {
    case kir::AccessClass::kStrided: {
      const int64_t stride = main_stride(f);
      if (stride < 0 && stride == -1) {
        return "Neighbouring threads access neighbouring elements, the last one first, from a "
               "place that is not aligned.";
      }
      return fmt::format(
          "Neighbouring threads access elements {} apart. Let them access neighbours: transpose "
          "the array, or map over its innermost dimension.",
          std::abs(stride));
    }
    case kir::AccessClass::kMisaligned:
      return "Neighbouring threads access neighbours, but not from a multiple of 32 bytes on. Let "
             "rows have a multiple of 32 bytes, or begin at the array's start.";
    case kir::AccessClass::kSingle:
      return "One thread of a subgroup accesses memory at a time. Let more threads share the work.";
    case kir::AccessClass::kScattered:
      return "Threads access places far from each other. Sort what they work on by place, or keep "
             "what is used together in one array.";
    default: return "Some of the threads' places are far from the others'.";
  }
}

void device_access(const Row& row, std::vector<Finding>& out) {
  const kir::AccessFigures& f = row.access;
  if (f.sectors < kWorthSaying * static_cast<double>(f.least_sectors)) return;
  out.push_back({row.place,
                 fmt::format("The {} touch {:.1f} sectors of 32 bytes in a subgroup, where {:.1f} "
                             "could hold the bytes. {}",
                             name_of(row), mean(f.sectors, f.requests),
                             mean(f.least_sectors, f.requests), cause(f)),
                 f.sectors - f.least_sectors});
}

void shared_access(const Row& row, std::vector<Finding>& out) {
  const kir::AccessFigures& f = row.access;
  if (static_cast<double>(f.bank_turns) <
      kWorthSayingOfBanks * static_cast<double>(f.least_bank_turns)) {
    return;
  }
  out.push_back({row.place,
                 fmt::format("The {} meet in the same banks of shared memory: {:.1f} accesses, one "
                             "after the other, where {:.1f} would do.",
                             name_of(row), mean(f.bank_turns, f.requests),
                             mean(f.least_bank_turns, f.requests)),
                 f.bank_turns - f.least_bank_turns});
}

void atomic_access(const Row& row, std::vector<Finding>& out) {
  const kir::AccessFigures& f = row.access;
  if (row.kind != Site::Kind::kAtomic || f.same_place < kHotLanes * f.requests) return;
  out.push_back({row.place,
                 fmt::format("The {} meet: {:.1f} threads of a subgroup change one place, one "
                             "after the other. More bins, or a reduction of each thread's own "
                             "values first, would spread them.",
                             name_of(row), mean(f.same_place, f.requests)),
                 f.same_place - f.requests});
}

void lost_stores(const Row& row, std::vector<Finding>& out) {
  const auto& [stored, lost] = row.written;
  if (lost < kLostBytes || mean(lost, stored) < kOftenLost) return;
  out.push_back({row.place,
                 fmt::format("Of {} bytes that the {} write, {} are never read: they are "
                             "overwritten or released before. Do not compute them, or keep only "
                             "what is used.",
                             stored, name_of(row), lost),
                 lost / static_cast<int64_t>(kir::kSectorBytes)});
}

void branch(const Row& row, int subgroup_size, std::vector<Finding>& out) {
  const kir::BranchFigures& b = row.branch;
  if (row.kind == Site::Kind::kBranch) {
    if (mean(b.divergent, b.requests) < kOftenDivergent) return;
    out.push_back({row.place,
                   fmt::format("Threads of a subgroup go both ways of a branch in {:.0f}% of the "
                               "times, and wait for each other. Let neighbouring elements go the "
                               "same way, or compute both and choose.",
                               100 * mean(b.divergent, b.requests)),
                   b.divergent});
    return;
  }
  const int64_t places = b.requests * subgroup_size;
  if (mean(b.lanes, places) > 1 - kOftenIdle) return;
  out.push_back({row.place,
                 fmt::format("In a loop {:.1f} of {} threads of a subgroup are active: the others "
                             "have made fewer turns, or do not take part, and wait.",
                             mean(b.lanes, b.requests), subgroup_size),
                 (places - b.lanes) / subgroup_size});
}

/// Blocks that are no parameter's are numbered by code generation, "b2": the place tells more.
bool has_name(const Row& row) {
  const std::string_view array = row.array;
  const bool number =
      array.starts_with('b') && array.find_first_not_of("0123456789", 1) == std::string_view::npos;
  return row.access.shared || (!array.empty() && !number);
}

}  // namespace

std::string name_of(const Row& row) {
  const std::string of = has_name(row) ? " of " + row.array : "";
  switch (row.kind) {
    case Site::Kind::kLoad: return "loads" + of;
    case Site::Kind::kStore: return "stores" + of;
    case Site::Kind::kAtomic: return "atomic operations" + of;
    case Site::Kind::kBranch: return "a branch";
    case Site::Kind::kLoop: return "a loop";
  }
  return "";
}

std::vector<Finding> findings_of(const std::vector<Row>& rows, int subgroup_size) {
  std::vector<Finding> out;
  for (const Row& row : rows) {
    if (row.branch.requests > 0) branch(row, subgroup_size, out);
    if (row.access.requests == 0) continue;
    if (row.access.shared) {
      shared_access(row, out);
    } else {
      device_access(row, out);
    }
    atomic_access(row, out);
    lost_stores(row, out);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Finding& a, const Finding& b) { return a.cost > b.cost; });
  return out;
}

}  // namespace kenaz::observe
