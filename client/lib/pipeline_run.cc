#include "client/lib/pipeline_run.h"

#include <algorithm>
#include <deque>
#include <exception>
#include <optional>
#include <thread>

#include "client/lib/bounded_queue.h"

namespace kenaz::client {
namespace {

// While the server computes one chunk, the next one is on its way to it.
constexpr size_t kChunksOnServer = 2;
constexpr size_t kChunksQueued = 1;
// A buffer grows with what comes, so that a short sequence takes little of a large chunk's memory.
constexpr size_t kFirstBytes = size_t{64} << 10;

// Of shared memory: besides those on the server, one chunk of each kind is queued, and one is being
// filled or written.
constexpr size_t kSlots = kChunksOnServer + kChunksQueued + 1;
constexpr size_t kPage = 4096;  // so that elements in shared memory are aligned
constexpr size_t kMostShared = size_t{1} << 44;

/// A chunk on its way to the server: the first `used` bytes of `bytes`, or of a slot.
struct Filled {
  std::vector<std::byte> bytes;
  std::optional<size_t> slot;
  size_t used = 0;
};
struct Computed {
  std::vector<std::byte> bytes;  // which the elements are in, unless they are in the slot
  std::optional<size_t> slot;
  Pipeline::Popped result;
};

/// Chunks in memory that is shared with the server: slots that are filled, and others for results.
/// They are named by the place of their first element.
class SharedChunks {
 public:
  /// Null if the server shares no memory, or the chunks are too large for that.
  static std::unique_ptr<SharedChunks> make(Pipeline& pipeline, size_t chunk_bytes) {
    const size_t most = kMostShared / kSlots / 2;
    if (chunk_bytes > most / sizeof(uint64_t)) return nullptr;
    const size_t per_row = static_cast<size_t>(prim_size(pipeline.output_element()));
    const size_t results = chunk_bytes / pipeline.row_bytes() * per_row;
    const size_t in = slot_bytes(chunk_bytes), out = slot_bytes(std::max(chunk_bytes, results));
    auto memory = pipeline.share(kSlots * (in + out));
    if (!memory) return nullptr;
    return std::make_unique<SharedChunks>(std::move(memory), in, out,
                                          Client::shared_header_bytes(pipeline.output_rank()));
  }

  SharedChunks(std::shared_ptr<SharedMemory> memory, size_t in, size_t out, size_t header)
      : memory_(std::move(memory)), out_(out), header_(header) {
    for (size_t k = 0; k < kSlots; ++k) {
      free_inputs.offer(kPage + k * in);
      free_results.offer(kPage + kSlots * in + k * out);
    }
  }

  std::span<std::byte> input(size_t slot, size_t bytes) const {
    return memory_->bytes().subspan(slot, bytes);
  }
  /// The place for a result, whose elements come to the slot.
  Client::SharedPlace result(size_t slot) const {
    return {memory_, slot - header_, out_ - kPage + header_};
  }
  void abandon() {
    free_inputs.abandon();
    free_results.abandon();
  }

  BoundedQueue<size_t> free_inputs{kSlots}, free_results{kSlots};

 private:
  /// With a page before it, for the header.
  static size_t slot_bytes(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage + kPage; }

  const std::shared_ptr<SharedMemory> memory_;
  const size_t out_, header_;
};

class PipelineRun {
 public:
  PipelineRun(Pipeline& pipeline, ElementSource& source, ElementSink& sink, size_t chunk_bytes)
      : pipeline_(pipeline),
        source_(source),
        sink_(sink),
        chunk_bytes_(chunk_bytes),
        shared_(SharedChunks::make(pipeline, chunk_bytes)) {}

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
    if (shared_) shared_->abandon();
  }

  /// Fills a chunk, as far as the source goes.
  Status fill(Filled& chunk) {
    if (chunk.slot) {
      KENAZ_ASSIGN(chunk.used, source_.read(shared_->input(*chunk.slot, chunk_bytes_)));
      return {};
    }
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

  /// What the next chunk is filled into; nullopt: no more is wanted.
  std::optional<Filled> next_input() {
    if (!shared_) return Filled{spare_inputs_.try_pop().value_or(std::vector<std::byte>()), {}, 0};
    const auto slot = shared_->free_inputs.pop();
    if (!slot) return std::nullopt;
    return Filled{{}, slot, 0};
  }

  Status read_all() {
    for (;;) {
      auto next = next_input();
      if (!next) return {};
      Filled chunk = std::move(*next);
      const Status filled = fill(chunk);
      const bool any = chunk.used > 0;
      if (any && !inputs_.push(std::move(chunk))) return {};
      if (!filled || !any) return filled;
    }
  }

  Status write_all() {
    while (auto result = outputs_.pop()) {
      KENAZ_TRY(sink_.write(result->result.elements, result->result.shape));
      give_back(std::move(*result));
    }
    return {};
  }

  void give_back(Computed result) {
    if (result.slot) shared_->free_results.offer(*result.slot);
    spare_outputs_.offer(std::move(result.bytes));
  }

  /// False: nobody takes results any more.
  Result<bool> push(Filled chunk) {
    if (!shared_) {
      KENAZ_TRY(pipeline_.push(std::span(chunk.bytes).first(chunk.used)));
      spare_inputs_.offer(std::move(chunk.bytes));
      return true;
    }
    // One is free at all times, or soon: those before are here, queued, or being written.
    const auto slot = shared_->free_results.pop();
    if (!slot) return false;
    KENAZ_TRY(pipeline_.push_shared(shared_->result(*slot), *chunk.slot, chunk.used));
    on_server_.push_back({*chunk.slot, *slot});
    return true;
  }

  /// Receives the oldest result. False: nobody takes it.
  Result<bool> receive() {
    Computed result{spare_outputs_.try_pop().value_or(std::vector<std::byte>()), {}, {}};
    KENAZ_ASSIGN(result.result, pipeline_.pop_shared(result.bytes));
    if (shared_) {
      const SlotPair slots = on_server_.front();
      on_server_.pop_front();
      shared_->free_inputs.offer(slots.input);
      result.slot = slots.result;
    }
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
        KENAZ_ASSIGN(const bool pushed, push(std::move(*next)));
        if (!pushed) return {};
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
  const std::unique_ptr<SharedChunks> shared_;  // null: chunks are in buffers of their own
  struct SlotPair {
    size_t input, result;
  };
  std::deque<SlotPair> on_server_;  // slots of the chunks there, oldest first
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
