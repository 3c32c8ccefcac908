#include <gtest/gtest.h>

#include "server/session/session.h"
#include "server/testdata/echo_engine.h"
#include "server/testdata/streams.h"

namespace kenaz {
namespace {

/// Its calls have run two kernels, one of which the program does not have itself.
class TimedEngine : public EchoEngine {
 public:
  std::vector<device::KernelTime> kernel_times() const override {
    const auto label = [](const char* name, const char* place, device::KernelCode code) {
      return std::make_shared<const device::KernelLabel>(device::KernelLabel{name, place, code});
    };
    return {{nullptr, 10, 9.5, {}},
            {label("map", "-> #0  /prelude/soacs.fut:1:2-3\n   #1  a.fut:4:5-6\n   #2  a.fut:9:1-2",
                   {168, 48}),
             11,
             4,
             {300, 100}},
            {label("copy", "", {}), 16, 3, {0, 7}}};
  }
};

TEST(SessionProfiling, ReportsKernelsWithTheirPlacesAndBytes) {
  SessionOptions options;
  options.profile = true;
  Session session(std::make_shared<TimedEngine>(), options);
  ASSERT_EQ(upload(session, "a []i32", binary("[1]"), 100), "");
  session.execute("pause_profiling");
  ASSERT_FALSE(session.execute("call id b a").failure);
  session.execute("unpause_profiling");
  ASSERT_FALSE(session.execute("call id c a").failure);
  const std::string report = session.execute("report").output.at(0);
  const size_t second = report.find("},{");
  EXPECT_EQ(report.substr(0, 12), R"({"events":[{)");
  EXPECT_NE(report.find(R"("name":"call id")"), std::string::npos);
  EXPECT_EQ(report.substr(second),
            R"(},{"details":{"begin":10.000},"duration":9.5,"name":"device","provenance":""},)"
            R"({"details":{"begin":11.000,"bytes_read":300,"bytes_written":100,)"
            R"("registers":168,"spilled_bytes":48},"duration":4,)"
            R"("name":"map","provenance":"a.fut:4:5-6"},)"
            R"({"details":{"begin":16.000,"bytes_read":0,"bytes_written":7},"duration":3,)"
            R"("name":"copy","provenance":""}],"memory":{"space 'device'":0}})");
}

/// Has nothing to do with the device before it is used, as after a loss.
class IdleEngine : public EchoEngine {
 public:
  device::MemoryStats memory() const override { return {}; }
};
class BusyEngine : public EchoEngine {
 public:
  device::MemoryStats memory() const override { return {3, 0, 9}; }
};

TEST(SessionProfiling, ReportsTheMemoryOfTheDeviceWhicheverProgramIsChosen) {
  auto programs = std::make_shared<Programs>();
  programs->put(loaded_program("idle", "", "", std::make_unique<IdleEngine>()));
  programs->put(loaded_program("used", "", "", std::make_unique<BusyEngine>()));
  Session session(programs, SessionOptions{});
  EXPECT_EQ(session.execute("report").output.at(0),
            R"({"events":[],"memory":{"space 'device'":9}})");
}

}  // namespace
}  // namespace kenaz
