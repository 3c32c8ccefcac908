// What is left of an entry's host code once the scalars are known that it begins with. Most of it
// computes sizes and decides by them; the same call again comes to the same. So calls that come
// again run what the first has done, and no more.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "server/host/registers.h"
#include "server/host/tuning.h"

namespace kenaz::host {

/// Code that is not done: up to where, and for what it runs.
struct Piece {
  const program::Code* code = nullptr;
  size_t next = 0;
  const program::OpWhile* loop = nullptr;  // of which it is the head or the body
  const program::OpCall* call = nullptr;   // of whose function it is
};

struct Residual {
  /// Allocations, launches and what else has an effect, with constants for all scalars, up to the
  /// first operation that reads what the device has computed, or calls a function.
  program::Code code;
  /// The operation of `code` that is the call's last launch, if one is known to be.
  std::optional<size_t> last_launch;
  /// The scalar registers behind it, and what runs then, the innermost last.
  std::vector<PrimValue> scalars;
  std::vector<Piece> rest;
};
using ResidualPtr = std::shared_ptr<const Residual>;

/// Makes one while the code runs.
class Recording {
 public:
  /// What comes behind so many operations is not recorded: it runs as it stands.
  static constexpr size_t kMostOps = 512;

  /// Before the operation runs, with the registers as they are. False if it is not recorded: then
  /// comes end(), and no more of this.
  bool note(const program::HostOp& op, const Registers& registers);
  void end(std::vector<PrimValue> scalars, std::vector<Piece> rest);
  /// Null if the code did not come to that.
  ResidualPtr take() { return std::move(ended_); }

 private:
  std::shared_ptr<Residual> made_ = std::make_shared<Residual>();
  ResidualPtr ended_;
};

/// Those of a program's entries, for the scalars that came last.
class Residuals {
 public:
  static constexpr size_t kKept = 4;  // of an entry

  struct Found {
    ResidualPtr residual;  // may be null
    bool again = false;    // the entry's last call was the same, so that it is worth recording
  };
  /// For a call that begins with these scalars; `tuning` may be null.
  Found look(const program::Code& code, const std::vector<PrimValue>& scalars,
             const std::shared_ptr<const Tuning>& tuning);
  void keep(const program::Code& code, std::vector<PrimValue> scalars,
            std::shared_ptr<const Tuning> tuning, ResidualPtr residual);

 private:
  struct Known {
    std::vector<PrimValue> scalars;
    std::shared_ptr<const Tuning> tuning;
    ResidualPtr residual;
    bool is(const std::vector<PrimValue>& s, const std::shared_ptr<const Tuning>& t) const {
      return tuning == t && scalars == s;
    }
  };
  struct OfEntry {
    Known last;  // without a residual
    std::vector<Known> kept;
    size_t next = 0;  // to be replaced, once there are kKept
  };
  std::unordered_map<const program::Code*, OfEntry> entries_;
};

}  // namespace kenaz::host
