// Sessions of a server with several programs, which come, change and go.
#include "server/session/chosen_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocol/data/binary_format.h"
#include "protocol/data/values.h"
#include "server/session/session.h"
#include "server/testdata/echo_engine.h"
#include "server/testdata/streams.h"

namespace kenaz {
namespace {

using testing::HasSubstr;

/// A type `number`, a record of one; `entry` makes one out of another, and has a parameter.
class NumberEngine : public EchoEngine {
 public:
  NumberEngine(LeafType number, const std::string& entry) : table_(EchoEngine::types()) {
    const std::string prim(prim_name(number.prim));
    table_["number"] = {"number", TypeKind::kRecord, {number}, 0, "", {{"n", prim}}, {}};
    entries_ = {{entry, {{"x", "number", false, 1}}, "number", false, {}, "", {"size"}}};
  }
  const TypeTable& types() const override { return table_; }
  const std::vector<host::EntrySignature>& entries() const override { return entries_; }
  const std::vector<program::TuningParam>& tuning_params() const override { return params_; }
  Result<std::vector<host::LeafPtr>> call(const std::string& entry,
                                          std::span<const host::LeafPtr> args) override {
    const auto& values = tuning();
    size = values && values->contains("size") ? values->at("size") : 0;
    return EchoEngine::call(entry, args);
  }

  int64_t size = -1;  // as the last call had it

 private:
  TypeTable table_;
  std::vector<host::EntrySignature> entries_;
  std::vector<program::TuningParam> params_ = {{"size", program::TuningClass::kUser, 7}};
};

const LeafType kIntNumber{PrimType::kI32, 0}, kFloatNumber{PrimType::kF32, 0};

class ChosenProgramTest : public ::testing::Test {
 protected:
  ChosenProgramTest() {
    put("a", kIntNumber, "first");
    put("b", kIntNumber, "second");
    SessionOptions options;
    options.profile = true;
    session_.emplace(programs_, options);
    std::string one;
    data::append_binary(data::Value::scalar(PrimValue::i32(1)), one);
    auto stream = session_->begin(
        *protocol::parse_request("upload " + std::to_string(one.size()) + " one i32"));
    EXPECT_TRUE(stream);
    if (!stream) return;
    feed(**stream, one);
    EXPECT_FALSE(session_->end(**stream).failure);
    EXPECT_EQ(run("new x number one"), "");
  }

  NumberEngine* put(const std::string& name, LeafType number, const std::string& entry) {
    auto engine = std::make_unique<NumberEngine>(number, entry);
    NumberEngine* made = engine.get();
    programs_->put(loaded_program(name, name + ".fut", "1", std::move(engine)));
    return made;
  }
  /// The reply as one string, "|" for line ends, "!" before a failure; run times taken out.
  std::string run(const std::string& line) {
    const auto reply = session_->execute(line);
    std::string s;
    for (const auto& l : reply.output) s += (l.starts_with("runtime: ") ? "runtime" : l) + "|";
    if (reply.failure) s += "!" + *reply.failure;
    return s;
  }

