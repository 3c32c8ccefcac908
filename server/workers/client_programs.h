// Programs that clients load. Nobody trusts them, so each runs in a process of its own, which has
// no files, no network and so much memory; what it says is checked like what a client says.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server/client_memory.h"
#include "server/metrics/metrics.h"
#include "server/workers/conversation.h"
#include "server/workers/signature.h"

namespace kenaz {

/// What one that was loaded has done. All functions may be called by any thread.
class ClientProgramUse {
 public:
  ClientProgramUse(int64_t number, std::string name, std::shared_ptr<WorkerProcess> process)
      : number_(number), name_(std::move(name)), process_(std::move(process)) {}

  void called(double seconds, bool failed) {
    ++calls_;
    if (failed) ++failures_;
    nanoseconds_ += static_cast<int64_t>(seconds * 1e9);
  }
  LoadedFigures figures() const;

 private:
  const int64_t number_;
  const std::string name_;
  const std::shared_ptr<WorkerProcess> process_;
  std::atomic<int64_t> calls_{0}, failures_{0}, nanoseconds_{0};
};

/// One that was loaded; its process ends with it.
struct ClientProgram {
  std::string name;
  std::string version;  // the same for the same sources
  TypesPtr types;
  Signature signature;
  std::unique_ptr<Conversation> process;
  MemoryShare share;  // what is kept of it here
  std::shared_ptr<void> place;
  std::shared_ptr<ClientProgramUse> use;
};
using ClientProgramPtr = std::shared_ptr<ClientProgram>;

class ClientPrograms {
 public:
  struct Limits {
    int most = 0;             // programs at a time
    int most_of_one = 0;      // .. of one client; 0: all but one
    int64_t memory = 0;       // bytes of each; 0: any
    double load_seconds = 0;  // for its compilation; 0: any
    double call_seconds = 0;  // for a call; 0: any
  };
  static constexpr int64_t kMostSource = int64_t{4} << 20;  // bytes

  /// `command`: what this process was started with. `memory` may be null.
  ClientPrograms(Limits limits, std::vector<std::string> command,
                 std::shared_ptr<ClientMemory> memory);

  /// While it is loaded; by any thread.
  class Attempt {
   public:
    void cancel();

   private:
    friend class ClientPrograms;
    std::mutex mutex_;
    Conversation* process_ = nullptr;
    bool cancelled_ = false;
  };
  struct For {
    std::string client;  // the same for all sessions of a client; empty: of the only one
    std::string device;  // as --device has it; empty: the one of the server's command line
  };
  /// Starts a process, which compiles the program, and waits for that. Fails if there are too many,
  /// and with kind kCompile and the compiler's text, whole, if the program has errors.
  Result<ClientProgramPtr> load(const std::string& name, const std::string& sources,
                                const For& whom, Attempt& attempt);

  /// Seconds after which a process that runs a call is given up; 0: any. It ends its calls itself
  /// before, and what it compiles for a first call does not count there.
  double patience() const;
  int64_t most_bytes() const { return limits_.memory; }
  const std::shared_ptr<ClientMemory>& memory() const { return memory_; }  // may be null

  /// Of all that are loaded, by their numbers. By any thread.
  std::vector<LoadedFigures> figures() const;

  /// By any thread: ends all processes, and with them what is waited for.
  void end_all() { workers_.end_all("the server ends"); }

 private:
  /// For one more program, until nobody has it. Fails if there are too many, or too many of the
  /// client's.
  Result<std::shared_ptr<void>> take_place(const std::string& client);
  Result<std::string> describe(Conversation& process, const std::string& sources) const;

  const Limits limits_;
  const std::shared_ptr<ClientMemory> memory_;
  /// How many programs there are.
  struct Counts {
    std::mutex mutex;  // for these:
    int all = 0;
    std::map<std::string, int> of;  // by client, where there are any
  };
  const std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
  std::shared_ptr<ClientProgramUse> begin_use(const std::string& name, const Conversation& process);
  mutable std::mutex uses_mutex_;  // for these:
  std::vector<std::weak_ptr<ClientProgramUse>> uses_;
  int64_t loaded_ = 0;  // so far
  Workers workers_;
};

}  // namespace kenaz
