#include "kernels/kir/eval/observe.h"

#include <algorithm>
#include <set>

#include "protocol/base/check.h"

namespace kenaz::kir {
namespace {

int64_t parts(int64_t bytes, uint64_t part) {
  return (bytes + static_cast<int64_t>(part) - 1) / static_cast<int64_t>(part);
}

/// How many pieces of memory of this size the accesses touch.
int64_t touched(std::span<const uint64_t> sorted, int bytes, uint64_t size) {
  int64_t n = 0;
  uint64_t next = 0;  // the first piece that has not been counted
  for (const uint64_t a : sorted) {
    const uint64_t first = std::max(a / size, next);
    const uint64_t last = (a + static_cast<uint64_t>(bytes) - 1) / size;
    if (last < first) continue;
    n += static_cast<int64_t>(last - first + 1);
    next = last + 1;
  }
  return n;
}

/// How often the bank with the most words must be accessed, and with words spread evenly.
std::pair<int64_t, int64_t> bank_turns(std::span<const uint64_t> unique, int bytes) {
  std::set<uint64_t> words;
  for (const uint64_t a : unique) {
    for (uint64_t w = a / kBankBytes; w <= (a + static_cast<uint64_t>(bytes) - 1) / kBankBytes;
         ++w) {
      words.insert(w);
    }
  }
  std::array<int64_t, kBanks> of_bank{};
  for (const uint64_t w : words) ++of_bank[w % kBanks];
  const int64_t count = static_cast<int64_t>(words.size());
  return {*std::max_element(of_bank.begin(), of_bank.end()), (count + kBanks - 1) / kBanks};
}

int64_t most_at_one_place(std::span<const uint64_t> sorted) {
  int64_t most = 0, run = 0;
  for (size_t k = 0; k < sorted.size(); ++k) {
    run = k > 0 && sorted[k] == sorted[k - 1] ? run + 1 : 1;
    most = std::max(most, run);
  }
  return most;
}

}  // namespace

std::string_view describe(AccessClass c) {
  switch (c) {
    case AccessClass::kSingle: return "single";
    case AccessClass::kContiguous: return "contiguous";
    case AccessClass::kMisaligned: return "misaligned";
    case AccessClass::kBroadcast: return "broadcast";
    case AccessClass::kStrided: return "strided";
    case AccessClass::kPermuted: return "permuted";
    case AccessClass::kScattered: return "scattered";
  }
  UNREACHABLE("an AccessClass");
}

void AccessFigures::add(const AccessFigures& o) {
  shared = o.shared, write = o.write, bytes_each = o.bytes_each;
  requests += o.requests, lanes += o.lanes, bytes += o.bytes;
  sectors += o.sectors, lines += o.lines;
  least_sectors += o.least_sectors, least_lines += o.least_lines;
  bank_turns += o.bank_turns, least_bank_turns += o.least_bank_turns;
  same_place += o.same_place;
  for (size_t k = 0; k < classes.size(); ++k) classes[k] += o.classes[k];
  for (const auto& [stride, n] : o.strides) strides[stride] += n;
  for (const auto& [count, n] : o.by_sectors) by_sectors[count] += n;
  for (const auto& [count, n] : o.by_lanes) by_lanes[count] += n;
}

void BranchFigures::add(const BranchFigures& o) {
  requests += o.requests, lanes += o.lanes, taken += o.taken, divergent += o.divergent;
}

std::pair<AccessClass, int64_t> classify(std::span<const uint64_t> addresses, int bytes) {
  if (addresses.size() < 2) return {AccessClass::kSingle, 0};
  const auto distance = [&](size_t k) {
    return static_cast<int64_t>(addresses[k] - addresses[k - 1]);
  };
  const int64_t first = distance(1);
  bool regular = true;
  for (size_t k = 2; k < addresses.size() && regular; ++k) regular = distance(k) == first;
  std::vector<uint64_t> sorted(addresses.begin(), addresses.end());
  std::sort(sorted.begin(), sorted.end());
  if (regular && first == 0) return {AccessClass::kBroadcast, 0};
  if (regular && first == bytes) {
    const int64_t all = static_cast<int64_t>(addresses.size()) * bytes;
    const bool aligned = touched(sorted, bytes, kSectorBytes) == parts(all, kSectorBytes);
    return {aligned ? AccessClass::kContiguous : AccessClass::kMisaligned, 0};
  }
  if (regular && first % bytes == 0) return {AccessClass::kStrided, first / bytes};
  const uint64_t span = sorted.back() - sorted.front();
  const bool distinct = std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
  if (distinct && span == (sorted.size() - 1) * static_cast<uint64_t>(bytes)) {
    return {AccessClass::kPermuted, 0};
  }
  return {AccessClass::kScattered, 0};
}

size_t FiguresObserver::Hash::operator()(const Key& k) const {
  uint64_t h = k.turn;
  for (const uint64_t part : {reinterpret_cast<uint64_t>(k.inst), static_cast<uint64_t>(k.group),
                              static_cast<uint64_t>(k.subgroup)}) {
    h = (h ^ part) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
  }
  return h;
}

FiguresObserver::Key FiguresObserver::key(const Inst& inst, const Place& place) const {
  return {&inst, place.group, place.local / subgroup_size_, place.turn};
}

void FiguresObserver::on_access(const Inst& inst, const Place& place, bool shared, bool write,
                                uint64_t address, int bytes) {
  const Key k = key(inst, place);
  const auto [it, fresh] = requests_.try_emplace(k);
  Request& request = it->second;
  if (fresh) {
    request.bytes = bytes;
    request.shared = shared;
  }
  request.write = request.write || write;
  request.lanes.emplace_back(place.local % subgroup_size_, address);
  if (static_cast<int>(request.lanes.size()) < subgroup_size_) return;
  finish(k, request);
  requests_.erase(it);
}

void FiguresObserver::on_branch(const Inst& inst, const Place& place, bool taken) {
  const Key k = key(inst, place);
  Branch& branch = open_branches_[k];
  ++branch.lanes;
  branch.taken += taken ? 1 : 0;
  if (branch.lanes < subgroup_size_) return;
  finish(k, branch);
  open_branches_.erase(k);
}

void FiguresObserver::on_group_end(int64_t group) {
  const auto finish_all = [&](auto& open) {
    for (auto it = open.begin(); it != open.end();) {
      if (it->first.group != group) {
        ++it;
        continue;
      }
      finish(it->first, it->second);
      it = open.erase(it);
    }
  };
  finish_all(requests_);
  finish_all(open_branches_);
}

void FiguresObserver::finish(const Key& key, Request& request) {
  std::sort(request.lanes.begin(), request.lanes.end());
  std::vector<uint64_t> addresses;
  for (const auto& [lane, address] : request.lanes) addresses.push_back(address);
  const auto [kind, stride] = classify(addresses, request.bytes);
  std::sort(addresses.begin(), addresses.end());
  AccessFigures one;
  one.shared = request.shared;
  one.write = request.write;
  one.bytes_each = request.bytes;
  one.requests = 1;
  one.lanes = static_cast<int64_t>(addresses.size());
  one.same_place = most_at_one_place(addresses);
  one.classes[static_cast<size_t>(kind)] = 1;
  if (kind == AccessClass::kStrided) one.strides[stride] = 1;
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  one.bytes = static_cast<int64_t>(addresses.size()) * request.bytes;
  if (request.shared) {
    std::tie(one.bank_turns, one.least_bank_turns) = bank_turns(addresses, request.bytes);
  } else {
    one.sectors = touched(addresses, request.bytes, kSectorBytes);
    one.lines = touched(addresses, request.bytes, kLineBytes);
    one.least_sectors = parts(one.bytes, kSectorBytes);
    one.least_lines = parts(one.bytes, kLineBytes);
  }
  one.by_sectors[one.shared ? one.bank_turns : one.sectors] = 1;
  one.by_lanes[one.lanes] = 1;
  accesses_[key.inst].add(one);
}

void FiguresObserver::finish(const Key& key, const Branch& branch) {
  const bool divergent = branch.taken > 0 && branch.taken < branch.lanes;
  branches_[key.inst].add({1, branch.lanes, branch.taken, divergent ? 1 : 0});
}

}  // namespace kenaz::kir
