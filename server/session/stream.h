// Commands with data: upload takes bytes that follow the command, download gives bytes within its
// reply. Whoever runs the session asks want() and does that, until kDone; then Session::end().
// Nothing is kept of a stream that is dropped before.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocol/data/binary_format.h"
#include "server/host/engine.h"
#include "server/variables/variables.h"

namespace kenaz {

class Stream {
 public:
  enum class Want {
    kInput,   // bytes from the client into input(); then advance()
    kOutput,  // bytes of output() to the client; then advance()
    kWork,    // work(), where the engine is used
    kDone,
  };

  virtual ~Stream() = default;
  virtual Want want() const = 0;
  virtual std::span<std::byte> input() { return {}; }
  virtual std::span<const std::byte> output() { return {}; }
  virtual void advance(size_t n) = 0;
  virtual void work() = 0;
  /// With kDone: what becomes of it. Needs no engine.
  virtual Status finish(Variables& variables) = 0;
};

/// `upload BYTES VAR TYPE ..`. All or nothing: variables appear when every byte has come and was
/// right. Bytes after a mistake are taken and thrown away.
class Upload : public Stream {
 public:
  struct Target {
    std::string name;
    const ValueType* type;
  };

  /// `refused`: a mistake known from the start. `room`: bytes that values may take, -1 for any;
  /// `reserved` keeps them free.
  Upload(std::shared_ptr<host::Engine> engine, std::vector<Target> targets, int64_t bytes,
         int64_t room, std::shared_ptr<void> reserved, std::optional<Error> refused);

  Want want() const override;
  std::span<std::byte> input() override;
  void advance(size_t n) override;
  void work() override;
  Status finish(Variables& variables) override;

 private:
  bool complete() const { return values_.size() > targets_.size(); }
  const Target& target() const { return targets_[values_.size() - 1]; }
  void give_up(Error error);
  void begin_leaf();
  Status step();
  Status header_advanced();
  Status open_leaf();
  Status close_leaf();
  Status check_shape() const;
  Status check_bools(std::span<const std::byte> bytes) const;

  const std::shared_ptr<host::Engine> engine_;
  std::vector<Target> targets_;
  std::vector<std::vector<host::LeafPtr>> values_;  // the last one is being filled
  int64_t left_;                                    // bytes that have not come yet
  int64_t room_;
  std::shared_ptr<void> reserved_;
  std::optional<Error> error_;

  // The leaf at hand: its header comes first.
  std::vector<std::byte> header_;
  size_t header_have_ = 0;
  std::unique_ptr<host::LeafWriter> writer_;
  bool opening_ = false;  // the header is complete, the writer not yet made
  data::BinaryHeader leaf_;
  int64_t leaf_left_ = 0;
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
