#include "server/session/client_engine.h"

#include <fmt/format.h>

#include <utility>

#include "protocol/base/whole_number.h"
#include "protocol/command.h"
#include "server/host/forwarding_engine.h"
#include "server/session/leaf_checks.h"
#include "server/session/stream.h"

namespace kenaz {
namespace {

using host::LeafPtr;
using Leaves = std::vector<LeafPtr>;

class ClientEngine : public host::ForwardingEngine {
 public:
  ClientEngine(std::shared_ptr<host::Engine> values, std::shared_ptr<const ClientPrograms> all,
               ClientProgramPtr program, StepAside step_aside)
      : ForwardingEngine(std::move(values)),
        all_(std::move(all)),
        program_(std::move(program)),
        step_aside_(std::move(step_aside)) {}

  const TypeTable& types() const override { return program_->types->table; }
  const std::vector<host::EntrySignature>& entries() const override {
    return program_->signature.entries;
  }
  const std::vector<program::TuningParam>& tuning_params() const override {
    return program_->signature.tuning;
  }
  void cancel() override { program_->process->cancel(); }

  Result<Leaves> call(const std::string& entry, std::span<const LeafPtr> args) override;

 private:
  Conversation& process() const { return *program_->process; }
  /// Others have the engines' thread meanwhile.
  template <class T>
  T wait_for(const std::function<T()>& what) const {
    std::optional<T> outcome;
    const auto wait = [&] { outcome.emplace(what()); };
    if (step_aside_) {
      step_aside_(wait);
    } else {
      wait();
    }
    return std::move(*outcome);
  }

  Result<Leaves> carry_out(const host::EntrySignature& entry, std::span<const LeafPtr> args);
  Status send_tuning();
  Status send_arguments(const host::EntrySignature& entry, std::span<const LeafPtr> args);
  Status send_call(const host::EntrySignature& entry);
  Result<Leaves> receive(const std::string& type);
  Status run(Upload& upload);
  /// Of a command; fails as that did.
  Status expect_done();