  const std::shared_ptr<Programs> programs_ = std::make_shared<Programs>();
  std::optional<Session> session_;
};

TEST_F(ChosenProgramTest, CommandsAreAboutTheChosenOne) {
  EXPECT_EQ(run("programs"), "a 1 1|b 1 1|");
  EXPECT_EQ(run("entry_points"), "first|");
  EXPECT_EQ(run("call second y x"), "!Unknown entry point: second");
  EXPECT_EQ(run("program b"), "");
  EXPECT_EQ(run("entry_points"), "second|");
  EXPECT_EQ(run("call second y x"), "runtime|");
  EXPECT_EQ(session_->program_path(), "b.fut");
  EXPECT_EQ(run("program c"), "!Unknown program: c\nThe command `programs` lists them.");
  EXPECT_EQ(run("entry_points"), "second|");
}

TEST_F(ChosenProgramTest, TheNextCommandSeesWhatWasPut) {
  put("a", kIntNumber, "third");
  EXPECT_EQ(run("entry_points"), "third|");
  EXPECT_EQ(run("call third y x"), "runtime|");
  put("0", kIntNumber, "zeroth");  // comes first, but the session has its program
  EXPECT_EQ(run("entry_points"), "third|");
}

TEST_F(ChosenProgramTest, ValuesOfOtherTypesAreRefused) {
  put("b", kFloatNumber, "second");
  EXPECT_EQ(run("program b"), "");
  EXPECT_EQ(
      run("call second y x"),
      "!Wrong input type.  Expected number, got the number of the program a, which is another "
      "type.");
  put("a", kFloatNumber, "first");
  EXPECT_EQ(run("program a"), "");
  EXPECT_EQ(
      run("call first y x"),
      "!Wrong input type.  Expected number, got the number of the program as it was before it "
      "was loaded anew.");
  // It is still what it was.
  EXPECT_EQ(run("project n x n"), "");
  EXPECT_EQ(run("type n"), "i32|");
  EXPECT_EQ(run("new z number n"), "!Field n mismatch: expected type f32, got i32");
}

TEST_F(ChosenProgramTest, AProgramThatIsNotServedAnyMore) {
  programs_->remove("a");
  for (const char* line : {"call first y x", "entry_points", "types", "new y number one",
                           "tuning_param_class size", "set_tuning_param size 1"}) {
    EXPECT_THAT(run(line), HasSubstr("!The program a is not served any more.")) << line;
  }
  EXPECT_EQ(run("vars"), "one i32 4|x number 4|");
  EXPECT_EQ(run("project n x n"), "");
  EXPECT_EQ(run("free n"), "");
  auto stream = session_->begin(*protocol::parse_request("download x"));
  EXPECT_TRUE(stream);
  EXPECT_EQ(run("program b"), "");
  EXPECT_EQ(run("call second y x"), "runtime|");
}

TEST_F(ChosenProgramTest, AStreamKeepsTheProgramThatItBeganWith) {
  std::string two;
  data::append_binary(data::Value::scalar(PrimValue::i32(2)), two);
  auto stream = session_->begin(
      *protocol::parse_request("upload " + std::to_string(two.size()) + " y number"));
  ASSERT_TRUE(stream);
  put("a", kFloatNumber, "first");
  programs_->free_unused();
  EXPECT_TRUE(programs_->free_later());
  feed(**stream, two);
  EXPECT_FALSE(session_->end(**stream).failure);
  stream->reset();
  programs_->free_unused();
  EXPECT_FALSE(programs_->free_later());
  EXPECT_THAT(run("call first z y"), HasSubstr("as it was before"));
}

TEST_F(ChosenProgramTest, TuningIsForOneProgramAndStays) {
  NumberEngine* b = put("b", kIntNumber, "second");
  run("program b");
  EXPECT_EQ(run("set_tuning_param size 3"), "");
  EXPECT_EQ(run("call second y x"), "runtime|");
  EXPECT_EQ(b->size, 3);
  b = put("b", kIntNumber, "second");
  EXPECT_EQ(run("call second z x"), "runtime|");
  EXPECT_EQ(b->size, 3);
  NumberEngine* a = put("a", kIntNumber, "first");
  run("program a");
  EXPECT_EQ(run("call first u x"), "runtime|");
  EXPECT_EQ(a->size, 0);
}

/// Programs a, which has limits, and b.
class LimitedProgramTest : public ChosenProgramTest {
 protected:
  LimitedProgramTest() { put_limited(); }
  void put_limited() {
    LoadedProgram a =
        loaded_program("a", "a.fut", "1", std::make_unique<NumberEngine>(kIntNumber, "first"));
    a.use = use_;
    programs_->put(std::move(a));
  }
  static std::string ask(Session& session, const std::string& line) {
    return session.execute(line).failure.value_or("");
  }
  const std::shared_ptr<ProgramUse> use_ =
      std::make_shared<ProgramUse>("a", ProgramLimits{.calls = 1, .sessions = 1});
};

TEST_F(LimitedProgramTest, SoManySessionsUseAProgram) {
  constexpr char kFull[] =
      "The program a has 1 sessions that have chosen it; more are not allowed (--program-limit "
      "a.sessions).";
  std::optional<Session> other(std::in_place, programs_, SessionOptions{});
  EXPECT_EQ(ask(*other, "vars"), "");  // has not used it yet
  EXPECT_EQ(run("call first y x"), "runtime|");
  EXPECT_EQ(ask(*other, "entry_points"), kFull);
  EXPECT_EQ(ask(*other, "program a"), kFull);
  EXPECT_EQ(ask(*other, "program b"), "");
  EXPECT_EQ(ask(*other, "entry_points"), "");
  EXPECT_EQ(ask(*other, "program a"), kFull);
  EXPECT_EQ(ask(*other, "inputs second"), "");  // it has b still
  put_limited();                                // a new version of it
  EXPECT_EQ(ask(*other, "program a"), kFull);
  EXPECT_EQ(run("program b"), "");
  EXPECT_EQ(ask(*other, "program a"), "");
  EXPECT_EQ(run("program a"), std::string("!") + kFull);
  other.reset();
  EXPECT_EQ(run("program a"), "");
  EXPECT_EQ(run("program a"), "");
}

TEST_F(LimitedProgramTest, SoManyCallsAreAtHand) {
  Session other(programs_, SessionOptions{});
  ASSERT_TRUE(session_->call_begins());
  const Status second = other.call_begins();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message,
            "The program a has 1 calls that wait or run; more are not allowed (--program-limit "
            "a.calls).");
  EXPECT_EQ(ask(other, "program b"), "");
  EXPECT_TRUE(other.call_begins());
  other.call_ended();
  session_->call_ended();
  Session third(programs_, SessionOptions{});
  EXPECT_TRUE(third.call_begins());
  third.call_ended();
}

TEST_F(ChosenProgramTest, EventsSayWhichProgramTheyAreOf) {
  run("call first y x");
  run("program b");
  run("call second z x");
  put("a", kIntNumber, "other");
  programs_->free_unused();  // names of entry points outlive them
  const std::string report = run("report");
  EXPECT_THAT(report, HasSubstr(R"({"details":{"program":"a"})"));
  EXPECT_THAT(report, HasSubstr(R"("name":"call first")"));
  EXPECT_THAT(report, HasSubstr(R"({"details":{"program":"b"})"));
  programs_->remove("a");
  run("call second u x");
  EXPECT_THAT(run("report"), HasSubstr(R"({"details":{},)"));
}

}  // namespace
}  // namespace kenaz
