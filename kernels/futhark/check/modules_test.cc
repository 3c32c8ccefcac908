// What module types ask of modules, and what they may say.
#include <gmock/gmock.h>

#include "kernels/futhark/check/testing.h"
#include "protocol/base/read_file.h"

namespace kenaz::check {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Modules, NamesOfDeclarationsAreThereOnce) {
  const auto twice = [](const std::string& what) {
    return HasSubstr("Duplicate definition of " + what);
  };
  EXPECT_THAT(error_of("def x = 1i32\nmodule x = {}"), twice("module \"x\""));
  EXPECT_THAT(error_of("module type s = { type t type t }"), twice("type \"t\""));
  EXPECT_THAT(error_of("module type s = { val x : i32 val x : i64 }"), twice("value \"x\""));
  EXPECT_THAT(error_of("module type s = { val x : i32 module x : {} }"), twice("module \"x\""));
  EXPECT_THAT(error_of("module m : { type t type t = i32 } = { type t = i32 }"),
              twice("type \"t\""));
  EXPECT_EQ(error_of("local def x = 1i32\ndef x = 2i32\nlocal def x = 3i32"), "accepted");
  EXPECT_EQ(error_of("type t = i32\ndef t = 1i32\nmodule type t = {}"), "accepted");
}

TEST(Modules, SpecifiedParametersHaveSizesWithNames) {
  const auto anonymous = HasSubstr("must have non-anonymous sizes");
  EXPECT_THAT(error_of("module type s = { val f : []i32 -> i32 }"), anonymous);
  EXPECT_THAT(error_of("module type s = { val x : ?[n].[n]i32 }"), anonymous);
  EXPECT_THAT(error_of("module type s = { val f : ([]i32 -> i32) -> i32 }"), anonymous);
  EXPECT_EQ(error_of("module type s = { val f : i32 -> []i32 val g : i32 -> ?[n].[n]i32 }"),
            "accepted");
  // Known of one module only.
  EXPECT_EQ(error_of("module type s = { type~ t val f : t -> i32 }\n"
                     "module m : s with t = ?[n].[n]i32 = { type~ t = []i32 def f (x: t) = 1i32 }\n"
                     "module f (p: s) = { def y = p.f }\n"
                     "module n = f { type~ t = []i32 def f (x: t) = 1i32 }"),
            "accepted");
}

TEST(Modules, AbbreviationsUseTheirSizes) {
  EXPECT_THAT(error_of("type t [n] = i32"), HasSubstr("Size parameter \"[n]\" unused"));
  EXPECT_THAT(error_of("type t [n] [m] = [n]i32"), HasSubstr("Size parameter \"[m]\" unused"));
  EXPECT_EQ(error_of("type t [n] = [n + 1]i32\ntype^ u [n] = [n]i32 -> i32\ntype v 'a = i32"),
            "accepted");
}

TEST(Modules, AbbreviationsAreAsLiftedAsTheySay) {
  const auto open = HasSubstr("may not use existential sizes");
  EXPECT_THAT(error_of("type t = []i32"), open);
  EXPECT_THAT(error_of("type t = {a: i32, b: ?[n].[n]i32}"), open);
  EXPECT_THAT(error_of("type~ t = []i32\ntype u = t"),
              HasSubstr("Non-size-lifted type abbreviations may not contain size-lifted types"));
  EXPECT_THAT(error_of("type~ t = i32 -> i32"), HasSubstr("may not contain functions"));
  EXPECT_EQ(error_of("type~ t = []i32\ntype^ u [n] = (t, [n]i32 -> i32)"), "accepted");
}

TEST(Modules, ShapesOfAbstractTypesSayTheirSizes) {
  const auto no = HasSubstr("not used constructively");
  EXPECT_THAT(error_of("module m : { type t [n] } = { type t [n] = [n + 1]i32 }"), no);
  EXPECT_THAT(error_of("module m : { type^ t [n] } = { type^ t [n] = [n]i32 -> i32 }"), no);
  EXPECT_EQ(error_of("module m : { type t [n] } = { type t [n] = ([n]i32, [n + 1]i32) }"),
            "accepted");
}

TEST(Modules, OnlyTypesOfTheModuleTypeAreRefined) {
  const auto no = HasSubstr("is not an abstract type in the module type");
  EXPECT_THAT(error_of("module m : { type t } with u = i64 = { type t = i32 }"), no);
  EXPECT_THAT(error_of("module type s = { module n : { type t } }\nmodule type r = s with t = i32"),
              no);
  EXPECT_EQ(error_of("module type s = { module n : { type t } }\nmodule type r = s with n.t = i32"),
            "accepted");
}

