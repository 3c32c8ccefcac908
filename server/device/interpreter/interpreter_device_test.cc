// What this device does that others do not: it tells of kernels that do something wrong.
#include "server/device/interpreter/interpreter_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <functional>
#include <set>

#include "kernels/kir/parse.h"
#include "server/device/interpreter/observations.h"
#include "server/device/interpreter/some_groups.h"

namespace kenaz::device {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// One block of i32s, which kernels have as v0, and the failure record.
class Interpreter : public testing::Test {
 protected:
  void make(const InterpreterOptions& options = {}) {
    device_ = make_interpreter_device(options);
    record_ = *device_->allocate_shared(128);
    const std::vector<int64_t> clear(16);
    ASSERT_TRUE(device_->upload(record_, 0, std::as_bytes(std::span(clear))));
    block_ = *device_->allocate(32);
  }
  /// Launches one workgroup; "" or the error.
  std::string launch(const std::string& body, int threads = 4, int64_t groups = 1) {
    const std::vector<std::string> places = {"-> #0  a.fut:1:1-5", "-> #0  a.fut:2:3-9"};
    const std::string text = fmt::format(
        "kernel \"k\" group {}\nblock v0 \"b\"\nshared s0: i32[8] \"tile\"\nmain {{\n"
        "v1: i32 = local\nv2: bool = lt.i32(v1, 2i32)\n{}\n}}\n",
        threads, body);
    auto kernel = device_->make_kernel({"k", {}, 24, {}, text, places});
    if (!kernel) return kernel.error().text();
    const uint64_t slots[] = {record_->address(), block_->address(), static_cast<uint64_t>(groups)};
    const Status ran = device_->dispatch(*kernel, static_cast<uint32_t>(groups), 1,
                                         std::as_bytes(std::span(slots)));
    if (ran) return "";
    EXPECT_EQ(ran.error().kind, ErrorKind::kProgramFailure);
    return ran.error().text();
  }
  std::vector<int32_t> read(size_t n) {
    std::vector<int32_t> out(n);
    EXPECT_TRUE(device_->download(block_, 0, std::as_writable_bytes(std::span(out))));
    return out;
  }
  int64_t recorded() {
    int64_t word = 0;
    EXPECT_TRUE(device_->download(record_, 0, std::as_writable_bytes(std::span(&word, 1))));
    return word;
  }

