// What the comments of a Futhark program say about how it is tested. (Those of a filter begin with
// # and are of the same form.)
//
//   -- Any description.
//   -- ==
//   -- tags { tag ... }
//   -- entry: name ...
//   -- "name" tag ... input { values } output { values }
//   -- random input { [100]i32 f64 10i64 } auto output
//   -- input @ file.gz  error: regex
//   -- property: name ...
//
// or, for a program that must be rejected, only `error: regex`. Blocks after the first continue it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "protocol/base/result.h"
#include "protocol/data/value.h"

namespace kenaz::testing {

/// "[100][2]f32": an array of random elements (a scalar if the shape is empty).
struct RandomType {
  PrimType prim = PrimType::kI32;
  std::vector<int64_t> shape;
  std::string name() const;
};
/// "[10][2]f32"; nothing if it is no such type.
std::optional<RandomType> parse_random_type(std::string_view text);

using Literal = std::vector<data::Value>;
struct DataFile {
  std::string path;  // relative to the program's folder
};
struct RandomInput {
  std::vector<std::variant<RandomType, data::Value>> values;
};
struct Script {
  std::string text;  // empty: read it from `file`
  std::string file;
};
using Input = std::variant<Literal, DataFile, RandomInput, Script>;

struct NoExpectation {};
struct AutoOutput {};
struct RuntimeError {
  std::string regex;  // POSIX extended; empty: any error
};
using Expected = std::variant<NoExpectation, Literal, DataFile, AutoOutput, RuntimeError>;

struct Case {
  std::string name;  // as written in quotes, or made from the input
  std::vector<std::string> tags;
  Input input;
  Expected expected;
  int line = 0;
};

struct CaseGroup {
  std::vector<std::string> entries;
  std::vector<Case> cases;
};

/// An entry point that should give true for any argument (property.h).
struct PropertyCase {
  std::string name;
  int line = 0;
};

struct ProgramSpec {
  bool has_block = false;
  std::vector<std::string> tags;
  std::optional<std::string> compile_error;  // the program must be rejected, with this regex
  std::vector<CaseGroup> groups;
  std::vector<PropertyCase> properties;
  std::vector<std::string> warnings;  // regexes, each to be found in what the compiler warns of

  bool has_tag(std::string_view tag) const;
};

/// How a language writes comments, and the entry point of blocks that name none.
struct SpecLanguage {
  std::string_view comment = "--";
  std::string_view entry = "main";
};
/// Of a program's file: filters (.mfg) have comments with # and the entry point result_u8.
SpecLanguage spec_language(std::string_view path);
/// Whether a file of this name is a program.
bool is_program(std::string_view path);

/// Reads the test blocks of a program's source. Messages name the line.
Result<ProgramSpec> parse_spec(std::string_view source, const SpecLanguage& language = {});

}  // namespace kenaz::testing
