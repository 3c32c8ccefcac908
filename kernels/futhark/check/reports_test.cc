#include "kernels/futhark/check/reports.h"

#include <gmock/gmock.h>

namespace kenaz::check {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const auto kFile = std::make_shared<const SourceFile>(SourceFile{"a.fut", ""});
const auto kOther = std::make_shared<const SourceFile>(SourceFile{"b.fut", ""});
const auto kPrelude = std::make_shared<const SourceFile>(SourceFile{"/prelude/soacs.fut", ""});

SourceRange line(int number, std::shared_ptr<const SourceFile> file = kFile) {
  return {std::move(file), {number, 1}, {number, 2}};
}

std::vector<std::string> texts(const std::vector<Diagnostic>& list) {
  std::vector<std::string> out;
  for (const Diagnostic& d : list) {
    out.push_back(d.range.file->name + ":" + std::to_string(d.range.begin.line) + " " + d.message);
  }
  return out;
}

TEST(Reports, OfOneDeclarationOnlyTheFirstErrorCounts) {
  Reports r;
  EXPECT_FALSE(r.failed());
  EXPECT_EQ(r.current(), nullptr);
  r.error(line(1), "first");
  r.error(line(2), "second");
  EXPECT_TRUE(r.failed());
  r.current()->message += ", with a hint";
  EXPECT_TRUE(r.recover());
  EXPECT_FALSE(r.failed());
  EXPECT_FALSE(r.recover());
  r.error(line(3), "third");
  EXPECT_EQ(r.put_aside(), 1U);
  EXPECT_THAT(texts(r.errors()), ElementsAre("a.fut:1 first, with a hint", "a.fut:3 third"));
}

TEST(Reports, AnAbandonedDeclarationFailsWithoutAnError) {
  Reports r;
  r.abandon();
  EXPECT_TRUE(r.failed());
  EXPECT_EQ(r.current(), nullptr);
  r.error(line(1), "a consequence");
  EXPECT_TRUE(r.recover());
  EXPECT_THAT(r.errors(), IsEmpty());
  r.error(line(2), "known already");
  r.forget();
  EXPECT_FALSE(r.failed());
  EXPECT_THAT(r.errors(), IsEmpty());
}

TEST(Reports, ErrorsAreInTheOrderOfTheTextAndEachPlaceCountsOnce) {
  Reports r;
  r.error(line(7, kOther), "other file");
  r.recover();
  r.later(line(5), "late");
  r.later(line(5), "late again");
  for (int i = 0; i < 2; i++) {
    r.error(line(3), "of a body that is checked twice");
    r.recover();
  }
  EXPECT_FALSE(r.failed());
  EXPECT_THAT(
      texts(r.errors()),
      ElementsAre("b.fut:7 other file", "a.fut:3 of a body that is checked twice", "a.fut:5 late"));
}

TEST(Reports, EndAfterALimit) {
  Reports r;
  for (int i = 1; i <= 2 * static_cast<int>(kMaxErrors); i++) {
    r.error(line(i), "wrong");
    r.recover();
    r.later(line(1000 + i), "wrong as well");
  }
  EXPECT_EQ(r.errors().size(), kMaxErrors);
}

TEST(Reports, WarnOfTheUsersTextOnlyAndNotOfItsUses) {
  Reports r;
  r.warn(Warning::kIntrinsic, line(1));
  r.warn(Warning::kIntrinsic, line(2, kPrelude));
  r.warn(Warning::kIntrinsic, {});
  {
    const Reports::Quiet quiet(r);
    const Reports::Quiet inner(r, false);  // does not end the outer one
    EXPECT_FALSE(r.is_written(line(3)));
    r.warn(Warning::kIntrinsic, line(3));
  }
  const Reports::Quiet not_quiet(r, false);
  EXPECT_TRUE(r.is_written(line(4)));
  r.warn(Warning::kIntrinsic, line(4));
  const auto found = r.warnings();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].range.begin.line, 1);
  EXPECT_EQ(found[1].range.begin.line, 4);
}

}  // namespace
}  // namespace kenaz::check
