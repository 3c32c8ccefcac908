// `device #K`: a session's values go from one device to another.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "server/session/stream.h"

namespace kenaz {

/// Copies values through host memory, in pieces. All or nothing: variables have the copies when all
/// are there.
class Move : public Stream {
 public:
  /// An engine for the session's values, on the device of that number.
  struct End {
    std::shared_ptr<host::Engine> engine;
    size_t device = 0;
  };
  /// What follows when variables have the copies. By whoever calls finish().
  using Then = std::function<void()>;

  /// `leaves`: those of all variables, each once. Where both ends are the same device none are
  /// needed, and nothing is copied.
  Move(End from, End to, std::vector<host::LeafPtr> leaves, Then then);

  Want want() const override;
  void advance(size_t) override {}
  void work() override;
  void cancel() override { cancelled_ = true; }
  bool needs_session() const override { return true; }
  Status finish(Variables& variables) override;

 private:
  Status step();
  Status read();
  Status write();

  const End from_, to_;
  const std::vector<host::LeafPtr> leaves_;
  const Then then_;
  std::atomic<bool> cancelled_{false};
  Variables::Exchange copies_;
  size_t next_ = 0;   // the leaf at hand
  int64_t left_ = 0;  // bytes of it that have not been copied
  bool opened_ = false;
  std::unique_ptr<host::LeafReader> reader_;
  std::unique_ptr<host::LeafWriter> writer_;
  std::optional<Error> error_;
};

}  // namespace kenaz
