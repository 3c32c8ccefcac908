// A whole session: lines and data as a client sends them. Every command is answered; one that fails
// leaves the variables as they were.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "protocol/base/check.h"
#include "server/session/session.h"
#include "server/testdata/echo_engine.h"

using namespace kenaz;

namespace {

using Snapshot = std::map<std::string, std::vector<const host::Leaf*>>;

Snapshot snapshot(const Session& session) {
  Snapshot all;
  for (const auto& [name, variable] : session.variables().all()) {
    for (const auto& leaf : variable.leaves) all[name].push_back(leaf.get());
  }
  return all;
}

class Client {
 public:
  explicit Client(std::string_view bytes) : rest_(bytes) {}

  void run(Session& session) {
    while (!rest_.empty()) {
      const size_t end = std::min(rest_.find('\n'), rest_.size());
      const std::string_view line = rest_.substr(0, end);
      rest_.remove_prefix(std::min(rest_.size(), end + 1));
      if (!command(session, line)) return;
    }
  }

 private:
  bool command(Session& session, std::string_view line) {
    const auto request = protocol::parse_request(line);
    const auto before = snapshot(session);
    if (!request || request->command->where != protocol::Where::kStream) {
      const auto reply = request ? session.execute(*request) : session.execute(line);
      // These two do part of what they are asked for, as the protocol says.
      const bool partial = request && (request->command->id == protocol::CommandId::kRestore ||
                                       request->command->id == protocol::CommandId::kFree);
      CHECK(!reply.failure || !reply.failure->empty());
      CHECK(!reply.failure || partial || snapshot(session) == before);
      return true;
    }
    const auto stream = session.begin(*request);
    if (!stream) return request->command->reply == protocol::ReplyForm::kData;
    if (!pass_data(**stream)) return false;
    const auto reply = session.end(**stream);
    CHECK(!reply.failure || snapshot(session) == before);
    return true;
  }

  /// False if the data ends early.
  bool pass_data(Stream& stream) {
    while (true) {
      switch (stream.want()) {
        case Stream::Want::kDone: return true;
        case Stream::Want::kWork: stream.work(); break;
        case Stream::Want::kAside: stream.aside(); break;
        case Stream::Want::kOutput: {
          CHECK(!stream.output().empty());
          stream.advance((stream.output().size() + 1) / 2);
          break;
        }
        case Stream::Want::kInput: {
          const auto to = stream.input();
          CHECK(!to.empty());
          const size_t n = std::min(to.size(), rest_.size());
          if (n == 0) return false;
          std::copy_n(std::as_bytes(std::span(rest_)).begin(), n, to.begin());
          rest_.remove_prefix(n);
          stream.advance(n);
          break;
        }
      }
    }
  }

  std::string_view rest_;
};

using Engines = std::vector<std::shared_ptr<EchoEngine>>;

/// Programs `a` and `b` on each device. They agree on all types but one.
std::shared_ptr<Programs> two_programs(Engines& engines) {
  auto programs = std::make_shared<Programs>();
  for (const char* name : {"a", "b"}) {
    engines.push_back(std::make_shared<EchoEngine>());
    engines.back()->longest_sleep = 0;
    TypeTable types = engines.back()->types();
    if (*name == 'b') types.at("sum").variants[0].name = "nothing";
    programs->put({name, "", "version", engines.back(), nullptr,
                   std::make_shared<const ProgramTypes>(ProgramTypes{name, std::move(types)})});
  }
  return programs;
}

int living(const Engines& engines) {
  int sum = 0;
  for (const auto& engine : engines) sum += engine->living;
  return sum;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Engines engines[2];
  static const auto pool = [] {
    std::vector<PooledDevice> devices;
    for (Engines& on : engines) devices.push_back({two_programs(on)});
    return std::make_shared<DevicePool>(std::move(devices));
  }();
  {
    SessionOptions options;
    options.limits = {20, 100'000};
    options.max_upload = 1 << 20;
    options.files = FileAccess::none();
    options.profile = size % 2 == 0;
    options.metrics = std::make_shared<Metrics>();
    Session session(pool, options);
    Client({reinterpret_cast<const char*>(data), size}).run(session);
    CHECK(living(engines[1 - session.device()]) == 0);
  }
  for (const Engines& on : engines) CHECK(living(on) == 0);
  for (const auto& device : pool->figures())
    CHECK(device.sessions == 0 && device.calls_at_hand == 0);
  return 0;
}