  const std::shared_ptr<const ClientPrograms> all_;
  const ClientProgramPtr program_;
  const StepAside step_aside_;
};

std::string word(const std::string& text) { return fmt::format("\"{}\"", text); }

// The process knows arguments as a0, a1, .. and the result as r.

Result<Leaves> ClientEngine::call(const std::string& entry, std::span<const LeafPtr> args) {
  for (const auto& known : entries()) {
    if (known.name != entry) continue;
    process().begin_call(all_->patience());
    auto result = carry_out(known, args);
    const auto ended = wait_for<Status>([&] { return process().end_call(); });
    if (result) KENAZ_TRY(ended);
    return result;
  }
  return bad_request("Unknown entry point: " + entry);
}

Result<Leaves> ClientEngine::carry_out(const host::EntrySignature& entry,
                                       std::span<const LeafPtr> args) {
  KENAZ_TRY(send_tuning());
  KENAZ_TRY(send_arguments(entry, args));
  KENAZ_TRY(send_call(entry));
  // In the order of what was sent. Whatever failed first is the reason, and all replies are read.
  const size_t before = (tuning() ? tuning()->size() : 0) + (entry.params.empty() ? 0 : 1) + 1;
  Status first = wait_for<Status>([&]() -> Status {
    KENAZ_TRY(process().flush());
    Status all;
    for (size_t i = 0; i < before; ++i) {
      const Status done = expect_done();
      if (all && !done) all = done;
    }
    return all;
  });
  if (process().is_over()) return tl::make_unexpected(first.error());
  auto result = receive(entry.result);
  const Status discarded = wait_for<Status>([&] { return expect_done(); });
  KENAZ_TRY(first);
  if (result) KENAZ_TRY(discarded);
  return result;
}

Status ClientEngine::expect_done() {
  KENAZ_ASSIGN(const protocol::Reply reply, process().reply());
  if (!reply.failure) return {};
  return fail(ErrorKind::kProgramFailure, *reply.failure);
}

Status ClientEngine::send_tuning() {
  if (!tuning()) return {};
  for (const auto& [param, value] : *tuning()) {
    KENAZ_TRY(process().send(fmt::format("set_tuning_param {} {}\n", word(param), value)));
  }
  return {};
}

Status ClientEngine::send_arguments(const host::EntrySignature& entry,
                                    std::span<const LeafPtr> args) {
  if (entry.params.empty()) return {};
  Download values(shared(), {args.begin(), args.end()}, nullptr);
  std::string line;
  int64_t total = 0;
  for (const auto& leaf : args) {
    total += static_cast<int64_t>(data::binary_header(leaf->prim, leaf->shape).size());
    total += leaf->bytes();
  }
  line = fmt::format("upload {}", total);
  for (size_t i = 0; i < entry.params.size(); ++i) {
    line += fmt::format(" a{} {}", i, word(entry.params[i].type));
  }
  KENAZ_TRY(process().send(line + "\n"));
  // What a client would get begins with a line that says how many bytes follow.
  size_t skipped = std::to_string(total).size() + 1;
  while (values.want() != Stream::Want::kDone) {
    if (values.want() == Stream::Want::kWork) {
      values.work();
      continue;
    }
    const auto bytes = values.output().subspan(skipped);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    KENAZ_TRY(wait_for<Status>([&] { return process().send(text); }));
    values.advance(bytes.size() + std::exchange(skipped, 0));
  }
  Variables none({}, nullptr);
  const Status sent = values.finish(none);
  // It waits for bytes that there are not.
  if (!sent) process().kill("its arguments could not be read");
  return sent;
}

Status ClientEngine::send_call(const host::EntrySignature& entry) {
  std::string names;
  for (size_t i = 0; i < entry.params.size(); ++i) names += fmt::format(" a{}", i);
  return process().send(
      fmt::format("call {} r{}\ndownload r\ndiscard r{}\n", word(entry.name), names, names));
}

Result<Leaves> ClientEngine::receive(const std::string& type) {
  const auto line = wait_for<Result<std::string>>([&] { return process().line(); });
  KENAZ_TRY(line);
  if (*line == protocol::kFailure) {
    KENAZ_TRY(wait_for<Status>([&]() -> Status {
      KENAZ_TRY(process().reply());
      return {};
    }));
    return fail(ErrorKind::kProgramFailure, "The program's process has no result.");
  }
  const auto bytes = whole_number<int64_t>(*line);
  // It cannot have had more in its memory.
  const int64_t most = all_->most_bytes();
  if (!bytes || *bytes < 0 || (most > 0 && *bytes > most)) {
    return process().broken("it said what it must not");
  }
  const ValueType& wanted = types().at(type);
  std::vector<Upload::Target> targets;
  targets.push_back({"r", &wanted, constructor_counts(types(), wanted), program_->types});
  Upload upload(shared(), std::move(targets), *bytes, -1, nullptr, all_->memory(), std::nullopt);
  KENAZ_TRY(run(upload));
  Variables results({}, nullptr);
  const Status good = upload.finish(results);
  // Such a value is none of the type's, or there is no memory for it.
  if (!good && good.error().kind == ErrorKind::kBadRequest) {
    return process().broken("its result is no value of the type " + type);
  }
  KENAZ_TRY(wait_for<Status>([&] { return expect_done(); }));
  KENAZ_TRY(good);
  KENAZ_ASSIGN(const Variable* result, results.find("r"));
  return result->leaves;
}

Status ClientEngine::run(Upload& upload) {
  while (upload.want() != Stream::Want::kDone) {
    if (upload.want() == Stream::Want::kWork) {
      upload.work();
      continue;
    }
    const std::span<std::byte> to = upload.input();
    const auto read = [&] { return process().read_some(to); };
    const auto n = process().are_there() ? read() : wait_for<Result<size_t>>(read);
    KENAZ_TRY(n);
    upload.advance(*n);
  }
  return {};
}

}  // namespace

std::shared_ptr<host::Engine> make_client_engine(std::shared_ptr<host::Engine> values,
                                                 std::shared_ptr<const ClientPrograms> all,
                                                 ClientProgramPtr program,
                                                 host::Engine::StepAside step_aside) {
  return std::make_shared<ClientEngine>(std::move(values), std::move(all), std::move(program),
                                        std::move(step_aside));
}

}  // namespace kenaz