  std::shared_ptr<Device> device_;
  BlockPtr record_, block_;
};

// Kernels that are read from SPIR-V look at a word of the host, which keeps no others from merging
// what is known of an array's bytes when a workgroup ends.
TEST(SomeGroups, OnlyAtomicsThatChangeMemoryCommunicate) {
  const auto of = [](const std::string& atomic) {
    const auto kernel =
        kir::parse("kernel \"k\" group 4\nblock v0 \"b\"\nshared s0: i32[8] \"tile\"\nmain {\n" +
                   atomic + "\n}\n");
    EXPECT_TRUE(kernel) << kernel.error().text();
    return interpreter::communicates(*kernel);
  };
  EXPECT_TRUE(of("atomic.add.i32 v0[0i32], 1i32"));
  EXPECT_TRUE(of("atomic.store.i32.release v0[0i32], 1i32"));
  EXPECT_FALSE(of("v1: i32 = atomic.load.i32 v0[0i32]"));
  EXPECT_FALSE(of("atomic.add.i32 s0[0i32], 1i32"));
  EXPECT_FALSE(of("store v0[0i32] = 1i32"));
}

TEST_F(Interpreter, ARaceNamesBothPlaces) {
  make({.seed = 0});
  const std::string text = launch("store v0[0i32] = v1 @0\nif v2 {\nstore v0[0i32] = v1 @1\n}");
  EXPECT_THAT(text, HasSubstr("has a race: store"));
  EXPECT_THAT(text, HasSubstr("unordered with the write of thread"));
  EXPECT_THAT(text, HasSubstr("The other access:\n-> #0  a.fut:"));
  EXPECT_THAT(text, HasSubstr("Backtrace:\n-> #0  a.fut:"));
}

TEST_F(Interpreter, KernelsWithoutABarrierBetweenThemRace) {
  const auto second = [&](bool ordered, const std::string& body) {
    make();
    EXPECT_EQ(launch("store v0[v1] = 1i32 @0"), "");
    if (ordered) {
      EXPECT_TRUE(device_->barrier());
    }
    return launch(body);
  };
  const std::string load = "v3: i32 = load v0[v1] @1", store = "store v0[v1] = 2i32 @1";
  for (const std::string& body : {load, store}) {
    EXPECT_EQ(second(true, body), "");
    const std::string text = second(false, body);
    EXPECT_THAT(text, HasSubstr("in kernel k, which ran before without a barrier behind it"));
    EXPECT_THAT(text, HasSubstr("The other access:\n-> #0  a.fut:1:1-5"));
    EXPECT_THAT(text, HasSubstr("Backtrace:\n-> #0  a.fut:2:3-9"));
  }
  EXPECT_EQ(second(false, "v3: i32 = add.i32(v1, 4i32)\nstore v0[v3] = 2i32"), "");
}

TEST_F(Interpreter, UndefinedValuesAreFoundWhereTheyAreUsed) {
  make();
  EXPECT_THAT(launch("v3: i32 = load v0[v1] @0\nv4: bool = eq.i32(v3, 0i32)\n"
                     "if v4 @1 {\nstore v0[v1] = 1i32\n}"),
              HasSubstr("use of an undefined value: if"));
  EXPECT_THAT(launch("v3: i32 = load s0[v1]\nstore v0[v3] = 1i32 @1"),
              HasSubstr("Backtrace:\n-> #0  a.fut:2:3-9"));
}

TEST_F(Interpreter, AccessesOutsideOfBlocksAreFound) {
  make();
  EXPECT_THAT(launch("v3: i32 = mul.i32(v1, 4i32)\nstore v0[v3] = 1i32 @0"),
              HasSubstr("an access outside of a block: store (#"));
}

TEST_F(Interpreter, DivergentBarriersAreFound) {
  make();
  EXPECT_THAT(launch("if v2 {\nbarrier @1\n}"), HasSubstr("a barrier that not all threads reach"));
}

TEST_F(Interpreter, TheHostDoesNotReadWhatNobodyHasWritten) {
  make();
  ASSERT_EQ(launch("store v0[v1] = v1"), "");
  EXPECT_THAT(read(4), ElementsAre(0, 1, 2, 3));
  std::vector<int32_t> more(5);
  const Status read = device_->download(block_, 0, std::as_writable_bytes(std::span(more)));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::kProgramFailure);
  EXPECT_THAT(read.error().text(), HasSubstr("undefined"));
}

TEST_F(Interpreter, CopiesOfUndefinedBytesAreUndefined) {
  make();
  ASSERT_EQ(launch("store v0[v1] = v1"), "");
  const BlockPtr to = *device_->allocate(32);
  ASSERT_TRUE(device_->copy(to, 0, block_, 8, 16));
  std::vector<int32_t> out(2);
  const auto bytes = std::as_writable_bytes(std::span(out));
  ASSERT_TRUE(device_->download(to, 0, bytes));
  EXPECT_THAT(out, ElementsAre(2, 3));
  EXPECT_FALSE(device_->download(to, 8, bytes));
}

TEST_F(Interpreter, SubgroupsAreAsLargeAsWanted) {
  for (const int size : {1, 4, 8}) {
    make({.subgroup_size = size});
    EXPECT_EQ(device_->info().subgroup_arithmetic, size > 1);
    ASSERT_EQ(launch("v3: i32 = subgroup_size\nstore v0[v1] = v3", 8), "");
    EXPECT_THAT(read(8), testing::Each(size));
  }
}

TEST_F(Interpreter, KernelsDoNothingAfterAFailure) {
  make();
  ASSERT_EQ(launch("store v0[v1] = v1"), "");
  ASSERT_EQ(launch("fail 3()"), "");
  EXPECT_EQ(recorded(), 4);
  ASSERT_EQ(launch("store v0[v1] = 9i32"), "");
  EXPECT_THAT(read(4), ElementsAre(0, 1, 2, 3));
  ASSERT_EQ(launch("fail 5()"), "");
  EXPECT_EQ(recorded(), 4);  // the first one
}

