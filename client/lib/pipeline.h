// Entry points in a chain, through which a sequence of any length goes in chunks. What one stage
// gives stays on the device for the next one:
//
//   auto scale = stage_type(client, "scale");      // (a: f32) (xs: [n]f32): [n]f32
//   auto running = stage_type(client, "running");  // (sum: f32) (xs: [n]f32): (f32, [n]f32)
//   auto pipeline = Pipeline::make(client, {{*scale, {"a"}, ""}, {*running, {}, "zero"}});
//   pipeline->push(std::as_bytes(std::span(xs)));
//   pipeline->push(std::as_bytes(std::span(more)));  // on its way while the first one is computed
//   auto shape = pipeline->pop(bytes);
//
// `run_pipeline` (pipeline_run.h) does so for a source and a sink, with back-pressure.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "client/lib/client.h"

namespace kenaz::client {

/// An entry point as a stage: `[n]a -> [m]b`, or with a state `s -> [n]a -> (s, [m]b)`, behind any
/// number of leading parameters, whose arguments are the same for every chunk. Elements (a, b) are
/// scalars, or arrays of scalars.
struct StageType {
  struct Param {
    std::string name;  // "" if the program has none
    std::string type;
  };
  std::string entry;
  std::vector<Param> leading;
  std::string state;          // the state's type; empty: the stage carries none
  std::string input, output;  // the types of a chunk: "[]f32"
};

/// Returns how the entry point is a stage. Fails with kBadRequest if it is none, with its type.
Result<StageType> stage_type(Client& client, const std::string& entry);

/// Fails with kBadRequest, and both types, if a stage does not take what the one before it gives.
Status check_chain(std::span<const StageType> stages);

struct Stage {
  StageType type;
  std::vector<std::string> arguments;  // variables, one for each leading parameter
  std::string state;                   // the variable with the first state; "" if there is none
};

/// Not for use by several threads at once. Its variables on the server are named `_stream..`, so a
/// session has one pipeline at a time.
class Pipeline {
 public:
  /// `row` is the shape of one element of the input: empty for scalars. The client must outlive the
  /// pipeline. The variables of `arguments` stay the caller's; those of the states are taken over.
  /// Fails with kBadRequest if the stages do not chain, if an element has another number of
  /// dimensions than the first stage takes, or if a variable is missing or of another type. Frees
  /// what a pipeline that never finished has left in the session under the same names.
  static Result<Pipeline> make(Client& client, std::vector<Stage> stages, Shape row = {});

  PrimType input_element() const { return input_; }
  PrimType output_element() const { return output_; }
  /// See Client::share.
  std::shared_ptr<SharedMemory> share(size_t bytes) { return client_->share(bytes); }
  /// The dimensions of a result: 1 where its elements are scalars.
  size_t output_rank() const { return output_rank_; }
  /// The bytes of one element of the input.
  size_t row_bytes() const { return row_bytes_; }

  /// Sends a chunk and the commands that take it through all stages. Returns when the chunk's bytes
  /// are on their way, which need not live any longer. Fails with kBadRequest if they are no whole
  /// number of elements, and as pop has failed before; what goes wrong on the server, pop returns.
  Status push(std::span<const std::byte> elements);
  /// The same of elements that lie in shared memory, `at` bytes from its beginning, where
  /// Client::shared_header_bytes() before them are free: they must stay until the chunk's result
  /// has been received. That comes to `place`, if it has room there.
  Status push_shared(const Client::SharedPlace& place, size_t at, size_t bytes);
  /// Receives the result of the oldest chunk whose result has not been received: there must be one.
  /// Returns its shape, and the elements in `elements`, whose memory is used again. A failure names
  /// the chunk, the elements of the input that it held (both counted from 0), and the stage; no
  /// chunk comes after it.
  Result<Shape> pop(std::vector<std::byte>& elements);
  /// The same; the elements of a chunk that was pushed by push_shared may be in shared memory, and
  /// are in `spill` if they are not.
  struct Popped {
    Shape shape;
    std::span<const std::byte> elements;
  };
  Result<Popped> pop_shared(std::vector<std::byte>& spill);
  /// How many chunks have been pushed and not popped.
  size_t under_way() const { return chunks_.size(); }

  /// The variable that has the state of a stage after all chunks that were pushed; "" if it carries
  /// none.
  const std::string& state(size_t stage) const { return stages_[stage].state; }
  /// Waits for what is under way, and frees all variables of the pipeline, states included, also
  /// after a failure.
  Status finish();

 private:
  struct Received {
    Shape shape;
    std::vector<std::byte> bytes;
    std::optional<std::span<const std::byte>> shared;  // where they are instead
    bool done = false;
  };
  /// A command of a chunk, whose reply has not been asked for.
  struct Step {
    std::string what;  // for failures: "stage scale"
    std::variant<Client::Future<void>, Client::Future<std::chrono::microseconds>> reply;
  };
  struct Chunk {
    int64_t number = 0, first = 0, count = 0;  // first: the element of the input
    std::vector<Step> steps;                   // the last but one receives the result
    std::shared_ptr<Received> received;
  };

  Pipeline(Client& client, std::vector<Stage> stages, Shape row)
      : client_(&client), stages_(std::move(stages)), row_(std::move(row)) {}
  Status check();
  /// The variables that it makes: not the first states.
  std::vector<std::string> variables() const;
  Status discard_leftovers();
  /// Calls stage k on the variable `in`, frees what the call used up, and returns its result.
  std::string call(size_t k, const std::string& in, Chunk& chunk);
  void receive(const std::string& result, Chunk& chunk, const Client::SharedPlace* place);
  /// A chunk of so many bytes, and its shape. Fails as push does.
  Result<std::pair<Chunk, Shape>> next_chunk(size_t bytes);
  /// The commands that take a chunk, whose upload is under way, through all stages.
  void compute(Chunk chunk, const Client::SharedPlace* place);

  Client* client_;
  std::vector<Stage> stages_;
  Shape row_;
  PrimType input_ = PrimType::kI8, output_ = PrimType::kI8;
  size_t row_bytes_ = 1, output_rank_ = 1;
  int64_t pushed_ = 0, elements_ = 0;  // chunks, and their elements
  std::deque<Chunk> chunks_;
  std::optional<Error> failed_;
};

}  // namespace kenaz::client
