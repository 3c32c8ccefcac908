#include "server/programs/programs.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "protocol/base/check.h"

namespace kenaz {

LoadedProgram loaded_program(std::string name, std::string path, std::string version,
                             std::unique_ptr<host::Engine> engine) {
  auto tuning = engine->tuning();
  auto types = std::make_shared<const ProgramTypes>(ProgramTypes{name, engine->types()});
  return {std::move(name),   std::move(path),   std::move(version),
          std::move(engine), std::move(tuning), std::move(types)};
}

void Programs::put(LoadedProgram program) {
  const std::lock_guard lock(mutex_);
  ProgramPtr& place = by_name_[program.name];
  // One table for all versions that have the same types, however many of their values are kept.
  if (place && same_types(*place->types, *program.types)) program.types = place->types;
  auto next = std::make_shared<const LoadedProgram>(std::move(program));
  if (place) former_.push_back(place);
  place = std::move(next);
}

bool Programs::remove(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto it = by_name_.find(name);
  CHECK(it != by_name_.end());
  if (by_name_.size() == 1) return false;
  former_.push_back(it->second);
  by_name_.erase(it);
  return true;
}

ProgramPtr Programs::find(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : it->second;
}

ProgramPtr Programs::any() const {
  const std::lock_guard lock(mutex_);
  CHECK(!by_name_.empty());
  return by_name_.begin()->second;
}

std::vector<ProgramPtr> Programs::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<ProgramPtr> programs;
  for (const auto& [name, program] : by_name_) programs.push_back(program);
  return programs;
}

void Programs::set_preferred(std::string name) {
  const std::lock_guard lock(mutex_);
  preferred_ = std::move(name);
}

std::string Programs::preferred() const {
  const std::lock_guard lock(mutex_);
  if (by_name_.contains(preferred_) || by_name_.empty()) return preferred_;
  return by_name_.begin()->first;
}

void Programs::free_unused() {
  std::list<ProgramPtr> unused;  // go without the lock: what an engine holds may be much
  const std::lock_guard lock(mutex_);
  // Whoever had one has let go of it before the count is seen to be 1, and nobody can take another
  // reference: they are not in by_name_.
  for (auto it = former_.begin(); it != former_.end();) {
    const auto at = it++;
    if (at->use_count() == 1 && (*at)->engine->may_go()) unused.splice(unused.end(), former_, at);
  }
}

device::MemoryStats Programs::memory() const {
  const std::lock_guard lock(mutex_);
  // After a loss of the device an engine knows of the next one when it is used again.
  for (const auto& [name, program] : by_name_) {
    const device::MemoryStats memory = program->engine->memory();
    if (memory.peak > 0) return memory;
  }
  return {};
}

bool Programs::free_later() const {
  const std::lock_guard lock(mutex_);
  return !former_.empty();
}

void Programs::cancel() {
  std::vector<ProgramPtr> programs = all();
  {
    const std::lock_guard lock(mutex_);
    programs.insert(programs.end(), former_.begin(), former_.end());
  }
  for (const auto& program : programs) program->engine->cancel();
}

std::shared_ptr<Programs> only_program(std::shared_ptr<host::Engine> engine) {
  auto programs = std::make_shared<Programs>();
  auto types = std::make_shared<const ProgramTypes>(ProgramTypes{"", engine->types()});
  programs->put({"", "", "", std::move(engine), nullptr, std::move(types)});
  return programs;
}

}  // namespace kenaz
