#include "server/programs/program_limits.h"

#include <fmt/format.h>

namespace kenaz {

namespace {

tl::unexpected<Error> too_many(const std::string& name, int most, const char* things,
                               const char* limit) {
  return fail(ErrorKind::kOutOfMemory,
              fmt::format("The program {} has {} {}; more are not allowed (--program-limit {}.{}).",
                          name, most, things, name, limit));
}

}  // namespace

Result<ProgramUse::Place> ProgramUse::take(const std::shared_ptr<ProgramUse>& use, int most,
                                           int ProgramUse::*count, const char* things,
                                           const char* limit) {
  const std::lock_guard lock(use->mutex_);
  if (most > 0 && (*use).*count >= most) return too_many(use->name_, most, things, limit);
  ++((*use).*count);
  return Place(use.get(), [use, count](void*) {
    const std::lock_guard at_end(use->mutex_);
    --((*use).*count);
  });
}

Result<ProgramUse::Place> ProgramUse::begin_call(const std::shared_ptr<ProgramUse>& use) {
  return take(use, use->limits_.calls, &ProgramUse::calls_, "calls that wait or run", "calls");
}

Result<ProgramUse::Place> ProgramUse::begin_session(const std::shared_ptr<ProgramUse>& use) {
  return take(use, use->limits_.sessions, &ProgramUse::sessions_, "sessions that have chosen it",
              "sessions");
}

}  // namespace kenaz
