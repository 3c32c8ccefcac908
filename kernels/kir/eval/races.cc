#include "kernels/kir/eval/races.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace kenaz::kir::eval {

// ---- knowledge

uint32_t Knowledge::until(uint64_t whom) const {
  auto it = std::lower_bound(entries_.begin(), entries_.end(), std::pair(whom, 0u));
  return it != entries_.end() && it->first == whom ? it->second : 0;
}

void Knowledge::add(uint64_t whom, uint32_t until) {
  auto it = std::lower_bound(entries_.begin(), entries_.end(), std::pair(whom, 0u));
  if (it != entries_.end() && it->first == whom) {
    it->second = std::max(it->second, until);
  } else {
    entries_.insert(it, {whom, until});
  }
}

bool covers(const Knowledge& a, const Knowledge& b) {
  auto x = a.entries_.begin();
  for (const auto& e : b.entries_) {
    while (x != a.entries_.end() && x->first < e.first) ++x;
    if (x == a.entries_.end() || x->first != e.first || x->second < e.second) return false;
  }
  return true;
}

Knowledge join(const Knowledge& a, const Knowledge& b) {
  Knowledge out;
  out.entries_.reserve(a.entries_.size() + b.entries_.size());
  auto x = a.entries_.begin(), y = b.entries_.begin();
  while (x != a.entries_.end() || y != b.entries_.end()) {
    if (y == b.entries_.end() || (x != a.entries_.end() && x->first < y->first)) {
      out.entries_.push_back(*x++);
    } else if (x == a.entries_.end() || y->first < x->first) {
      out.entries_.push_back(*y++);
    } else {
      out.entries_.emplace_back(x->first, std::max(x->second, y->second));
      ++x, ++y;
    }
  }
  return out;
}

KnowledgePtr join(const KnowledgePtr& a, const KnowledgePtr& b) {
  if (!b || a == b) return a;
  if (!a) return b;
  if (covers(*a, *b)) return a;
  if (covers(*b, *a)) return b;
  return std::make_shared<Knowledge>(join(*a, *b));
}

// ---- shadows

void Shadow::restamp(uint64_t number, uint32_t first, uint32_t behind, uint32_t now) {
  Page& page = pages_[number];
  const int n = kPageBytes / page.unit;
  for (int k = 0; k < n; k++) {
    Cell& cell = page.cells[k];
    for (Stamp* s :
         {&cell.plain, &cell.atomics[0], &cell.atomics[1], &cell.reads[0], &cell.reads[1]}) {
      if (s->segment >= first && s->segment < behind) s->segment = now;
    }
  }
  if (page.merges < kMostMerges) merge(page);
}

void Shadow::merge(Page& page) {
  const int n = kPageBytes / page.unit;
  const auto all_same = [&](int step) {  // of each two cells, so many apart
    for (int k = 0; k < n; k += 2 * step) {
      if (std::memcmp(&page.cells[k], &page.cells[k + step], sizeof(Cell)) != 0) return false;
    }
    return true;
  };
  int parts = 1;
  while (parts < n && all_same(parts)) parts *= 2;
  if (parts < kLeastMerged) return;
  auto fewer = std::make_unique<Cell[]>(n / parts);
  for (int k = 0; k < n / parts; k++) fewer[k] = page.cells[k * parts];
  set_cells(page, std::move(fewer), page.unit * parts);
  page.merges++;
}

void Shadow::set_cells(Page& page, std::unique_ptr<Cell[]> cells, int unit) {
  page.cells = std::move(cells);
  page.unit = static_cast<uint16_t>(unit);
  page.shift = static_cast<uint8_t>(std::countr_zero(page.unit));
}

void Shadow::refine(Page& page, int unit) {
  auto finer = std::make_unique<Cell[]>(kPageBytes / unit);
  if (page.unit != 0) {
    const int parts = page.unit / unit;
    for (int k = 0; k < kPageBytes / unit; k++) finer[k] = page.cells[k / parts];
  }
  set_cells(page, std::move(finer), unit);
}

// ---- accesses

