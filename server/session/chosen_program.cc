#include "server/session/chosen_program.h"

#include <fmt/format.h>

#include <utility>

namespace kenaz {

Status ChosenProgram::choose(const std::string& name) {
  if (!programs_->find(name)) {
    return bad_request(
        fmt::format("Unknown program: {}\nThe command `programs` lists them.", name));
  }
  name_ = name;
  return {};
}

void ChosenProgram::begin() {
  program_ = programs_->find(name_);
  served_ = program_ != nullptr;
  if (!served_) program_ = programs_->any();
  path_ = program_->path;
  // With the engine the program is kept, so both go where programs do (see Programs::free_unused).
  std::shared_ptr<host::Engine> kept(program_, program_->engine.get());
  auto engine = host::engine_for_session(std::move(kept), owner_);
  engine->set_tuning(tuning());
  const std::lock_guard lock(mutex_);
  engine_ = std::move(engine);
}

void ChosenProgram::end() {
  std::unique_lock lock(mutex_);
  const auto engine = std::exchange(engine_, nullptr);
  lock.unlock();
  program_.reset();
}

Status ChosenProgram::served() const {
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
  const auto chosen = served_ ? chosen_tuning_.find(name_) : chosen_tuning_.end();
  if (chosen == chosen_tuning_.end()) return program_->tuning;
  const bool same = !tuning_of_.owner_before(program_) && !program_.owner_before(tuning_of_);
  if (same && tuning_) return tuning_;
  host::Tuning all = program_->tuning ? *program_->tuning : host::Tuning();
  for (const auto& [param, value] : chosen->second) all[param] = value;
  tuning_ = std::make_shared<const host::Tuning>(std::move(all));
  tuning_of_ = program_;
  return tuning_;
}

}  // namespace kenaz