TEST_F(Interpreter, WorkgroupsThatDoNotRunComputeNothing) {
  make({.groups = 2});
  const std::string body =
      "v3: i64 = group\nv4: i32 = convert.i64.i32(v3)\nv5: i32 = mul.i32(v4, 2i32)\n"
      "v6: i32 = add.i32(v5, v1)\nstore v0[v6] = v6";
  const std::vector<int32_t> before(8, -1);
  ASSERT_TRUE(device_->upload(block_, 0, std::as_bytes(std::span(before))));
  ASSERT_EQ(launch(body, 2, 4), "");  // the first and the last of four
  EXPECT_THAT(read(2), ElementsAre(0, 1));
  std::vector<int32_t> out(2);
  const auto bytes = std::as_writable_bytes(std::span(out));
  ASSERT_TRUE(device_->download(block_, 24, bytes));
  EXPECT_THAT(out, ElementsAre(6, 7));
  // What was there before is not what the others would have left.
  const Status middle = device_->download(block_, 8, bytes);
  ASSERT_FALSE(middle);
  EXPECT_THAT(middle.error().text(), HasSubstr("has not been computed: of 8 bytes, at byte 8"));
  EXPECT_THAT(middle.error().text(), HasSubstr("Of kernel k, 2 of 4 workgroups have run"));
  EXPECT_THAT(launch("v3: i32 = load v0[3i32]\nstore v0[v3] = v1"),
              HasSubstr("it comes from load v3 (#1). Of kernel k, 2 of 4 workgroups have run"));
}

TEST_F(Interpreter, WhatSomeWorkgroupsAddUpIsNoSum) {
  make({.groups = 2});
  const std::vector<int32_t> before(8);
  ASSERT_TRUE(device_->upload(block_, 0, std::as_bytes(std::span(before))));
  ASSERT_EQ(launch("atomic.add.i32 v0[0i32], 1i32", 2, 4), "");
  std::vector<int32_t> sum(1);
  EXPECT_FALSE(device_->download(block_, 0, std::as_writable_bytes(std::span(sum))));
}

TEST_F(Interpreter, CountersAreZeroBehindALaunchOfSomeWorkgroups) {
  make({.groups = 2});
  ASSERT_TRUE(device_->clear(block_));
  ASSERT_EQ(launch("atomic.add.i32 v0[0i32], 1i32", 2, 4), "");
  EXPECT_THAT(read(1), ElementsAre(0));
}

TEST_F(Interpreter, StoresThatNobodyReadsAreCounted) {
  const auto lost = [&](const std::string& body, const std::function<void()>& then) {
    const auto seen = std::make_shared<interpreter::Observations>();
    make({.observations = seen});
    EXPECT_EQ(launch(body), "");
    then();
    block_ = nullptr;
    device_ = nullptr;
    interpreter::Unread::Bytes all;
    for (const auto& b : seen->unread.bytes()) all.stored += b.stored, all.lost += b.lost;
    EXPECT_EQ(all.stored, 16);
    return all.lost;
  };
  const auto nothing = [] {};
  const std::string store = "store v0[v1] = v1";
  EXPECT_EQ(lost(store, nothing), 16);
  EXPECT_EQ(lost(store, [&] { read(3); }), 4);
  EXPECT_EQ(lost(store, [&] { device_->keep(block_); }), 0);
  EXPECT_EQ(lost(store + "\nv3: i32 = load v0[v1]", nothing), 0);
  EXPECT_EQ(lost(store, [&] { ASSERT_TRUE(device_->clear(block_)); }), 16);
  EXPECT_EQ(lost(store,
                 [&] {
                   const BlockPtr to = *device_->allocate(8);
                   ASSERT_TRUE(device_->copy(to, 0, block_, 8, 8));
                 }),
            8);
}

