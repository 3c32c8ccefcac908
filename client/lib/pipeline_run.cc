#include "client/lib/pipeline_run.h"

#include <algorithm>
#include <exception>
#include <thread>

#include "client/lib/bounded_queue.h"

namespace kenaz::client {
namespace {

// While the server computes one chunk, the next one is on its way to it.
constexpr size_t kChunksOnServer = 2;
constexpr size_t kChunksQueued = 1;
// A buffer grows with what comes, so that a short sequence takes little of a large chunk's memory.
constexpr size_t kFirstBytes = size_t{64} << 10;

/// A chunk on its way to the server: the first `used` bytes.
struct Filled {
  std::vector<std::byte> bytes;
  size_t used = 0;
};
struct Computed {
  std::vector<std::byte> bytes;
  Shape shape;
};

class PipelineRun {
 public:
  PipelineRun(Pipeline& pipeline, ElementSource& source, ElementSink& sink, size_t chunk_bytes)
      : pipeline_(pipeline), source_(source), sink_(sink), chunk_bytes_(chunk_bytes) {}

  Status run() {
    std::thread reader([this] {
      read_ = guarded([this] { return read_all(); });
      inputs_.close();
    });
    std::thread writer([this] {
      written_ = guarded([this] { return write_all(); });
      // Nobody takes results any more, so there is no use in the rest of the input.
      if (!written_) stop();
    });
    const Status computed = guarded([this] { return compute_all(); });
    outputs_.close();
    writer.join();
    stop();
    reader.join();
    KENAZ_TRY(written_);
    KENAZ_TRY(computed);
    return read_;
  }

 private:
  template <class Body>
  static Status guarded(Body body) {
    try {
      return body();
    } catch (const std::bad_alloc&) {
      return fail(ErrorKind::kOutOfMemory, "no memory for a chunk of the stream");
    } catch (const std::exception& e) {
      return internal_error(e.what());
    }
  }

  void stop() {
    source_.stop();
    inputs_.abandon();
    outputs_.abandon();
  }

  /// Fills a chunk, as far as the source goes.
  Status fill(Filled& chunk) {
    const size_t row = pipeline_.row_bytes();
    const size_t first = std::min(chunk_bytes_, (kFirstBytes + row - 1) / row * row);
    chunk.used = 0;
    while (chunk.used < chunk_bytes_) {
      const size_t have = chunk.bytes.size();
      if (chunk.used == have) chunk.bytes.resize(std::min(chunk_bytes_, std::max(first, 2 * have)));
      const auto room = std::span(chunk.bytes).subspan(chunk.used);
      KENAZ_ASSIGN(const size_t got, source_.read(room));
      chunk.used += got;
      if (got < room.size()) break;
    }
    return {};
  }

  Status read_all() {
    for (;;) {
      Filled chunk{spare_inputs_.try_pop().value_or(std::vector<std::byte>()), 0};
      const Status filled = fill(chunk);
      const bool any = chunk.used > 0;
      if (any && !inputs_.push(std::move(chunk))) return {};
      if (!filled || !any) return filled;
    }
  }

  Status write_all() {
    while (auto result = outputs_.pop()) {
      KENAZ_TRY(sink_.write(result->bytes, result->shape));
      spare_outputs_.offer(std::move(result->bytes));
    }
    return {};
  }

  /// Receives the oldest result. False: nobody takes it.
  Result<bool> receive() {
    Computed result{spare_outputs_.try_pop().value_or(std::vector<std::byte>()), {}};
    KENAZ_ASSIGN(result.shape, pipeline_.pop(result.bytes));
    return outputs_.push(std::move(result));
  }

  Status compute_all() {
    for (;;) {
      std::optional<Filled> next;
      if (pipeline_.under_way() == 0) {
        next = inputs_.pop();
        if (!next) return {};
      } else if (pipeline_.under_way() < kChunksOnServer) {
        // A slow source does not hold up results.
        next = inputs_.try_pop();
      }
      if (next) {
        KENAZ_TRY(pipeline_.push(std::span(next->bytes).first(next->used)));
        spare_inputs_.offer(std::move(next->bytes));
        continue;
      }
      KENAZ_ASSIGN(const bool taken, receive());
      if (!taken) return {};
    }
  }

  Pipeline& pipeline_;
  ElementSource& source_;
  ElementSink& sink_;
  const size_t chunk_bytes_;
  BoundedQueue<Filled> inputs_{kChunksQueued};
  BoundedQueue<Computed> outputs_{kChunksQueued};
  // Buffers that have been used and can be filled again, so that their pages need not be new.
  BoundedQueue<std::vector<std::byte>> spare_inputs_{kChunksOnServer};
  BoundedQueue<std::vector<std::byte>> spare_outputs_{kChunksOnServer};
  Status read_, written_;  // of the threads, once they have ended
};

}  // namespace

Status run_pipeline(Pipeline& pipeline, ElementSource& source, ElementSink& sink, int64_t chunk) {
  const auto row = static_cast<int64_t>(pipeline.row_bytes());
  if (chunk < 1 || chunk > INT64_MAX / row) {
    return bad_request("a chunk has at least one element, and no more than fit in memory");
  }
  return PipelineRun(pipeline, source, sink, static_cast<size_t>(chunk * row)).run();
}

}  // namespace kenaz::client
