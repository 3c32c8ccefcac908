// Memory that a client shares with the server, for values on their way: a file of memfd_create,
// which both have mapped.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "server/session/store.h"
#include "server/session/stream.h"

namespace kenaz {

class SharedMemory {
 public:
  /// Takes over the descriptor. Refuses what is no such file, and one that can become smaller
  /// (F_SEAL_SHRINK), since a process is ended that reads what is behind the end.
  static Result<std::shared_ptr<const SharedMemory>> map(int fd);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  /// So many bytes, which the client may change at any time. Fails if there are fewer.
  Result<std::span<std::byte>> part(int64_t offset, int64_t bytes) const;

 private:
  explicit SharedMemory(std::span<std::byte> bytes) : bytes_(bytes) {}

  const std::span<std::byte> bytes_;
};
using SharedMemoryPtr = std::shared_ptr<const SharedMemory>;

/// `upload_shared OFFSET BYTES VAR TYPE ..`: an upload whose bytes are there already.
class SharedUpload : public Upload {
 public:
  /// `from`: a part of the memory.
  SharedUpload(SharedMemoryPtr memory, std::span<const std::byte> from, Upload upload)
      : Upload(std::move(upload)), memory_(std::move(memory)), left_(from) {}

  Want want() const override;
  void aside() override;
  /// Nothing of the client's is still to come.
  int64_t received() const override { return 0; }
  int64_t announced() const override { return 0; }

 private:
  Status copy();

  const SharedMemoryPtr memory_;
  std::span<const std::byte> left_;
};

/// `download_shared OFFSET BYTES VAR..`, of values that have room there: their bytes go there, and
/// the reply has their number only.
class SharedDownload : public Store {
 public:
  /// `to`: a part of the memory, large enough. `loan`: see Variables::lend.
  SharedDownload(const SharedMemoryPtr& memory, std::span<std::byte> to,
                 std::shared_ptr<host::Engine> engine, std::vector<host::LeafPtr> leaves,
                 std::shared_ptr<void> loan);

  Want want() const override;
  std::span<const std::byte> output() override;
  void advance(size_t n) override { given_ += n; }

 private:
  std::string count_;  // a line
  size_t given_ = 0;   // of it
};

}  // namespace kenaz
