// Chunks through a server that copies values; what real programs do with them is tested by
// tests/streams.
#include "client/lib/pipeline.h"

#include <gmock/gmock.h>

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <numeric>

#include "client/lib/fake_server.h"
#include "client/lib/pipeline_run.h"

namespace kenaz::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Stage copy_stage(const std::string& type = "[]i32", const std::string& entry = "copy") {
  return {{entry, {}, "", type, type}, {}, ""};
}

class Pipelines : public ::testing::Test {
 protected:
  void SetUp() override {
    auto client = Client::connect(server_.url(), {}, deadline_in(20));
    ASSERT_TRUE(client) << client.error().text();
    client_.emplace(std::move(*client));
  }
  Pipeline make(std::vector<Stage> stages, Shape row = {}) {
    auto pipeline = Pipeline::make(*client_, std::move(stages), std::move(row));
    EXPECT_TRUE(pipeline) << pipeline.error().text();
    return std::move(*pipeline);
  }

  FakeServer server_{{}};
  std::optional<Client> client_;
};

std::vector<int32_t> numbers(size_t n) {
  std::vector<int32_t> xs(n);
  std::iota(xs.begin(), xs.end(), 1);
  return xs;
}

std::vector<int32_t> as_i32(std::span<const std::byte> bytes) {
  std::vector<int32_t> xs(bytes.size() / sizeof(int32_t));
  if (!xs.empty()) std::memcpy(xs.data(), bytes.data(), bytes.size());
  return xs;
}

/// Gives a vector's bytes; then waits to be stopped, or fails, or ends.
class VectorSource : public ElementSource {
 public:
  enum class Then { kEnd, kFail, kWait };
  VectorSource(std::vector<int32_t> xs, Then then) : xs_(std::move(xs)), then_(then) {}

  Result<size_t> read(std::span<std::byte> out) override {
    const auto left = std::as_bytes(std::span(xs_)).subspan(at_);
    const size_t n = std::min(left.size(), out.size());
    if (n > 0) std::memcpy(out.data(), left.data(), n);
    at_ += n;
    if (n == out.size() || then_ == Then::kEnd) return n;
    if (then_ == Then::kFail) {
      if (n > 0) return n;
      return bad_request("the source fails");
    }
    std::unique_lock lock(mutex_);
    stop_.wait(lock, [&] { return stopped_; });
    return n;
  }
  void stop() override {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    stop_.notify_all();
  }

 private:
  const std::vector<int32_t> xs_;
  const Then then_;
  size_t at_ = 0;
  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopped_ = false;
};

/// Keeps what comes, up to the chunk that it fails at.
struct VectorSink : ElementSink {
  Status write(std::span<const std::byte> elements, const Shape& shape) override {
    if (static_cast<int>(shapes.size()) == fails_at) return internal_error("the sink fails");
    shapes.push_back(shape);
    for (const int32_t x : as_i32(elements)) got.push_back(x);
    return {};
  }
  int fails_at = -1;
  std::vector<Shape> shapes;
  std::vector<int32_t> got;
};

TEST_F(Pipelines, ResultsComeInTheOrderOfTheirChunks) {
  Pipeline pipeline = make({copy_stage(), copy_stage()});
  const auto xs = numbers(9);
  const auto all = std::span<const int32_t>(xs);
  for (const size_t from : {0u, 3u, 6u}) {
    ASSERT_TRUE(pipeline.push(std::as_bytes(all.subspan(from, 3))));
  }
  ASSERT_TRUE(pipeline.push({}));
  EXPECT_EQ(pipeline.under_way(), 4u);
  std::vector<std::byte> bytes;
  for (int k = 0; k < 3; ++k) {
    const auto shape = pipeline.pop(bytes);
    ASSERT_TRUE(shape) << shape.error().text();
    EXPECT_THAT(*shape, ElementsAre(3));
    EXPECT_THAT(as_i32(bytes), ElementsAre(3 * k + 1, 3 * k + 2, 3 * k + 3));
  }
  EXPECT_THAT(pipeline.pop(bytes).value(), ElementsAre(0));
  EXPECT_TRUE(bytes.empty());
  EXPECT_EQ(pipeline.pop(bytes).error().kind, ErrorKind::kBadRequest);
  EXPECT_TRUE(pipeline.finish());
}

TEST_F(Pipelines, OtherCommandsMayComeInBetween) {
  Pipeline pipeline = make({copy_stage()});
  const auto xs = numbers(5);
  ASSERT_TRUE(pipeline.push(std::as_bytes(std::span(xs))));
  ASSERT_TRUE(client_->put("other", 1));  // receives all that is under way
  std::vector<std::byte> bytes(100);
  EXPECT_THAT(pipeline.pop(bytes).value(), ElementsAre(5));
  EXPECT_EQ(as_i32(bytes), xs);
}

TEST_F(Pipelines, ElementsMayBeArrays) {
  Pipeline pipeline = make({copy_stage("[][][]i32")}, {2, 3});
  EXPECT_EQ(pipeline.row_bytes(), 24u);
  EXPECT_EQ(pipeline.output_rank(), 3u);
  const auto xs = numbers(12);
  ASSERT_TRUE(pipeline.push(std::as_bytes(std::span(xs))));
  std::vector<std::byte> bytes;
  EXPECT_THAT(pipeline.pop(bytes).value(), ElementsAre(2, 2, 3));
  EXPECT_EQ(as_i32(bytes), xs);
  const auto torn = pipeline.push(std::as_bytes(std::span(xs)).first(25));
  ASSERT_FALSE(torn);
  EXPECT_EQ(torn.error().message, "25 bytes are no whole number of elements of 24 bytes");
}

