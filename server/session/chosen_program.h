// Which of the server's programs a session's commands are about.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "protocol/base/result.h"
#include "server/programs/device_pool.h"
#include "server/workers/client_programs.h"

namespace kenaz {

/// The program is looked up anew for each command, from begin() to end(), so a command sees one
/// version of it, and the next one may see another. Used by whoever carries out the session's
/// commands.
class ChosenProgram {
 public:
  /// Chooses the preferred program, on the device that has the least to do.
  explicit ChosenProgram(const std::shared_ptr<DevicePool>& pool,
                         std::shared_ptr<ClientPrograms> clients = nullptr)
      : placement_(pool, pool->least_loaded()),
        clients_(std::move(clients)),
        name_(placement_.programs().preferred()) {}

  /// For the next commands. Fails if there is none of that name, or as many sessions have chosen it
  /// as may.
  Status choose(const std::string& name);

  // ---- programs that the session itself has loaded, which nobody else sees
  using Loaded = std::map<std::string, ClientProgramPtr>;
  const Loaded& loaded() const { return loaded_; }
  /// By their names.
  std::vector<LoadedFigures> loaded_figures() const;
  /// Fails if a program cannot have this name here.
  Status check_name(const std::string& name) const;
  /// In place of one of that name, if there is one.
  void keep(ClientProgramPtr program);
  /// Fails if there is none of that name.
  Status unload(const std::string& name);

  /// If the program is not served any more, another one's engine is there for values.
  void begin();
  void end();

  // ---- between begin() and end()
  /// Fails if the program is not served any more, or if as many sessions use it as may: until it is
  /// asked for the first time, who has chosen none does not count.
  Status served();
  /// As the session sees it: see host::engine_for_session. Whoever keeps it keeps the program.
  const std::shared_ptr<host::Engine>& engine() const { return engine_; }
  const TypesPtr& types() const { return client_ ? client_->types : program_->types; }
  bool is_loaded() const { return client_ != nullptr; }
  /// The chosen program, which is loaded, has carried out a call.
  void loaded_called(double seconds, bool failed) const { client_->use->called(seconds, failed); }
  /// A value of a tuning parameter, for this program's calls from the next command on.
  void tune(const std::string& param, int64_t value) {
    tunings_.chosen[name_][param] = value;
    tunings_.now.reset();
  }

  // ---- at any time
  /// Those of the device that the session is on.
  const Programs& all() const { return placement_.programs(); }
  const Placement& placement() const { return placement_; }
  Placement& placement() { return placement_; }
  /// From the next command on the session is there. Its values must be there too.
  void move_to(Placement placement) { placement_ = std::move(placement); }
  /// An engine for the values of a session that is placed like this.
  static std::shared_ptr<host::Engine> engine_for_values(const Placement& placement);
  const std::string& name() const { return name_; }
  /// A call is at hand, on its way or running, until it has ended. Fails if the program has as many
  /// as it may.
  Status begin_call();
  void end_call() { call_.reset(); }
  /// Of the program that the last command was about.
  const std::string& path() const { return path_; }
  /// By any thread: ends the call that runs now, if any.
  void cancel();

 private:
  const std::shared_ptr<const host::Tuning>& tuning();
  /// The session counts for the program from now on. Fails if there are too many.
  Status take_seat(const ProgramPtr& program);

  Placement placement_;
  const std::shared_ptr<ClientPrograms> clients_;  // null: none can be loaded
  std::string name_, path_;
  bool served_ = false;
  ProgramUse::Place seat_, call_;  // null: they are not counted
  Loaded loaded_;
  ProgramPtr program_;                    // null: no command is carried out
  ClientProgramPtr client_;               // chosen; null: one of the server's
  std::mutex mutex_;                      // for engine_, as far as cancel() looks at it
  std::shared_ptr<host::Engine> engine_;  // null as well
  struct {
    std::map<std::string, host::Tuning> chosen;    // by program
    std::shared_ptr<const host::Tuning> now;       // with what the program begins with
    std::weak_ptr<const LoadedProgram> now_is_of;  // that program
  } tunings_;
};

}  // namespace kenaz