TEST_F(Interpreter, WhatIsBrokenOffIsNoted) {
  struct Seen {
    bool broken_off;
    int64_t groups_run;
  };
  const auto seen_of = [&](const std::vector<std::string>& bodies, int64_t groups) {
    const auto seen = std::make_shared<interpreter::Observations>();
    make({.observations = seen});
    for (const std::string& body : bodies) launch(body, 1, groups);
    return Seen{seen->broken_off, seen->kernels.at("k").groups_run};
  };
  const std::string group = "v3: i64 = group\nv4: i32 = convert.i64.i32(v3)\n";
  const Seen whole = seen_of({group + "store v0[v4] = v4"}, 4);
  EXPECT_FALSE(whole.broken_off);
  EXPECT_EQ(whole.groups_run, 4);
  // The third workgroup accesses what is not there.
  const Seen faulty = seen_of({group + "v5: i32 = mul.i32(v4, 4i32)\nstore v0[v5] = v4"}, 4);
  EXPECT_TRUE(faulty.broken_off);
  EXPECT_LT(faulty.groups_run, 4);
  const Seen failed = seen_of({"fail 3()", "store v0[v1] = 9i32"}, 1);
  EXPECT_TRUE(failed.broken_off);
  EXPECT_EQ(failed.groups_run, 1);  // of two launches the first
}

TEST(StoredRanges, StoresToOnePlaceTakeRoomOnce) {
  kir::Kernel kernel;
  interpreter::StoredRanges stored(kernel, nullptr);
  const kir::Inst inst{};
  const auto store = [&](uint64_t address, int bytes) {
    stored.on_access(inst, {0, 0}, false, true, address, bytes);
  };
  for (uint64_t k = 0; k < 100'000; ++k) store(1000 + 4 * (k * 7 % 100), 4);
  for (uint64_t k = 0; k < 100'000; ++k) store(5000 + k * 3 % 50, 2);
  EXPECT_LT(stored.ranges().size(), 5000U);
  std::set<uint64_t> bytes;
  for (const auto& r : stored.ranges()) {
    for (uint64_t k = 0; k < r.bytes; ++k) bytes.insert(r.address + k);
  }
  EXPECT_EQ(bytes.size(), 451U);
  EXPECT_EQ(*bytes.begin(), 1000U);
  EXPECT_TRUE(bytes.contains(1399) && bytes.contains(5000) && bytes.contains(5050));
}

/// Ends what runs, by the word that tells kernels to stop, or by giving the device up.
class Impatient : public Watch {
 public:
  Impatient(Device& device, BlockPtr record) : device_(device), record_(std::move(record)) {}
  std::chrono::nanoseconds look(bool) override {
    if (++looks == 3 && record_) device_.poke(record_, 0xffffffff);
    return std::chrono::nanoseconds(looks > 5 ? 0 : 1);
  }
  int looks = 0;

 private:
  Device& device_;
  const BlockPtr record_;
};

constexpr const char* kEndless =
    "while {\nv3: i32 = atomic.load.i32 v0[0i32]\nv4: bool = eq.i32(v3, 0i32)\n} test v4 {\n}";

TEST_F(Interpreter, TheHostStopsAKernel) {
  make();
  ASSERT_EQ(launch("v9: bool = eq.i32(v1, 0i32)\nif v9 {\nstore v0[0i32] = 0i32\n}"), "");
  ASSERT_TRUE(device_->barrier());
  Impatient watch(*device_, record_);
  device_->set_watch(&watch);
  EXPECT_EQ(launch(kEndless), "");
  EXPECT_EQ(watch.looks, 3);
  EXPECT_EQ(recorded(), 0xffffffff);
}

TEST_F(Interpreter, WhatIsNoKernelIsRefused) {
  make();
  EXPECT_THAT(launch("v3: i32 = add.i32(v7, v1)"), HasSubstr("kernel k: "));
  EXPECT_FALSE(device_->make_kernel({"k", {}, 24, {}, ""}));
}

TEST_F(Interpreter, ThroughSpirvKernelsComeAsSpirv) {
  make({.through_spirv = true});
  EXPECT_FALSE(device_->info().interprets);
  const auto none = device_->make_kernel({"k", {}, 24});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "k cannot be read as a kernel: 0 words are no SPIR-V");
}

}  // namespace
}  // namespace kenaz::device