/// `early`: what a fence released before an atomic goes to whoever reads it, and so does the
/// atomic, though it stands behind the fence: the last workgroup may reset the counter by a plain
/// store.
uint32_t Races::make_segment(GroupClock& group, ThreadClock& thread, bool early) {
  const uint32_t made = next_segment();
  segments_.push_back(
      {group.number, group.epoch, early ? thread.fence_time : thread.time, thread.local});
  return (early ? thread.atomic_segment : group.segments[thread.local]) = made;
}

bool Races::ordered(const Stamp& s, const GroupClock& group, const ThreadClock& thread,
                    bool visible, bool shared) const {
  if (s.segment == 0 || s.segment == group.segments[thread.local]) return true;
  if (s.segment < base_) return true;  // left in shared memory by an earlier workgroup
  const Segment& other = of(s);
  if (other.group == group.number) {
    if (other.local == thread.local || other.epoch < group.epoch) return true;
  } else if (shared) {
    return true;  // left by an earlier workgroup
  }
  if (!visible || !thread.known) return false;
  return thread.known->until(Knowledge::of_thread(other.group, other.local)) >= other.time ||
         thread.known->until(Knowledge::of_group(other.group)) > other.epoch;
}

bool Races::check(const Cell& cell, const GroupClock& group, const ThreadClock& thread,
                  const Access& a, Conflict& conflict) const {
  for (const Stamp& w : {cell.plain, cell.atomics[0], cell.atomics[1]}) {
    if (a.atomic && w.atomic()) continue;
    const bool visible = a.shared || (w.coherent() && (a.write || a.coherent));
    if (!ordered(w, group, thread, visible, a.shared)) {
      conflict = {w, true};
      return false;
    }
  }
  if (!a.write) return true;
  for (const Stamp& r : cell.reads) {
    if (a.atomic && r.atomic()) continue;
    if (!ordered(r, group, thread, true, a.shared)) {
      conflict = {r, false};
      return false;
    }
  }
  return true;
}

void Races::note_read(Cell& cell, Stamp now, const GroupClock& group, const ThreadClock& thread,
                      bool shared) const {
  for (Stamp& r : cell.reads) {
    if (r.segment == now.segment) {
      if (r.atomic()) r = now;
      return;
    }
  }
  const auto replaces = [&](const Stamp& r, bool even_plain) {
    const bool loses = now.atomic() && r.segment != 0 && !r.atomic();
    return (even_plain || !loses) && ordered(r, group, thread, true, shared);
  };
  for (const bool even_plain : {false, true}) {
    for (Stamp& r : cell.reads) {
      if (!replaces(r, even_plain)) continue;
      r = now;
      return;
    }
  }
  // One of each of two workgroups tells the most.
  auto is_mine = [&](const Stamp& r) { return of(r).group == group.number; };
  Stamp& victim = cell.reads[is_mine(cell.reads[1]) && !is_mine(cell.reads[0]) ? 1 : 0];
  if (victim.atomic() || !now.atomic()) victim = now;
}

void Races::note_write(Cell& cell, Stamp now, const GroupClock& group, const ThreadClock& thread,
                       bool shared) const {
  if (!now.atomic()) {
    cell = Cell{};
    cell.plain = now;
    return;
  }
  for (Stamp& w : cell.atomics) {
    if (ordered(w, group, thread, true, shared)) {
      w = now;
      return;
    }
  }
  cell.atomics[1] = cell.atomics[0];
  cell.atomics[0] = now;
}

bool Races::access(Shadow& shadow, GroupClock& group, ThreadClock& thread, const Access& a,
                   Conflict& conflict) {
  const Stamp now = Stamp::of(segment(group, thread, a.atomic), a.op, a.coherent, a.atomic);
  if (!a.shared) shadow.touch(a.offset, group);
  auto [cell, n] = shadow.cells(a.offset, a.bytes, a.unit);
  for (; n > 0; n--, cell++) {
    if (!check(*cell, group, thread, a, conflict)) return false;
    if (a.write) {
      note_write(*cell, now, group, thread, a.shared);
    } else {
      note_read(*cell, now, group, thread, a.shared);
    }
  }
  return true;
}

// ---- synchronisation

