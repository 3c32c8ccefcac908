// `load NAME BYTES`: takes a program's sources, and has a process compile them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "server/session/stream.h"
#include "server/workers/client_programs.h"

namespace kenaz {

class Load : public Stream {
 public:
  using Keep = std::function<void(ClientProgramPtr)>;

  /// `client`, `device`: see ClientPrograms::load. Where it is not `allowed`, for that reason, the
  /// bytes are taken and thrown away. `keep` gets the program, at the end. `memory` may be null;
  /// `all` too, if it is not allowed.
  Load(std::shared_ptr<ClientPrograms> all, std::string name, std::string client,
       std::string device, int64_t bytes, Status allowed, std::shared_ptr<ClientMemory> memory,
       Keep keep);

  Want want() const override;
  std::span<std::byte> input() override;
  void advance(size_t n) override;
  void work() override {}
  void aside() override;
  bool only_waits() const override { return true; }
  void cancel() override { attempt_.cancel(); }
  int64_t received() const override { return announced_ - left_; }
  int64_t announced() const override { return announced_; }
  Status finish(Variables& variables) override;

 private:
  void give_up(Error error);

  const std::shared_ptr<ClientPrograms> all_;
  const std::string name_, client_, device_name_;
  const int64_t announced_;
  int64_t left_;  // bytes that have not come yet
  const Keep keep_;
  std::string sources_;  // with room for more
  size_t have_ = 0;
  MemoryShare share_;
  std::optional<Error> error_;
  ClientPrograms::Attempt attempt_;
  ClientProgramPtr program_;
};

}  // namespace kenaz
