// Commands with data: upload takes bytes that follow the command, download gives bytes within its
// reply; restore reads a file, store writes one, load takes a program. Whoever runs the session
// asks want() and does that, until kDone; then Session::end(). Nothing is kept of a stream that is
// dropped before.
#pragma once

#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "protocol/data/binary_format.h"
#include "server/client_memory.h"
#include "server/host/engine.h"
#include "server/variables/variables.h"

namespace kenaz {

class Stream {
 public:
  enum class Want {
    kInput,   // bytes from the client into input(); then advance()
    kOutput,  // bytes of output() to the client; then advance()
    kWork,    // work(), where the engine is used
    kAside,   // aside(), which may take long, where nobody waits for it
    kDone,
  };

  virtual ~Stream() = default;
  virtual Want want() const = 0;
  virtual std::span<std::byte> input() { return {}; }
  virtual std::span<const std::byte> output() { return {}; }
  virtual void advance(size_t n) = 0;
  virtual void work() = 0;
  virtual void aside() {}
  /// Whether aside() only waits, for something that may last.
  virtual bool only_waits() const { return false; }
  /// By any thread: aside() ends soon, and the stream fails.
  virtual void cancel() {}
  /// Bytes of the client's that have come, of those that it said would come.
  virtual int64_t received() const { return 0; }
  virtual int64_t announced() const { return 0; }
  /// Whether nothing else of the session's may be done until it has ended.
  virtual bool needs_session() const { return false; }
  /// With kDone: what becomes of it. Needs no engine.
  virtual Status finish(Variables& variables) = 0;

  /// With kWork: the number of the device whose engine is used.
  size_t device() const { return device_; }
  void set_device(size_t device) { device_ = device; }
  /// Keeps something until it goes.
  void keep(std::shared_ptr<void> what) { kept_ = std::move(what); }

 private:
  size_t device_ = 0;
  std::shared_ptr<void> kept_;
};

/// Status of `step()`. Containers throw where memory ends, also on a client's account: that fails
/// the command only.
template <class F>
Status without_exceptions(F&& step) {
  try {
    return step();
  } catch (const std::bad_alloc&) {
    return fail(ErrorKind::kOutOfMemory, "The server has no memory left for this command.");
  } catch (const std::exception& e) {
    return internal_error(e.what());
  }
}

/// `upload BYTES VAR TYPE ..`. All or nothing: variables appear when every byte has come and was
/// right. Bytes after a mistake are taken and thrown away. A value takes memory of the device only
/// when a part of it has come, so announcing much costs others nothing.
class Upload : public Stream {
 public:
  struct Target {
    std::string name;
    const ValueType* type;          // one of `types`
    std::vector<int> constructors;  // see constructor_counts
    TypesPtr types;
  };

  /// `refused`: a mistake known from the start. `room`: bytes that values may take, -1 for any;
  /// `reserved` keeps them free. `memory`: where bytes on their way to the device count; may be
  /// null.
  Upload(std::shared_ptr<host::Engine> engine, std::vector<Target> targets, int64_t bytes,
         int64_t room, std::shared_ptr<void> reserved, std::shared_ptr<ClientMemory> memory,
         std::optional<Error> refused);

  Want want() const override;
  std::span<std::byte> input() override;
  void advance(size_t n) override;
  void work() override;
  Status finish(Variables& variables) override;
  int64_t received() const override { return announced_ - left_; }
  int64_t announced() const override { return announced_; }

 protected:
  bool has_failed() const { return error_.has_value(); }
  void give_up(Error error);

 private:
  /// What is done with the leaf at hand.
  enum class Phase { kHeader, kStaging, kOpening, kFilling };

  bool complete() const { return values_.size() > targets_.size(); }
  const Target& target() const { return targets_[values_.size() - 1]; }
  void begin_leaf();
  Status step();
  Status header_advanced();
  Status check_header();
  Status grow_stage(size_t bytes);
  Status stage_advanced(size_t n);
  Status empty_stage();
  Status close_leaf();
  Status check_shape() const;
  Status check_elements(std::span<const std::byte> bytes) const;

  const std::shared_ptr<host::Engine> engine_;
  std::vector<Target> targets_;
  std::vector<std::vector<host::LeafPtr>> values_;  // the last one is being filled
  const int64_t announced_;
  int64_t left_;  // bytes that have not come yet
  int64_t room_;
  std::shared_ptr<void> reserved_;
  std::optional<Error> error_;

  // The leaf at hand: its header comes first, then what is kept on the host until there is enough
  // to ask for memory of the device.
  Phase phase_ = Phase::kHeader;
  std::vector<std::byte> header_;
  size_t header_have_ = 0;
  data::BinaryHeader leaf_;
  int64_t leaf_left_ = 0;  // bytes of it that have not come yet
  std::vector<std::byte> stage_;
  MemoryShare stage_share_;
  size_t stage_goal_ = 0, stage_have_ = 0, stage_given_ = 0;
  std::unique_ptr<host::LeafWriter> writer_;
  std::vector<std::byte> waste_;  // where bytes after a mistake go
};

/// `download VAR..`. Holds the values, so that the session may go on changing.
class Download : public Stream {
 public:
  /// `loan`: see Variables::lend.
  Download(std::shared_ptr<host::Engine> engine, std::vector<host::LeafPtr> leaves,
           std::shared_ptr<void> loan);

  Want want() const override;
  std::span<const std::byte> output() override;
  void advance(size_t n) override;
  void work() override;
  Status finish(Variables& variables) override;

 private:
  Status fetch();
  Status open_next();

  const std::shared_ptr<host::Engine> engine_;
  std::vector<host::LeafPtr> leaves_;
  std::shared_ptr<void> loan_;   // goes before them
  size_t next_ = 0;              // leaf to be opened next
  int64_t total_ = 0;            // bytes of the values
  int64_t sent_ = 0, goal_ = 0;  // bytes given, the count's line included
  std::string text_;             // the count's line, a header
  size_t given_ = 0;             // of text_
  int64_t leaf_left_ = 0;        // bytes of the open leaf
  std::unique_ptr<host::LeafReader> reader_;
  bool started_ = false;
  std::optional<Error> error_;
  std::vector<std::byte> filler_;  // in place of what an error keeps from being read
};

}  // namespace kenaz
