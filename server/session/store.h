// `store FILE VAR..`: values go into a file where nobody waits for it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/session/files.h"
#include "server/session/stream.h"

namespace kenaz {

/// Writes values in the binary format, one after the other. Holds them, so that the session may go
/// on changing. A store that fails leaves the file as far as it was written.
class Store : public Stream {
 public:
  /// Where bytes go, by its name for clients: `put` takes some; `end` is called after the last.
  struct Target {
    std::string name;
    std::function<Status(std::span<const std::byte>)> put;
    std::function<Status()> end;
  };
  static Target to_file(const std::string& path, File file);

  /// `loan`: see Variables::lend.
  Store(std::shared_ptr<host::Engine> engine, Target target, std::vector<host::LeafPtr> leaves,
        std::shared_ptr<void> loan);

  Want want() const override;
  void advance(size_t) override {}
  void work() override;
  void aside() override;
  void cancel() override { cancelled_ = true; }
  Status finish(Variables& variables) override;

 protected:
  bool has_failed() const { return error_.has_value(); }
  /// Of all values, with their headers.
  int64_t bytes() const;

 private:
  /// What comes next: kRead uses the engine, kWrite the target.
  enum class Phase { kRead, kWrite, kDone };

  void step(const std::function<Status()>& body);
  Status read();
  Status write();

  const std::shared_ptr<host::Engine> engine_;
  Target target_;
  std::vector<host::LeafPtr> leaves_;
  std::shared_ptr<void> loan_;  // goes before them
  std::atomic<bool> cancelled_{false};

  Phase phase_;
  size_t next_ = 0;     // leaf to be opened next
  std::string header_;  // to be written before the open leaf's bytes
  int64_t left_ = 0;    // bytes of the open leaf
  std::unique_ptr<host::LeafReader> reader_;
  std::optional<Error> error_;
};

}  // namespace kenaz
