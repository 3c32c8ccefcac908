// Kernels of one access each, whose figures follow from arithmetic: those of micro_kernels.def.
#include "kernels/kir/eval/observe.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "kernels/kir/eval/testing.h"

namespace kenaz::kir::micro_kernels {
namespace {

constexpr int kObservedThreads = 64;
constexpr int kSizes[] = {8, 32, 64};
/// Of the whole workgroup, with subgroups of each of kSizes.
using Sums = std::array<int64_t, 3>;
constexpr Sums kOnce{8, 2, 1};  // requests, if every thread comes once
constexpr Sums kNone{};

using Place = std::function<Value(Builder&)>;  // of t's access, in elements
using Classes = std::vector<std::pair<AccessClass, Sums>>;

enum class Way : uint8_t { kLoad, kStore, kAtomic };
/// What does not go without saying.
struct More {
  int64_t stride = 0;  // of requests that are kStrided
  Sums bytes{-1};      // not given: each thread has its own
  Sums same_place = kOnce;
  Sums turns = kNone, least_turns{};  // of shared memory; no turns: it is device memory
  Way way = Way::kLoad;
  int lanes = 1;  // of a vector
  std::function<void(Builder&, const std::function<void()>&)> around = {};
  Sums requests = kOnce;
  int64_t threads = kObservedThreads;     // that come to the access, all times taken together
  Sums least_sectors{-1}, least_lines{};  // not given: all requests have as many bytes
};
struct Micro {
  const char* name;
  PrimType type;
  Place place;
  Classes classes;
  Sums sectors, lines;  // of device memory
  More more = {};