KnowledgePtr Races::release(GroupClock& group, ThreadClock& thread) {
  knows_ = true;
  Knowledge now = thread.known ? *thread.known : Knowledge{};
  if (group.epoch > 0) now.add(Knowledge::of_group(group.number), group.epoch);
  now.add(Knowledge::of_thread(group.number, thread.local), thread.time);
  thread.time++;
  group.segments[thread.local] = 0;
  return std::make_shared<Knowledge>(std::move(now));
}

void Races::atomic(ReleasedAt& at, uint64_t address, bool shared, GroupClock& group,
                   ThreadClock& thread, bool reads, bool writes, AtomicOrder order) {
  const bool acquires = order == AtomicOrder::kAcquire || order == AtomicOrder::kAcquireRelease;
  const bool releases = writes && order >= AtomicOrder::kRelease;
  const bool publishes = releases || (writes && thread.group);
  if (at.empty() && !publishes) return;
  auto it = at.find(address);
  if (reads && it != at.end()) {
    KnowledgePtr& to = acquires ? thread.known : thread.pending;
    to = join(to, it->second.device);
    if (it->second.number == group.number) to = join(to, it->second.group);
  }
  if (!writes) return;
  if (it != at.end() && !reads) {
    at.erase(it);
    it = at.end();
  }
  if (!publishes) return;
  if (it == at.end()) it = at.emplace(address, Released{}).first;
  Released& r = it->second;
  if (releases) r.device = join(r.device, release(group, thread));
  r.device = join(r.device, shared ? thread.group : thread.device);
  if (shared || !thread.group) return;
  r.group = r.number == group.number ? join(r.group, thread.group) : thread.group;
  r.number = group.number;
}

void Races::fence(GroupClock& group, ThreadClock& thread, Scope scope) {
  thread.known = join(thread.known, thread.pending);
  thread.pending = nullptr;
  thread.fence_time = thread.time;
  thread.atomic_segment = 0;
  thread.group = release(group, thread);
  if (scope == Scope::kDevice) thread.device = thread.group;
}

void Races::barrier(GroupClock& group, std::span<ThreadClock* const> threads) {
  KnowledgePtr ThreadClock::*const kinds[] = {&ThreadClock::known, &ThreadClock::pending,
                                              &ThreadClock::device, &ThreadClock::group};
  for (auto kind : kinds) {
    if (!knows_) break;
    KnowledgePtr all = threads[0]->*kind;
    bool equal = true;
    for (const ThreadClock* t : threads) {
      equal = equal && t->*kind == all;
      if (!equal) all = join(all, t->*kind);
    }
    if (equal) continue;
    for (ThreadClock* t : threads) t->*kind = all;
  }
  group.epoch++;
  for (ThreadClock* t : threads) t->atomic_segment = 0;
  begin_epoch(group, threads.size());
}

void Races::end(GroupClock& group) {
  if (!knows_ && group.first == base_) {
    const uint32_t now = kEnded + static_cast<uint32_t>(ended_.size());
    if (!group.touched.empty()) {
      ended_.push_back({group.number, UINT32_MAX, UINT32_MAX, kAnyThread});
    }
    const uint32_t behind = next_segment();
    for (const auto& [shadow, page] : group.touched) {
      shadow->restamp(page, group.first, behind, now);
    }
    base_ = behind;
    segments_.clear();
  }
  group.touched.clear();
}

bool Races::restarts() {
  constexpr uint32_t kLate = kEnded / 2;
  if (base_ < kLate || !segments_.empty()) return false;
  base_ = 1;
  return true;
}

// ---- launches

Launches::Launch& Launches::begin(uint32_t groups) {
  launches_.push_back({next_group_, "", {}});
  next_group_ += groups;
  return launches_.back();
}

size_t Launches::of_group(uint32_t group) const {
  const auto behind =
      std::upper_bound(launches_.begin(), launches_.end(), group,
                       [](uint32_t g, const Launch& l) { return g < l.first_group; });
  return static_cast<size_t>(behind - launches_.begin()) - 1;
}

void Launches::clear() {
  launches_.clear();
  next_group_ = 0;
  races_ = Races();
}

}  // namespace kenaz::kir::eval