TEST(Modules, ParametricModulesMatchTheirTypesWhereTheyAreDeclared) {
  const std::string f = "module type F = (x: { type t }) -> { type t }\n";
  EXPECT_THAT(error_of(f + "module g : F = \\(x: { type t val y : t }) -> { type t = x.t }"),
              HasSubstr("Module does not define a value named \"y\"."));
  EXPECT_THAT(error_of(f + "module g : F = \\(x: { type t }) -> {}"),
              HasSubstr("Module does not define a type named \"t\"."));
  EXPECT_EQ(error_of(f + "module g : F = \\(x: {}) -> { type t = i32 }"), "accepted");
  EXPECT_THAT(error_of("module type s = { type t }\nmodule type c = { module f : s -> s }\n"
                       "module m : c = { module f (x: s with t = i64) : s = { type t = x.t } }"),
              HasSubstr("type f.t = i64"));
}

TEST(Modules, ParametersOfTypesAreOfTheSameKinds) {
  const auto no = HasSubstr("with other parameters than the module type requires");
  EXPECT_THAT(error_of("module m : { type t [n] } = { type t 'a = a }"), no);
  EXPECT_THAT(error_of("module m : { type t 'a } = { type t [n] = [n]i32 }"), no);
  EXPECT_THAT(error_of("module m : { type^ t '^a } = { type t 'a = (a, i32) }"), no);
  EXPECT_THAT(error_of("module m : { type t 'a } = { type t 'a [n] = [n]a }"), no);
  EXPECT_EQ(error_of("module m : { type^ t 'a [n] } = { type^ t '^a [n] = (a, [n]i32) }"),
            "accepted");
}

TEST(Modules, AbstractTypesAreCalledByTheirModules) {
  const std::string s =
      "module type s = { type t val x : t val f : t -> t }\n"
      "module m = { module a : s = { type t = i32 def x = 1i32 def f = id } }\n"
      "module b : s = m.a\n";
  EXPECT_THAT(error_of(s + "def y = b.f m.a.x"),
              AllOf(HasSubstr("Expected: b.t\n"), HasSubstr("Actual:   m.a.t\n")));
  EXPECT_THAT(error_of(s + "module f (p: s) (q: s) = { def y = p.f q.x }"),
              AllOf(HasSubstr("Expected: p.t\n"), HasSubstr("Actual:   q.t\n")));
}

TEST(Modules, ThePreludeIsThereAlready) {
  EXPECT_THAT(error_of("import \"/prelude/math\""), HasSubstr("may not be explicitly imported"));
}

TEST(Libraries, AreThereWithoutAFile) {
  EXPECT_EQ(type_in("import \"kenaz/sort\"\ndef f = sort_u8.sort [3u8, 1u8]"), "[2]u8");
  EXPECT_THAT(error_of("import \"kenaz/nothing\""), HasSubstr("file \"kenaz/nothing.fut\""));
  EXPECT_THAT(error_of("import \"lib/kenaz/sort\""), HasSubstr("file \"lib/kenaz/sort.fut\""));
}

TEST(Libraries, FilesOfTheirNamesAreMeantInstead) {
  EXPECT_EQ(type_of(check_files({{"main.fut", "import \"kenaz/sort\"\ndef f = x"},
                                 {"kenaz/sort.fut", "def x = 1i32"}}),
                    "f"),
            "i32");
}

TEST(Libraries, AFileThatCannotBeReadIsMeantAllTheSame) {
  const SourceReader read = [](const std::string& path) -> Result<std::string> {
    if (path == "main.fut") return "import \"kenaz/sort\"\ndef f = sort_u8.sort [3u8]";
    if (path == "kenaz/sort.fut") return bad_request("It is a directory.");
    return fail(ErrorKind::kNoSuchFile, "no such file");
  };
  EXPECT_THAT(check_program("main.fut", read).error().text(),
              HasSubstr("Could not read file \"kenaz/sort.fut\": It is a directory."));
}

TEST(Libraries, OnlyACopyOfTheirTextIsTheirs) {
  const auto shipped =
      read_regular_file(KENAZ_SOURCE_DIR "/kernels/prelude/library/kenaz/radix.fut", 1 << 20);
  ASSERT_TRUE(shipped);
  const auto with = [&](const std::string& text) {
    return type_of(check_files({{"main.fut", "import \"lib/kenaz/radix\"\ndef f = keys_u8 [1u8]"},
                                {"lib/kenaz/radix.fut", text}}),
                   "by_bits");
  };
  EXPECT_EQ(with(*shipped), "none");
  EXPECT_NE(with(*shipped + "-- not the same"), "none");
}

}  // namespace
}  // namespace kenaz::check
