#include "server/options.h"

#include <gtest/gtest.h>

#include "server/option_values.h"

namespace kenaz {
namespace {

std::variant<Options, int> parse(std::vector<const char*> args) {
  args.insert(args.begin(), "kenaz-server");
  return parse_options(static_cast<int>(args.size()), args.data());
}

TEST(Options, LongNamesMayBeAbbreviated) {
  const auto parsed = parse({"a.fut", "--ref", "--dev=#1", "--cache", "c", "-L"});
  const auto* o = std::get_if<Options>(&parsed);
  ASSERT_NE(o, nullptr);
  EXPECT_EQ(o->program, "a.fut");
  EXPECT_TRUE(o->reference && o->log && !o->profile);
  EXPECT_EQ(o->device, "#1");
  EXPECT_EQ(o->cache_file, "c");
}

TEST(Options, StagesOfTheReferenceEvaluator) {
  const auto stage = [](std::vector<const char*> args) {
    const auto parsed = parse(std::move(args));
    const auto* o = std::get_if<Options>(&parsed);
    return o ? o->stage : "status " + std::to_string(std::get<int>(parsed));
  };
  EXPECT_EQ(stage({"a.fut", "--reference"}), "lowered");
  EXPECT_EQ(stage({"a.fut", "--reference", "--optimise"}), "soacs");
  EXPECT_EQ(stage({"a.fut", "--reference", "--stage", "seg"}), "seg");
  EXPECT_EQ(stage({"a.fut", "--reference", "--stage", "glsl"}), "status 1");
  EXPECT_EQ(stage({"a.fut", "--stage", "kir"}), "status 1");
  EXPECT_EQ(stage({"a.fut", "--stage", "seg"}), "status 1");
}

TEST(Options, StageKirIsTheInterpreter) {
  const auto parsed =
      parse({"a.fut", "--reference", "--stage", "kir", "--seed", "7", "--subgroup-size", "64",
             "--max-group-size=256", "--shared-memory", "32kib", "--memory-limit", "1gib"});
  const auto* o = std::get_if<Options>(&parsed);
  ASSERT_NE(o, nullptr);
  EXPECT_FALSE(o->reference);
  EXPECT_EQ(o->device, kInterpreter);
  EXPECT_EQ(o->interpreter.seed, 7u);
  EXPECT_EQ(o->interpreter.subgroup_size, 64);
  EXPECT_EQ(o->interpreter.max_group_size, 256);
  EXPECT_EQ(o->interpreter.shared_bytes, 32 << 10);
  EXPECT_EQ(o->interpreter.memory_limit, int64_t{1} << 30);
}

TEST(Options, DevicesThatCannotBeAreRefused) {
  for (const char* size : {"0", "3", "256", "x"}) {
    EXPECT_EQ(std::get<int>(parse({"a.fut", "--subgroup-size", size})), 1) << size;
  }
  EXPECT_EQ(std::get<int>(parse({"a.fut", "--max-group-size", "64"})), 1);
  EXPECT_EQ(std::get<int>(parse({"a.fut", "--shared-memory", "1kib"})), 1);
}

TEST(Options, ValuesMayBeEmpty) {
  for (const auto& words : {std::vector<const char*>{"--program-cache=", "a.fut"},
                            std::vector<const char*>{"--program-cache", "", "a.fut"},
                            std::vector<const char*>{"a.fut", "--program-c="}}) {
    const auto parsed = parse(words);
    ASSERT_TRUE(std::holds_alternative<Options>(parsed)) << words[0];
    EXPECT_EQ(std::get<Options>(parsed).cache_folder, "");
    EXPECT_EQ(std::get<Options>(parsed).program, "a.fut");
  }
}

TEST(Options, BadOnesEndWithStatusOne) {
  EXPECT_EQ(std::get<int>(parse({"a.fut", "--p"})), 1);  // --param, --profile, --print-params
  EXPECT_EQ(std::get<int>(parse({"a.fut", "--nosuch"})), 1);
  EXPECT_EQ(std::get<int>(parse({"a.fut", "b.fut", "--check"})), 1);
  EXPECT_EQ(std::get<int>(parse({"--programs", "a", "--dump", "ir"})), 1);
  EXPECT_EQ(std::get<int>(parse({"a.fut", "--watch"})), 1);
  EXPECT_EQ(std::get<int>(parse({})), 1);
  EXPECT_EQ(std::get<int>(parse({"a.fut", "--dump", "x"})), 1);
  EXPECT_EQ(std::get<int>(parse({"a.fut", "--dump", "glsl", "--pose", "x"})), 1);
  EXPECT_EQ(std::get<int>(parse({"a.fut", "--socket-mode", "0888"})), 1);
  EXPECT_EQ(std::get<int>(parse({"a.fut", "--socket-mode", "1777"})), 1);
  EXPECT_EQ(std::get<int>(parse({"--help"})), 0);
  EXPECT_EQ(std::get<int>(parse({"--version"})), 0);
}

TEST(Options, ServeSeveralPrograms) {
  const auto one = std::get<Options>(parse({"a.fut"}));
  EXPECT_FALSE(has_several_programs(one));
  const auto two = std::get<Options>(parse({"a.fut", "--listen", "unix://s", "b.fut", "--watch"}));
  EXPECT_TRUE(has_several_programs(two));
  EXPECT_EQ(two.program, "a.fut");
  EXPECT_EQ(two.programs, (std::vector<std::string>{"a.fut", "b.fut"}));
  EXPECT_TRUE(two.watch);
  const auto folder = std::get<Options>(parse({"--programs", "a"}));
  EXPECT_TRUE(has_several_programs(folder));
  EXPECT_EQ(folder.program, "");
}

TEST(Options, LimitsThatMeanNothingAreRefused) {
  const char* kBad[][2] = {{"--max-upload", "-1"},
                           {"--max-upload", "99999999999999999999"},
                           {"--max-upload", "9223372036854775808"},
                           {"--max-upload", "many"},
                           {"--max-upload", "4xb"},
                           {"--max-upload", ""},
                           {"--max-session-bytes", "9223372036854775808"},
                           {"--max-session-bytes", "9999999999gib"},
                           {"--max-client-memory", "-5"},
                           {"--max-client-memory", "1000"},
                           {"--max-line", "-1"},
                           {"--max-line", "4gib"},
                           {"--memory-limit", "-1"},
                           {"--memory-limit", "1e30"},
                           {"--max-variables", "-1"},
                           {"--max-variables", "99999999999999999999"},
                           {"--max-connections", "0"},
                           {"--call-timeout", "1e-9"},
                           {"--call-timeout", "nan"},
                           {"--upload-timeout", "-1"},
                           {"--idle-timeout", "-0.5"}};
  for (const auto& [option, value] : kBad) {
    const auto parsed = parse({"a.fut", option, value});
    EXPECT_TRUE(std::holds_alternative<int>(parsed)) << option << " " << value;
  }
}

TEST(Options, ProgramsHaveLimitsOfTheirOwn) {
  const auto parsed =
      parse({"a.fut", "--program-limit", "a.call-timeout=5", "--program-limit=a.calls=2",
             "--program-limit", "v1.2.call-memory=2 kib", "--program-limit", "a.calls=3"});
  ASSERT_TRUE(std::holds_alternative<Options>(parsed));
  const auto limits = program_limits(std::get<Options>(parsed).program_limits);
  ASSERT_TRUE(limits);
  EXPECT_EQ(limits->size(), 2u);
  EXPECT_EQ(limits->at("a").call_seconds, 5);
  EXPECT_EQ(limits->at("a").calls, 3);
  EXPECT_EQ(limits->at("a").sessions, 0);
  EXPECT_EQ(limits->at("v1.2").call_bytes, 2048);
  EXPECT_EQ(limits->at("v1.2").call_seconds, std::nullopt);
  for (const char* bad :
       {"a", "a.calls", ".calls=1", "calls=1", "a.calls=-1", "a.calls=x", "a.call-timeout=nan",
        "a.call-timeout=1e-9", "a.call-memory=4xb", "a.things=1", "a.=1"}) {
    EXPECT_TRUE(std::holds_alternative<int>(parse({"a.fut", "--program-limit", bad}))) << bad;
  }
  const auto parsed_too = parse({"a.fut", "--reference", "--program-limit", "a.call-memory=1gib"});
  EXPECT_TRUE(std::holds_alternative<int>(parsed_too));  // there is no device
}

TEST(Options, SizesMayHaveUnits) {
  const auto parsed = parse({"a.fut", "--max-upload", "16 GiB", "--max-session-bytes=3kb",
                             "--max-line", "2M", "--memory-limit", "7", "--call-timeout", "1e-6"});
  ASSERT_TRUE(std::holds_alternative<Options>(parsed));
  const auto& o = std::get<Options>(parsed);
  EXPECT_EQ(o.limits.upload_bytes, int64_t{16} << 30);
  EXPECT_EQ(o.limits.session_bytes, 3072);
  EXPECT_EQ(o.limits.line_bytes, size_t{2} << 20);
  EXPECT_EQ(o.memory_limit, 7);
  EXPECT_EQ(o.limits.client_bytes, 0);  // the client has started the server
}

TEST(Options, OnlyServersOnSocketsLimitTheirClientsUnasked) {
  const auto unasked = parse({"a.fut", "--listen", "unix://s"});
  EXPECT_EQ(std::get<Options>(unasked).limits.client_bytes, kSocketClientBytes);
  const auto asked = parse({"a.fut", "--listen", "unix://s", "--max-client-memory", "0"});
  EXPECT_EQ(std::get<Options>(asked).limits.client_bytes, 0);
}

TEST(Options, ModesAreOctal) {
  const auto parsed = parse({"a.fut", "--socket-mode", "660"});
  ASSERT_TRUE(std::holds_alternative<Options>(parsed));
  EXPECT_EQ(mode_bits(std::get<Options>(parsed).socket_mode), 0660u);
}

}  // namespace
}  // namespace kenaz
