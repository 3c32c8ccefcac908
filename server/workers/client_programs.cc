#include "server/workers/client_programs.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "protocol/base/whole_number.h"
#include "protocol/command.h"
#include "server/cache/program_cache.h"
#include "server/workers/process_memory.h"

namespace kenaz {
namespace {

constexpr int64_t kSpareMemory = int64_t{512} << 20;  // drivers, and the compilers in them
constexpr size_t kMostAnswer = size_t{8} << 20;
constexpr double kGrace = 10;  // seconds, beyond what a process should keep itself

/// An answer: a line `ok BYTES` or `error KIND BYTES`, and so many bytes.
Result<std::string> answer(Conversation& process) {
  KENAZ_ASSIGN(const std::string line, process.line());
  const auto words = protocol::split_line(line);
  const bool good = words.size() == 2 && words[0] == "ok";
  const bool failed = words.size() == 3 && words[0] == "error";
  const auto bytes = good || failed ? whole_number<size_t>(words.back()) : std::nullopt;
  if (!bytes || *bytes > kMostAnswer) return process.broken("it said what it must not");
  KENAZ_ASSIGN(std::string body, process.read_all(*bytes));
  if (good) return body;
  return fail(words[1] == "compile" ? ErrorKind::kCompile : ErrorKind::kBadRequest,
              std::move(body));
}

}  // namespace

ClientPrograms::ClientPrograms(Limits limits, std::vector<std::string> command,
                               std::shared_ptr<ClientMemory> memory)
    : limits_(limits),
      memory_(std::move(memory)),
      workers_({std::move(command), limits.memory, kSpareMemory}) {}

Result<std::shared_ptr<void>> ClientPrograms::take_place(const std::string& client) {
  const int most_of_one =
      limits_.most_of_one > 0 ? limits_.most_of_one : std::max(limits_.most - 1, 1);
  const std::lock_guard lock(counts_->mutex);
  if (counts_->all >= limits_.most) {
    return fail(ErrorKind::kOutOfMemory,
                fmt::format("The server has {} programs of its clients; more are not allowed "
                            "(--max-loaded).",
                            limits_.most));
  }
  if (const auto own = counts_->of.find(client);
      !client.empty() && own != counts_->of.end() && own->second >= most_of_one) {
    return fail(ErrorKind::kOutOfMemory,
                fmt::format("The server has {} programs of yours; more are not allowed "
                            "(--max-loaded-each).",
                            own->second));
  }
  ++counts_->of[client];
  ++counts_->all;
  return std::shared_ptr<void>(nullptr, [counts = counts_, client](void*) {
    const std::lock_guard at_end(counts->mutex);
    --counts->all;
    const auto own = counts->of.find(client);
    if (--own->second == 0) counts->of.erase(own);
  });
}

void ClientPrograms::Attempt::cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  if (process_ != nullptr) process_->kill("nobody waits for it any more");
}

/// What the process says of the program; see read_signature.
Result<std::string> ClientPrograms::describe(Conversation& process,
                                             const std::string& sources) const {
  // It starts a driver first, on a machine that may be busy.
  constexpr double kStart = 120;
  process.set_time(kStart);
  if (const auto ready = answer(process); !ready) {
    spdlog::warn("a process for a program of a client cannot be used: {}", ready.error().text());
    return ready;
  }
  process.set_time(limits_.load_seconds);
  KENAZ_TRY(process.send(fmt::format("{}\n", sources.size())));
  KENAZ_TRY(process.send(sources));
  KENAZ_TRY(process.flush());
  auto description = answer(process);
  if (description) KENAZ_TRY(process.reply());  // with which every conversation begins
  return description;
}

Result<ClientProgramPtr> ClientPrograms::load(const std::string& name, const std::string& sources,
                                              const For& whom, Attempt& attempt) {
  KENAZ_ASSIGN(auto place, take_place(whom.client));
  KENAZ_ASSIGN(auto worker, workers_.start(whom.device));
  auto process = std::make_unique<Conversation>(std::move(worker), name);
  {
    const std::lock_guard lock(attempt.mutex_);
    if (attempt.cancelled_) return bad_request("Nobody waits for the program any more.");
    attempt.process_ = process.get();
  }
  const auto described = describe(*process, sources);
  {
    const std::lock_guard lock(attempt.mutex_);
    attempt.process_ = nullptr;
  }
  if (!described) return tl::make_unexpected(described.error());
  constexpr int64_t kPerByte = 8, kBuffers = int64_t{256} << 10;  // tables take more than text
  MemoryShare share(memory_, ClientMemory::Use::kKept);
  if (!share.set(static_cast<int64_t>(described->size()) * kPerByte + kBuffers))
    return no_client_memory();
  KENAZ_ASSIGN(Signature signature, read_signature(*described));
  const std::string version = fmt::format("{:016x}", cache::hash_text(sources));
  // No program of the server's has such a name: values of opaque types stay apart.
  auto types = std::make_shared<const ProgramTypes>(
      ProgramTypes{fmt::format("\"{}\", loaded, version {}", name, version), signature.types});
  auto use = begin_use(name, *process);
  return std::make_shared<ClientProgram>(
      ClientProgram{name, version, std::move(types), std::move(signature), std::move(process),
                    std::move(share), std::move(place), std::move(use)});
}

// ---- figures

LoadedFigures ClientProgramUse::figures() const {
  // Another process may have the number of one that has ended.
  const int64_t memory =
      process_->has_ended() ? 0 : process_memory(std::to_string(process_->pid())).resident;
  return {number_, name_, calls_, failures_, static_cast<double>(nanoseconds_) / 1e9, memory};
}

std::shared_ptr<ClientProgramUse> ClientPrograms::begin_use(const std::string& name,
                                                            const Conversation& process) {
  const std::lock_guard lock(uses_mutex_);
  std::erase_if(uses_, [](const auto& use) { return use.expired(); });
  auto use = std::make_shared<ClientProgramUse>(++loaded_, name, process.process());
  uses_.push_back(use);
  return use;
}

std::vector<LoadedFigures> ClientPrograms::figures() const {
  const std::lock_guard lock(uses_mutex_);
  std::vector<LoadedFigures> all;
  for (const auto& known : uses_) {
    if (const auto use = known.lock()) all.push_back(use->figures());
  }
  return all;
}

double ClientPrograms::patience() const {
  if (limits_.call_seconds == 0) return 0;
  return limits_.call_seconds + limits_.load_seconds + kGrace;
}

}  // namespace kenaz
