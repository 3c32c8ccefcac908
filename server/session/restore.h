// `restore FILE VAR TYPE ..`: values of a file, read and parsed where nobody waits for it.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "protocol/data/byte_source.h"
#include "server/client_memory.h"
#include "server/session/stream.h"

namespace kenaz {

/// Bytes go from the file into the engine's own memory; text, and what is small, by a value in host
/// memory. What a value's header says is held against the session's room before the value is read.
/// The variables read before the one that fails are kept.
class Restore : public Stream {
 public:
  struct File {
    std::string path;
    data::ByteSource source;
  };
  struct Bounds {
    int64_t room = -1;                     // bytes that values may take, -1: any number
    std::shared_ptr<void> reserved;        // keeps them free
    double seconds = 0;                    // that reading may take; 0: any
    std::shared_ptr<ClientMemory> memory;  // where values on their way count; may be null
  };

  /// `then`: a mistake known from the start, which is told when the targets, which come before it,
  /// have been read.
  Restore(std::shared_ptr<host::Engine> engine, File file, std::vector<Upload::Target> targets,
          Bounds bounds, std::optional<Error> then);

  Want want() const override;
  void advance(size_t) override {}
  void work() override;
  void aside() override;
  void cancel() override { cancelled_ = true; }
  Status finish(Variables& variables) override;

 private:
  /// What comes next: kOpen and kMore use the engine, the others the file.
  enum class Phase { kRead, kOpen, kFill, kMore, kDone };
  using Clock = std::chrono::steady_clock;

  void step(const std::function<Status()>& body);
  /// What ends the reading; nothing, if it may go on and a value in host memory take so much.
  std::optional<Error> why_not(int64_t bytes);
  Status read_next();
  Status read_leaf(const LeafType& wanted, int constructors);
  Status read_header(const LeafType& wanted);
  Status read_small();
  Status read_into(std::span<std::byte> to);
  Status take_room(int64_t bytes);
  Status complete_value();
  Status at_end();
  Status open();
  Status fill();
  Status fill_from_value(size_t most);
  Status more();
  Error as_failure(Error error) const;
  const Upload::Target& target() const { return targets_[values_.size() - 1]; }

  const std::shared_ptr<host::Engine> engine_;
  File file_;
  const std::vector<Upload::Target> targets_;
  Bounds bounds_;
  std::optional<Error> then_;
  std::atomic<bool> cancelled_{false};

  Phase phase_ = Phase::kRead;
  std::vector<std::vector<host::LeafPtr>> values_;  // the last one is being read
  size_t complete_ = 0;                             // of them
  std::optional<Error> stopped_, error_;
  Clock::duration spent_{0};
  Clock::time_point step_begun_;

  // The leaf at hand.
  data::Value value_;  // its elements, or none if they come from the file
  bool in_memory_ = false;
  int constructors_ = 0;
  int64_t left_ = 0;  // bytes that the writer has not got yet
  std::unique_ptr<host::LeafWriter> writer_;
  MemoryShare share_;
};

}  // namespace kenaz