TEST_F(Pipelines, StagesMustChain) {
  const auto made = Pipeline::make(*client_, {copy_stage("[]i32"), copy_stage("[]f32", "sum")});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message, "the stages do not chain: copy gives []i32, but sum takes []f32");
  EXPECT_FALSE(Pipeline::make(*client_, {}));
  EXPECT_THAT(Pipeline::make(*client_, {copy_stage()}, {2}).error().message,
              HasSubstr("must have 0 dimensions, but 1 are given"));
  EXPECT_FALSE(Pipeline::make(*client_, {copy_stage("[][]i32")}, {0}));
}

TEST_F(Pipelines, AFailureNamesItsChunkAndEndsAll) {
  Pipeline pipeline = make({copy_stage(), copy_stage("[]i32", "fail")});
  const auto xs = numbers(4);
  ASSERT_TRUE(pipeline.push(std::as_bytes(std::span(xs))));
  ASSERT_TRUE(pipeline.push(std::as_bytes(std::span(xs))));
  std::vector<std::byte> bytes;
  const auto failed = pipeline.pop(bytes);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ErrorKind::kProgramFailure);
  EXPECT_EQ(failed.error().message, "chunk 0 (elements 0 to 3), stage fail:\nIt fails");
  EXPECT_EQ(pipeline.pop(bytes).error().message, failed.error().message);
  EXPECT_EQ(pipeline.push({}).error().message, failed.error().message);
  EXPECT_TRUE(pipeline.finish());
  EXPECT_TRUE(client_->put("_stream_in", 1));  // its name is free
}

TEST_F(Pipelines, VariablesThatAnotherOneLeftBehindAreReplaced) {
  ASSERT_TRUE(client_->put("_stream_in", 1));
  ASSERT_TRUE(client_->put("_stream_0", 1));
  ASSERT_TRUE(client_->put("other", 1));
  Pipeline pipeline = make({copy_stage()});
  const auto xs = numbers(4);
  ASSERT_TRUE(pipeline.push(std::as_bytes(std::span(xs))));
  std::vector<std::byte> bytes;
  const auto shape = pipeline.pop(bytes);
  ASSERT_TRUE(shape) << shape.error().text();
  EXPECT_EQ(as_i32(bytes), xs);
  EXPECT_TRUE(pipeline.finish());
  EXPECT_FALSE(client_->put("other", 1));  // it is not the pipeline's
}

TEST_F(Pipelines, SequencesOfAllLengths) {
  for (const size_t chunk : {1u, 7u, 100000u}) {
    for (const size_t n : {size_t{0}, size_t{1}, chunk - 1, chunk, chunk + 1, 3 * chunk + 2}) {
      Pipeline pipeline = make({copy_stage(), copy_stage()});
      VectorSource source(numbers(n), VectorSource::Then::kEnd);
      VectorSink sink;
      const auto run = run_pipeline(pipeline, source, sink, static_cast<int64_t>(chunk));
      ASSERT_TRUE(run) << run.error().text();
      EXPECT_EQ(sink.got, numbers(n));
      EXPECT_EQ(sink.shapes.size(), (n + chunk - 1) / chunk);
      for (size_t k = 0; k + 1 < sink.shapes.size(); ++k) {
        EXPECT_THAT(sink.shapes[k], ElementsAre(static_cast<int64_t>(chunk)));
      }
      EXPECT_TRUE(pipeline.finish());
    }
  }
}

TEST_F(Pipelines, ASinkThatFailsEndsASourceThatWaits) {
  Pipeline pipeline = make({copy_stage()});
  VectorSource source(numbers(20), VectorSource::Then::kWait);
  VectorSink sink;
  sink.fails_at = 2;
  const auto run = run_pipeline(pipeline, source, sink, 5);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().message, "the sink fails");
  EXPECT_EQ(sink.got, numbers(10));
}

TEST_F(Pipelines, AFailureEndsASourceThatWaits) {
  Pipeline pipeline = make({copy_stage("[]i32", "fail")});
  VectorSource source(numbers(5), VectorSource::Then::kWait);
  VectorSink sink;
  const auto run = run_pipeline(pipeline, source, sink, 5);
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().message, HasSubstr("chunk 0 (elements 0 to 4)"));
}

TEST_F(Pipelines, ASourceThatFailsHasItsElementsWritten) {
  Pipeline pipeline = make({copy_stage()});
  VectorSource source(numbers(12), VectorSource::Then::kFail);
  VectorSink sink;
  const auto run = run_pipeline(pipeline, source, sink, 5);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().message, "the source fails");
  EXPECT_EQ(sink.got, numbers(12));
}

TEST_F(Pipelines, ChunksHaveElements) {
  Pipeline pipeline = make({copy_stage()});
  VectorSource source({}, VectorSource::Then::kEnd);
  VectorSink sink;
  EXPECT_FALSE(run_pipeline(pipeline, source, sink, 0));
  EXPECT_FALSE(run_pipeline(pipeline, source, sink, INT64_MAX));
}

}  // namespace
}  // namespace kenaz::client
