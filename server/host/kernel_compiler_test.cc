#include "server/host/kernel_compiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "kernels/compiler.h"
#include "server/device/vulkan/vulkan_device.h"
#include "server/host/device_engine.h"
#include "server/host/device_target.h"

namespace kenaz::host {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

program::Kernel kernel(const std::string& name, const std::string& body) {
  return {name, "#version 460\nlayout(local_size_x = 1) in;\nvoid main() {" + body + "}\n"};
}

class KernelCompilerTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/kenaz_kernels_test_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  KernelCompiler compiler(const std::string& build = "one") {
    return {folder_, build, [this](bool is_kept) { ++(is_kept ? kept_ : compiled_); }};
  }
  /// The only file.
  fs::path file() const {
    fs::path found;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      EXPECT_TRUE(found.empty());
      found = entry.path();
    }
    return found;
  }

  std::string folder_;
  int kept_ = 0, compiled_ = 0;
};

TEST_F(KernelCompilerTest, WhatWasCompiledIsKept) {
  const program::Kernel k = kernel("k", "");
  const auto first = compiler().spirv(k);
  ASSERT_TRUE(first) << first.error().text();
  EXPECT_GT(first->size(), 5u);
  EXPECT_EQ(compiled_, 1);
  const auto again = compiler().spirv(k);
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, *first);
  EXPECT_EQ(compiled_, 1);
  EXPECT_EQ(kept_, 1);
}

TEST_F(KernelCompilerTest, OtherTextsAndOtherBuildsAreOtherKernels) {
  ASSERT_TRUE(compiler().spirv(kernel("k", "")));
  ASSERT_TRUE(compiler().spirv(kernel("k", "barrier();")));
  ASSERT_TRUE(compiler("two").spirv(kernel("k", "")));
  EXPECT_EQ(compiled_, 3);
  EXPECT_EQ(kept_, 0);
  ASSERT_TRUE(compiler("").spirv(kernel("k", "")));  // a build that cannot be told keeps nothing
  ASSERT_TRUE(compiler("").spirv(kernel("k", "")));
  EXPECT_EQ(compiled_, 5);
}

TEST_F(KernelCompilerTest, DamageIsAsGoodAsAbsence) {
  const program::Kernel k = kernel("k", "");
  const auto expected = compiler().spirv(k);
  ASSERT_TRUE(expected);
  const fs::path path = file();
  std::string bytes;
  {
    std::ifstream in(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  std::vector<std::string> damaged;
  for (size_t n = 0; n < bytes.size(); n += bytes.size() / 10 + 1) {
    damaged.push_back(bytes.substr(0, n));
    damaged.push_back(bytes);
    damaged.back()[n] ^= 4;
  }
  for (const std::string& text : damaged) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
    const int before = compiled_;
    const auto spirv = compiler().spirv(k);
    ASSERT_TRUE(spirv);
    EXPECT_EQ(*spirv, *expected);
    EXPECT_EQ(compiled_, before + 1);
  }
  EXPECT_EQ(kept_, 0);
}

TEST_F(KernelCompilerTest, ErrorsAreInternalAndNameTheKernel) {
  const auto spirv = compiler().spirv(kernel("main_map_7", "x = 1;"));
  ASSERT_FALSE(spirv);
  EXPECT_EQ(spirv.error().kind, ErrorKind::kInternal);
  EXPECT_THAT(spirv.error().text(), HasSubstr("main_map_7"));
  EXPECT_EQ(compiled_, 0);
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(KernelCompilerTest, OnlyWhatIsLaunchedIsCompiled) {
  device::VulkanOptions options;
  auto device = device::make_vulkan_device(options);
  ASSERT_TRUE(device) << device.error().text();
  const auto reader = [](const std::string&) -> Result<std::string> {
    return "entry total (n: i64) = i64.sum (map (* 3) (iota n))\n"
           "entry sums (n: i64) = scan (+) 0 (iota n)\n"
           "entry turned (n: i64) = transpose (map (\\i -> map (+ i) (iota 7)) (iota n))\n"
           "entry largest (n: i64) = i64.maximum (map (\\i -> i * i % 1000) (iota n))\n"
           "entry doubled (n: i64) = map (* 2) (iota n)\n";
  };
  auto made = compiler::compile("test.fut", {reader}, device_target((*device)->info()));
  ASSERT_TRUE(made) << made.error().text();
  const auto program = std::make_shared<const program::Program>(std::move(*made));
  ASSERT_GT(program->kernels.size(), 5u);
  for (const auto& k : program->kernels) EXPECT_TRUE(k.spirv.empty()) << k.name;
  for (const bool kept : {false, true}) {
    auto engine =
        make_device_engine(program, *device, std::make_shared<KernelCompiler>(compiler()));
    ASSERT_TRUE(engine) << engine.error().text();
    EXPECT_TRUE((*engine)->prepare());
    EXPECT_EQ(compiled_, kept ? 1 : 0);
    const LeafPtr n = *(*engine)->put(data::Value::scalar(PrimValue::i64(1000)));
    for (int i = 0; i < 2; ++i) {
      const auto doubled = (*engine)->call("doubled", std::span(&n, 1));
      ASSERT_TRUE(doubled) << doubled.error().text();
      EXPECT_EQ((*engine)->get(*doubled->at(0))->at(999).as_i64(), 1998);
    }
    EXPECT_EQ(compiled_, 1);
    EXPECT_EQ(kept_, kept ? 1 : 0);
  }
}

TEST_F(KernelCompilerTest, EqualKernelsAreCompiledOnceAndKeepTheirNamesAndPlaces) {
  auto device = device::make_vulkan_device({});
  ASSERT_TRUE(device) << device.error().text();
  const auto reader = [](const std::string&) -> Result<std::string> {
    return "entry first (n: i64) = map (* 2) (iota n)\n"
           "entry second (n: i64) = map (* 2) (iota n)\n";
  };
  auto made = compiler::compile("test.fut", {reader}, device_target((*device)->info()));
  ASSERT_TRUE(made) << made.error().text();
  auto engine =
      make_device_engine(std::move(*made), *device, std::make_shared<KernelCompiler>(compiler()));
  ASSERT_TRUE(engine) << engine.error().text();
  (*engine)->set_profiled(true);
  const LeafPtr n = *(*engine)->put(data::Value::scalar(PrimValue::i64(100)));
  for (const std::string entry : {"second", "first", "second"}) {
    const auto doubled = (*engine)->call(entry, std::span(&n, 1));
    ASSERT_TRUE(doubled) << doubled.error().text();
    EXPECT_EQ((*engine)->get(*doubled->at(0))->at(99).as_i64(), 198);
    std::vector<device::KernelLabel> labels;
    for (const auto& time : (*engine)->kernel_times()) {
      if (time.kernel != nullptr) labels.push_back(*time.kernel);
    }
    ASSERT_EQ(labels.size(), 1u);
    EXPECT_THAT(labels[0].name, HasSubstr(entry));
    EXPECT_THAT(labels[0].place, HasSubstr(entry == "first" ? "test.fut:1:" : "test.fut:2:"));
  }
  EXPECT_EQ(compiled_, 1);
}

}  // namespace
}  // namespace kenaz::host
