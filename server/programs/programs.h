// The programs that a server has, by name, each with the engine that runs it. All are on one
// device, so values of one may be used with the others.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server/host/engine.h"
#include "server/programs/program_limits.h"
#include "server/variables/types.h"

namespace kenaz {

/// A program as it was when it was loaded. What loads it anew makes another one of that name.
struct LoadedProgram {
  std::string name;
  std::string path;     // for people
  std::string version;  // the same for the same sources; "" if it has none
  std::shared_ptr<host::Engine> engine;
  std::shared_ptr<const host::Tuning> tuning;  // values to begin with; null: none
  TypesPtr types;                              // the engine's
  std::shared_ptr<ProgramUse> use = nullptr;   // null: there are no limits of its own
};
using ProgramPtr = std::shared_ptr<const LoadedProgram>;

/// Of an engine that has been made ready, whose tuning is that to begin with.
LoadedProgram loaded_program(std::string name, std::string path, std::string version,
                             std::unique_ptr<host::Engine> engine);

/// By any thread, unless it says otherwise. A program that is replaced or removed is kept as long
/// as somebody has it.
class Programs {
 public:
  /// Serves the program from now on, in place of the one of that name if there is one.
  void put(LoadedProgram program);
  /// Serves it no more. The last one stays: false.
  bool remove(const std::string& name);

  /// Null: there is none of that name.
  ProgramPtr find(const std::string& name) const;
  /// One of those that there are. There must be one.
  ProgramPtr any() const;
  /// In the order of their names.
  std::vector<ProgramPtr> all() const;

  /// The program of sessions that choose none: that of this name, or the first by name.
  void set_preferred(std::string name);
  std::string preferred() const;

  /// On the engines' thread, now and then: frees programs that were replaced or removed and that
  /// nobody has any more.
  void free_unused();
  /// Whether there are any that free_unused() may have to free.
  bool free_later() const;

  /// Ends the calls that run now, soon.
  void cancel();
  /// Of the device that all are on.
  device::MemoryStats memory() const;
  /// A number for Engine::set_owner that nobody has yet.
  uint64_t new_owner() { return ++owners_; }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, ProgramPtr> by_name_;
  std::list<ProgramPtr> former_;  // not served any more, perhaps in use
  std::string preferred_;
  std::atomic<uint64_t> owners_ = 0;
};

/// For a server of one program, which never changes.
std::shared_ptr<Programs> only_program(std::shared_ptr<host::Engine> engine);

}  // namespace kenaz
