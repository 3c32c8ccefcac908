// The programs that a server is to serve, as files: loads them, and again when they change.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "protocol/base/large_stack_thread.h"
#include "server/programs/programs.h"
#include "server/programs/sources.h"

namespace kenaz {

struct ProgramFile {
  std::string name;  // of the program: that of the file, without its ending
  std::string path;
};

/// The files of those paths, in their order, and all programs in the folder (empty: none), by name.
/// Fails if a name is no word of a command, or two have the same.
Result<std::vector<ProgramFile>> program_files(const std::vector<std::string>& paths,
                                               const std::string& folder);

/// A program that no engine runs yet.
struct CompiledProgram {
  std::string version;  // see LoadedProgram
  /// Makes the engine on a device, and computes the program's constants there. On that device's
  /// thread, once for each. Whether a constant that fails makes this fail: a program is served
  /// without it, unless there is a better one.
  enum class Constants { kMayFail, kMustHold };
  std::function<Result<LoadedProgram>(size_t device, Constants)> start;
};

class ProgramFiles {
 public:
  struct What {
    std::vector<std::string> paths;
    std::string folder;  // with more programs; empty: none
  };
  /// Compiles a program out of what it reads, by one thread at a time, with a large stack.
  using Compile = std::function<Result<CompiledProgram>(const ProgramFile&, Sources&)>;
  /// Has a device's thread do something, soon; or never, if the server ends.
  using Post = std::function<void(size_t device, std::function<void()>)>;

  /// For so many devices, at least 1.
  ProgramFiles(What what, Sources::Read read, Compile compile, size_t devices = 1);
  ~ProgramFiles();
  ProgramFiles(const ProgramFiles&) = delete;
  ProgramFiles& operator=(const ProgramFiles&) = delete;

  /// Loads all, before devices have threads of their own. Fails as the first one does that cannot
  /// be loaded. Gives what is on each device: the same programs, of the same versions, unless a
  /// device is lost and cannot be made anew while they are loaded anew; it then goes on with the
  /// old ones, until look() is called.
  Result<std::vector<std::shared_ptr<Programs>>> load();

  /// From now on look() works, after load(), on a thread of this object's; `always`: it looks by
  /// itself, several times a second. What becomes of it is in the log.
  void watch(Post post, bool always);
  /// By any thread: looks, soon, for files that have changed, come or gone. Programs are compiled
  /// beside those that run, which are replaced only by good ones.
  void look();
  /// The same on the calling thread, now, where watch() is not used; `post` does what it is given
  /// at once. Not asked for, it is one of the looks that `always` means.
  void look_now(const Post& post, bool asked);

 private:
  /// A program, and its files as they were when it was compiled last, well or not.
  struct Watched {
    ProgramFile file;
    Sources sources;
    uint64_t changing = 0;  // what the files held at the last look, if it was something new
    bool failed = false;    // on some device nothing runs that was made from these files
    int missed = 0;         // looks at the folder since it went from there
  };

  Watched watched(ProgramFile file) const;
  void run();
  /// False: the server ends.
  bool wait(bool& asked);
  void look_at_all(bool asked);
  void complain_of_folder(const std::string& text, bool asked);
  void look_at_folder(bool asked);
  /// Of a program whose file is not in the folder: whether it is not to be looked at any more.
  bool is_gone(Watched& program, bool asked);
  /// Whether it was compiled again.
  bool look_at(Watched& program, bool asked);
  void reload(Watched& program);
  /// A program on each device; null where there is none. What is dropped is so on its thread.
  using Started = std::vector<std::optional<LoadedProgram>>;
  /// False: the server ends.
  bool start_on_all(const CompiledProgram& compiled, CompiledProgram::Constants constants,
                    const std::shared_ptr<Started>& started, Status& outcome);
  void serve(const std::shared_ptr<Started>& started);
  void drop(const std::shared_ptr<Started>& started);
  /// Has a device's thread do it, and waits. False: the server ends.
  bool on_engine(size_t device, std::function<Status()> body, Status& outcome);
  bool free_later() const;
  void free_unused();
  /// The program on the first device that has it. Null: none has.
  ProgramPtr find(const std::string& name) const;
  /// Whether all devices have it in that version.
  bool has_version(const std::string& name, const std::string& version) const;

  const What what_;
  const Sources::Read read_;
  const Compile compile_;
  struct OnDevice {
    std::shared_ptr<Programs> programs = std::make_shared<Programs>();
    std::shared_ptr<std::atomic<bool>> sweeping = std::make_shared<std::atomic<bool>>(false);
  };
  const std::vector<OnDevice> devices_;
  std::map<std::string, Watched> watched_;  // by name
  std::string folder_error_;                // of the last look at it; empty: there was none
  Post post_;
  bool always_ = false;

  struct Wakeup {
    std::mutex mutex;  // for `asked`
    std::condition_variable_any changed;
    bool asked = false;
    std::stop_source stop;
  };
  Wakeup wakeup_;
  std::optional<LargeStackThread> thread_;
};

}  // namespace kenaz