  bool shared() const { return more.turns != kNone; }
};

AccessFigures run(const Micro& m, int subgroup_size, uint64_t seed) {
  constexpr int kElements = 1 << 14, kSharedElements = 64 * 64;
  KernelTest t;
  FiguresObserver figures(subgroup_size);
  t.kernel.group_size.constant = kObservedThreads;
  t.options.subgroup_size = subgroup_size;
  t.options.seed = seed;
  t.options.lock_step = seed == 4;
  t.observer = &figures;
  const std::vector<std::byte> zeros(static_cast<size_t>(prim_size(m.type)) * kElements);
  Address at{t.block("in", t.memory.allocate(zeros)), {}};
  if (m.shared()) at.base = t.k.shared("tile", m.type, {kSharedElements});
  const auto access = [&] {
    at.index = m.place(t.k);
    if (m.more.way == Way::kLoad) {
      t.k.load({m.type, static_cast<uint8_t>(m.more.lanes)}, at);
      return;
    }
    const Value one = PrimValue::of_int(m.type, 1);
    if (m.more.way == Way::kStore) {
      t.k.store(at, one);
    } else {
      t.k.atomic(AtomicOp::kAdd, m.type, at, one);
    }
  };
  if (m.more.around) {
    m.more.around(t.k, access);
  } else {
    access();
  }
  EXPECT_EQ(t.error(), "");
  EXPECT_EQ(figures.accesses().size(), 1u);
  return figures.accesses().begin()->second;
}

/// Each request is in both histograms once.
void expect_histograms(const AccessFigures& f) {
  int64_t requests = 0, sectors = 0, lanes = 0;
  for (const auto& [count, n] : f.by_sectors) requests += n, sectors += count * n;
  for (const auto& [count, n] : f.by_lanes) lanes += count * n;
  EXPECT_EQ(requests, f.requests);
  EXPECT_EQ(sectors, f.shared ? f.bank_turns : f.sectors);
  EXPECT_EQ(lanes, f.lanes);
}

AccessFigures expected(const Micro& m, size_t size) {
  const int64_t requests = m.more.requests[size];
  const int bytes_each = prim_size(m.type) * m.more.lanes;
  const int64_t bytes = m.more.bytes[0] >= 0 ? m.more.bytes[size] : m.more.threads * bytes_each;
  const auto least = [&](int64_t part) {
    return requests * ((bytes / requests + part - 1) / part);
  };
  AccessFigures f;
  f.shared = m.shared();
  f.write = m.more.way != Way::kLoad;
  f.bytes_each = bytes_each;
  f.requests = requests;
  f.lanes = m.more.threads;
  f.bytes = bytes;
  f.sectors = m.sectors[size];
  f.lines = m.lines[size];
  if (!m.shared()) {
    const bool given = m.more.least_sectors[0] >= 0;
    f.least_sectors = given ? m.more.least_sectors[size] : least(32);
    f.least_lines = given ? m.more.least_lines[size] : least(128);
  }
  f.bank_turns = m.more.turns[size];
  f.least_bank_turns = m.more.least_turns[size];
  f.same_place = m.more.same_place[size];
  for (const auto& [kind, n] : m.classes) {
    f.classes[static_cast<size_t>(kind)] = n[size];
    if (kind == AccessClass::kStrided && n[size] > 0) f.strides[m.more.stride] = n[size];
  }
  return f;
}

std::string text(const AccessFigures& f) {
  std::string out = fmt::format(
      "{} {} of {} bytes: {} requests, {} threads, {} bytes, sectors {} of {}, lines {} of {}, "
      "turns {} of {}, {} at one place",
      f.shared ? "shared" : "device", f.write ? "writes" : "reads", f.bytes_each, f.requests,
      f.lanes, f.bytes, f.sectors, f.least_sectors, f.lines, f.least_lines, f.bank_turns,
      f.least_bank_turns, f.same_place);
  for (size_t c = 0; c < f.classes.size(); ++c) {
    if (f.classes[c] > 0) {
      out += fmt::format(", {} {}", f.classes[c], describe(static_cast<AccessClass>(c)));
    }
  }
  for (const auto& [stride, n] : f.strides) out += fmt::format(", {} by {}", n, stride);
  return out;
}

// ---- the words of micro_kernels.def

constexpr Sums S(int64_t of_8, int64_t of_32, int64_t of_64) { return {of_8, of_32, of_64}; }

/// All requests are of one class.
Classes all(AccessClass kind, const Sums& requests = kOnce) { return {{kind, requests}}; }

template <class... More>
Classes mixed(AccessClass kind, const Sums& requests, const More&... more) {
  Classes out = all(kind, requests);
  if constexpr (sizeof...(more) > 0) {
    for (const auto& other : mixed(more...)) out.push_back(other);
  }
  return out;
}

Place linear(int64_t stride, int64_t first = 0) {
  return [=](Builder& k) { return k.add(k.mul(k.local(), stride), first); };
}
Place at(int32_t place) {
  return [=](Builder&) { return i32(place); };
}
Place masked(int32_t mask, int64_t stride = 1) {
  return [=](Builder& k) { return k.mul(k.and_(k.local(), i32(mask)), stride); };
}
Place xored(int32_t with) {
  return [=](Builder& k) { return k.xor_(k.local(), i32(with)); };
}
Value eighths(Builder& k) { return k.lshr(k.local(), i32(3)); }
Value squares(Builder& k) { return k.mul(k.local(), k.local()); }
Value transposed(Builder& k) { return k.add(k.mul(k.and_(k.local(), i32(7)), 8), eighths(k)); }

using Access = std::function<void()>;
void first_thread(Builder& k, const Access& access) { k.if_(k.eq(k.local(), 0), access); }
void first_eight(Builder& k, const Access& access) { k.if_(k.lt(k.local(), 8), access); }
void odd_threads(Builder& k, const Access& access) {
  k.if_(k.eq(k.and_(k.local(), i32(1)), 1), access);
}
/// Of eight threads the first makes no turn, the last one seven.
void in_triangle(Builder& k, const Access& access) {
  k.for_(k.and_(k.local(), i32(7)), [&](const Value&) { access(); });
}
void behind_triangle(Builder& k, const Access& access) {
  in_triangle(k, [] {});
  access();
}

TEST(KirObserve, MicroKernelsHaveTheFiguresOfArithmetic) {
  using enum AccessClass;
  using enum PrimType;
  Value turn;
  const auto four_turns = [&](Builder& k, const Access& access) {
    k.for_(i32(4), [&](const Value& i) { turn = i, access(); });
  };
  const auto column = [&](Builder& k) { return k.add(k.mul(k.local(), 64), turn); };
#define MICRO(name, type, place, classes, sectors, lines, ...) \
  {name, type, place, classes, sectors, lines, {__VA_ARGS__}},
  const Micro table[] = {
#include "kernels/kir/eval/micro_kernels.def"
  };
#undef MICRO
  for (const Micro& m : table) {
    for (size_t size = 0; size < std::size(kSizes); ++size) {
      for (const uint64_t seed : {0, 1, 3, 4}) {
        const AccessFigures seen = run(m, kSizes[size], seed);
        expect_histograms(seen);
        EXPECT_EQ(text(seen), text(expected(m, size)))
            << m.name << ", subgroups of " << kSizes[size] << ", seed " << seed;
      }
    }
  }
}

TEST(KirObserve, HistogramsTellHowRequestsDiffer) {
  const Micro triangle{"", PrimType::kF32, linear(1), {}, {}, {}, {.around = in_triangle}};
  using Histogram = std::map<int64_t, int64_t>;
  const AccessFigures of_8 = run(triangle, 8, 1), of_64 = run(triangle, 64, 1);
  EXPECT_EQ(of_8.by_lanes, (Histogram{{1, 8}, {2, 8}, {3, 8}, {4, 8}, {5, 8}, {6, 8}, {7, 8}}));
  EXPECT_EQ(of_8.by_sectors, (Histogram{{1, 56}}));
  EXPECT_EQ(of_64.by_lanes,
            (Histogram{{8, 1}, {16, 1}, {24, 1}, {32, 1}, {40, 1}, {48, 1}, {56, 1}}));
  EXPECT_EQ(of_64.by_sectors, (Histogram{{8, 7}}));
}

}  // namespace
}  // namespace kenaz::kir::micro_kernels
