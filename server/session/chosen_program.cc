#include "server/session/chosen_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "protocol/base/utf8.h"
#include "server/session/client_engine.h"

namespace kenaz {

namespace {

/// With the engine the program is kept, so both go where programs do (see Programs::free_unused).
std::shared_ptr<host::Engine> engine_of(const ProgramPtr& program, uint64_t owner) {
  return host::engine_for_session({program, program->engine.get()}, owner);
}

}  // namespace

std::shared_ptr<host::Engine> ChosenProgram::engine_for_values(const Placement& placement) {
  return engine_of(placement.programs().any(), placement.owner());
}

Status ChosenProgram::choose(const std::string& name) {
  const ProgramPtr program = loaded_.contains(name) ? nullptr : placement_.programs().find(name);
  if (!program && !loaded_.contains(name)) {
    return bad_request(
        fmt::format("Unknown program: {}\nThe command `programs` lists them.", name));
  }
  if (name == name_ && seat_) return {};
  if (program) {
    KENAZ_TRY(take_seat(program));
  } else {
    seat_.reset();
  }
  name_ = name;
  return {};
}

Status ChosenProgram::take_seat(const ProgramPtr& program) {
  if (program->use) {
    KENAZ_ASSIGN(seat_, ProgramUse::begin_session(program->use));
  } else {
    seat_.reset();
  }
  return {};
}

Status ChosenProgram::begin_call() {
  const ProgramPtr program = loaded_.contains(name_) ? nullptr : placement_.programs().find(name_);
  if (program && program->use) {
    KENAZ_ASSIGN(call_, ProgramUse::begin_call(program->use));
  }
  return {};
}

void ChosenProgram::begin() {
  const auto own = loaded_.find(name_);
  client_ = own == loaded_.end() ? nullptr : own->second;
  program_ = client_ ? nullptr : placement_.programs().find(name_);
  served_ = client_ != nullptr || program_ != nullptr;
  if (!program_) program_ = placement_.programs().any();
  path_ = client_ ? name_ + " (loaded)" : program_->path;
  auto engine = engine_of(program_, placement_.owner());
  if (client_) {
    engine =
        make_client_engine(std::move(engine), clients_, client_, placement_.device().step_aside);
  }
  engine->set_tuning(tuning());
  const std::lock_guard lock(mutex_);
  engine_ = std::move(engine);
}

void ChosenProgram::end() {
  std::unique_lock lock(mutex_);
  const auto engine = std::exchange(engine_, nullptr);
  lock.unlock();
  program_.reset();
  client_.reset();
}

Status ChosenProgram::check_name(const std::string& name) const {
  constexpr size_t kMost = 128;
  const bool is_printable = std::none_of(name.begin(), name.end(), is_control);
  if (name.empty() || name.size() > kMost || !is_utf8(name) || !is_printable) {
    return bad_request("A program's name has 1 to 128 bytes, which can be printed.");
  }
  if (!placement_.programs().find(name)) return {};
  return bad_request(fmt::format("The server itself has a program {}.", name));
}

void ChosenProgram::keep(ClientProgramPtr program) {
  tunings_.chosen.erase(program->name);
  const std::string name = program->name;
  loaded_[name] = std::move(program);
}

std::vector<LoadedFigures> ChosenProgram::loaded_figures() const {
  std::vector<LoadedFigures> all;
  for (const auto& [name, program] : loaded_) all.push_back(program->use->figures());
  return all;
}

Status ChosenProgram::unload(const std::string& name) {
  if (loaded_.erase(name) == 0) {
    return bad_request(fmt::format("No program {} was loaded by this session.", name));
  }
  tunings_.chosen.erase(name);
  return {};
}

Status ChosenProgram::served() {
  if (served_ && !client_ && !seat_) return take_seat(program_);
  if (served_) return {};
  return bad_request(
      fmt::format("The program {} is not served any more.\nThe command `programs` lists those that "
                  "are, and `program NAME` chooses one.",
                  name_));
}

void ChosenProgram::cancel() {
  std::unique_lock lock(mutex_);
  const auto engine = engine_;
  lock.unlock();
  if (engine) engine->cancel();
}

/// Null: no values.
const std::shared_ptr<const host::Tuning>& ChosenProgram::tuning() {
  const auto chosen = served_ ? tunings_.chosen.find(name_) : tunings_.chosen.end();
  static const std::shared_ptr<const host::Tuning> kNone;
  if (chosen == tunings_.chosen.end()) return client_ ? kNone : program_->tuning;
  if (client_) {
    tunings_.now = std::make_shared<const host::Tuning>(chosen->second);
    tunings_.now_is_of.reset();
    return tunings_.now;
  }
  const bool same =
      !tunings_.now_is_of.owner_before(program_) && !program_.owner_before(tunings_.now_is_of);
  if (same && tunings_.now) return tunings_.now;
  host::Tuning all = program_->tuning ? *program_->tuning : host::Tuning();
  for (const auto& [param, value] : chosen->second) all[param] = value;
  tunings_.now = std::make_shared<const host::Tuning>(std::move(all));
  tunings_.now_is_of = program_;
  return tunings_.now;
}

}  // namespace kenaz
