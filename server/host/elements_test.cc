// Parts of arrays, on the device and by way of host memory.
#include "server/host/elements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/device/vulkan/vulkan_device.h"
#include "server/host/device_engine.h"
#include "server/host/reference_engine.h"

namespace kenaz::host {
namespace {

using testing::ElementsAre;

class ElementsTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (GetParam() == std::string("Reference")) {
      engine_ = *make_reference_engine({});
      return;
    }
    device::VulkanOptions options;
    options.validation = log_;
    options.force_staging = GetParam() == std::string("Staged");
    auto device = device::make_vulkan_device(options);
    ASSERT_TRUE(device) << device.error().text();
    engine_ = *make_device_engine(program::Program(), std::move(*device));
  }
  void TearDown() override {
    engine_.reset();
    EXPECT_THAT(log_->messages(), ElementsAre());
  }

  LeafPtr i16s(const std::vector<int16_t>& v, std::vector<int64_t> shape) {
    const auto bytes = std::as_bytes(std::span(v));
    return *engine_->put({PrimType::kI16, std::move(shape), {bytes.begin(), bytes.end()}});
  }
  std::vector<int64_t> numbers(const Result<LeafPtr>& leaf) {
    if (!leaf) return {-1000};
    auto value = engine_->get(**leaf);
    EXPECT_TRUE(value) << value.error().text();
    std::vector<int64_t> v;
    for (int64_t i = 0; i < value->count(); ++i) v.push_back(value->at(i).as_i64());
    return v;
  }

  std::shared_ptr<device::ValidationLog> log_ = std::make_shared<device::ValidationLog>();
  std::unique_ptr<Engine> engine_;
};

TEST_P(ElementsTest, AreTakenOut) {
  const LeafPtr a = i16s({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, -11}, {2, 3, 2});
  const auto row = engine_->element(a, 1, 1);
  EXPECT_THAT(numbers(row), ElementsAre(6, 7, 8, 9, 10, -11));
  EXPECT_THAT((*row)->shape, ElementsAre(3, 2));
  EXPECT_THAT(numbers(engine_->element(a, 2, 4)), ElementsAre(8, 9));
  const auto one = engine_->element(a, 3, 11);
  EXPECT_THAT(numbers(one), ElementsAre(-11));
  EXPECT_TRUE((*one)->shape.empty());
  EXPECT_EQ(numbers(engine_->element(a, 0, 0)).size(), 12u);
  for (const auto& [rank, number] : {std::pair(1, 2), {1, -1}, {3, 12}, {4, 0}, {-1, 0}}) {
    EXPECT_FALSE(engine_->element(a, rank, number));
  }
  const LeafPtr nothing = i16s({}, {4, 0});
  EXPECT_THAT((*engine_->element(nothing, 1, 3))->shape, ElementsAre(0));
}

TEST_P(ElementsTest, AreReplacedInACopyOrInPlace) {
  LeafPtr a = i16s({0, 1, 2, 3}, {2, 2});
  const LeafPtr row = i16s({7, 8}, {2});
  const LeafPtr nine = *engine_->put(data::Value::scalar({PrimType::kI16, 9}));
  EXPECT_THAT(numbers(engine_->with_element(a, 1, row, false)), ElementsAre(0, 1, 7, 8));
  EXPECT_THAT(numbers(engine_->with_element(a, 2, nine, false)), ElementsAre(0, 1, 9, 3));
  EXPECT_THAT(numbers(a), ElementsAre(0, 1, 2, 3));
  auto reader = engine_->reader(a);
  ASSERT_TRUE(reader);
  EXPECT_THAT(numbers(engine_->with_element(a, 0, row, true)), ElementsAre(7, 8, 2, 3));
  ASSERT_TRUE((*reader)->work());
  EXPECT_EQ((*reader)->window()[0], std::byte{0});  // what is being read stays
  EXPECT_EQ((*reader)->window()[2], std::byte{1});
  reader->reset();
  auto changed = engine_->with_element(a, 0, row, true);
  EXPECT_THAT(numbers(changed), ElementsAre(7, 8, 2, 3));
  EXPECT_THAT(numbers(engine_->with_element(*changed, 3, nine, true)), ElementsAre(7, 8, 2, 9));
  EXPECT_FALSE(engine_->with_element(a, 2, row, false));
  EXPECT_FALSE(engine_->with_element(a, 0, i16s({1, 2, 3}, {3}), false));
  EXPECT_FALSE(
      engine_->with_element(a, 0, *engine_->put(data::Value::scalar(PrimValue::i32(9))), false));
}

TEST_P(ElementsTest, AreJoined) {
  const LeafPtr x = i16s({1, 2}, {2}), y = i16s({3, 4}, {2});
  const LeafPtr parts[] = {x, y, x};
  const auto joined = engine_->join(PrimType::kI16, {3, 2}, parts);
  EXPECT_THAT(numbers(joined), ElementsAre(1, 2, 3, 4, 1, 2));
  EXPECT_THAT((*joined)->shape, ElementsAre(3, 2));
  EXPECT_FALSE(engine_->join(PrimType::kI16, {4, 2}, parts));
  EXPECT_FALSE(engine_->join(PrimType::kI32, {3, 2}, parts));
  EXPECT_FALSE(engine_->join(PrimType::kI16, {2, 3}, parts));
  const LeafPtr scalars[] = {*engine_->element(x, 1, 1), *engine_->element(y, 1, 0)};
  EXPECT_THAT(numbers(engine_->join(PrimType::kI16, {2, 1}, scalars)), ElementsAre(2, 3));
  EXPECT_THAT(numbers(engine_->join(PrimType::kI16, {0, 5}, {})), ElementsAre());
}

INSTANTIATE_TEST_SUITE_P(Engines, ElementsTest, testing::Values("Mapped", "Staged", "Reference"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace kenaz::host
