// Every pass on array IR, before and after: tests/ir/*.ir. A file names its pass, then has cases,
// one per rule of the pass:
//
//   pass simplify
//   ==== sum_with_zero
//   fun main(x_0: i32) -> (i32) { ... }
//   ==== after
//   fun main(x_0: i32) -> (i32) { ... }
//
// What the pass makes of a case must be the text behind "==== after", which `passes_test --rewrite`
// writes. Both programs must be valid, and wherever the first one has a value, the second one must
// have the same: the reference evaluator runs `main` of both on small arguments. So loops in a case
// must end soon, whatever its arguments.
#include "kernels/passes/passes.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/flatten/device_scalars.h"
#include "kernels/flatten/segments.h"
#include "kernels/flatten/unpack_operators.h"
#include "kernels/ir/eval/evaluator.h"
#include "kernels/ir/parse.h"
#include "kernels/ir/print.h"
#include "kernels/ir/validate.h"
#include "kernels/memory/short_circuit.h"
#include "kernels/memory/sink_updates.h"

namespace kenaz::passes {
namespace {

namespace fs = std::filesystem;
using ir::eval::Value;

bool rewrite = false;

const std::map<std::string, void (*)(ir::Program&)>& all_passes() {
  static const std::map<std::string, void (*)(ir::Program&)> all = {
#define PASS(space, function) {#function, space::function},
#define CHECKED_PASS(space, function)  // has tests of its own
#include "kernels/pipeline/mem.def"
#include "kernels/pipeline/seg.def"
#include "kernels/pipeline/soacs.def"
      PASS(passes, sink_scalars)  // for some targets
#undef PASS
#undef CHECKED_PASS
  };
  return all;
}

struct Case {
  std::string name, before, after;
};
struct File {
  fs::path path;
  std::string pass;
  std::vector<Case> cases;
};

File read(const fs::path& path) {
  File file{path, {}, {}};
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  if (line.starts_with("pass ")) file.pass = line.substr(5);
  std::string* text = nullptr;
  while (std::getline(in, line)) {
    if (line == "==== after" && !file.cases.empty()) {
      text = &file.cases.back().after;
    } else if (line.starts_with("==== ")) {
      file.cases.push_back({line.substr(5), {}, {}});
      text = &file.cases.back().before;
    } else if (text) {
      *text += line + "\n";
    }
  }
  return file;
}

void write(const File& file) {
  std::ofstream out(file.path);
  out << "pass " << file.pass << "\n";
  for (const Case& c : file.cases) {
    out << "==== " << c.name << "\n" << c.before << "==== after\n" << c.after;
  }
}

/// All .ir files, in order.
std::vector<File> read_all() {
  std::set<fs::path> paths;
  for (const auto& file : fs::directory_iterator(fs::path(KENAZ_SOURCE_DIR) / "tests/ir")) {
    if (file.path().extension() == ".ir") paths.insert(file.path());
  }
  std::vector<File> files;
  for (const fs::path& path : paths) files.push_back(read(path));
  return files;
}

// ---- the same meaning

/// Some value of the type, different ones for different `salt`.
uint64_t some_bits(PrimType t, int64_t salt) {
  const int64_t n = (salt * 7 + 5) % 11 - 3;
  if (t == PrimType::kBool) return n > 1 ? 1 : 0;
  if (is_float(t)) return PrimValue::of_float(t, static_cast<double>(n) / 2).bits;
  return PrimValue::of_int(t, n).bits;
}

/// Arguments of `main`: every size is `n`, and so is every i64 that is the size of a later array.
Result<std::vector<Value>> arguments(ir::eval::Evaluator& evaluator, int64_t n, int64_t salt) {
  const ir::Program& p = evaluator.program();
  const ir::Function& main = p.functions[p.entries.at(0).fun.index];
  std::set<uint32_t> sizes;
  for (const ir::VarId v : main.params) {
    for (const ir::Atom& d : p.type_of(v).dims) {
      if (!d.is_const()) sizes.insert(d.var().index);
    }
  }
  std::vector<Value> values;
  for (const ir::VarId v : main.params) {
    const ir::Type& t = p.type_of(v);
    Value value{t, some_bits(t.prim, salt++), {}};
    if (sizes.contains(v.index)) value.bits = static_cast<uint64_t>(n);
    if (!t.is_scalar()) {
      std::vector<int64_t> shape;
      int64_t count = 1;
      for (const ir::Atom& d : t.dims) shape.push_back(d.is_const() ? d.constant().as_i64() : n);
      for (const int64_t d : shape) count *= d;
      KENAZ_ASSIGN(value.array, evaluator.allocate(t.prim, shape));
      const size_t size = prim_size(t.prim);
      for (int64_t i = 0; i < count; i++) {
        const uint64_t bits = some_bits(t.prim, salt + 3 * i);
        std::memcpy(value.array.buffer->data.get() + static_cast<size_t>(i) * size, &bits, size);
      }
    }
    values.push_back(std::move(value));
  }
  return values;
}

/// The results of `main` as text, or nothing if it fails.
std::string results(const ir::Program& p, int64_t n, int64_t salt) {
  auto evaluator = ir::eval::Evaluator::make(p);
  if (!evaluator) return {};
  auto args = arguments(*evaluator, n, salt);
  if (!args) return {};
  const auto values = evaluator->call(p.entries.at(0).fun, std::move(*args));
  if (!values) {
    EXPECT_EQ(values.error().kind, ErrorKind::kProgramFailure) << values.error().text();
    return {};
  }
  std::ostringstream text;
  for (const Value& v : *values) {
    text << "(" << v.bits;
    int64_t count = v.type.is_scalar() ? 0 : 1;
    for (const int64_t d : v.array.shape) {
      text << "[" << d << "]";
      count *= d;
    }
    const size_t size = prim_size(v.type.prim);
    for (int64_t i = 0; i < count; i++) {
      uint64_t bits = 0;
      const auto at = static_cast<size_t>(v.array.offset + i) * size;
      std::memcpy(&bits, v.array.buffer->data.get() + at, size);
      text << " " << bits;
    }
    text << ")";
  }
  return text.str();
}

void expect_same_meaning(const ir::Program& before, const ir::Program& after) {
  int compared = 0;
  for (const int64_t n : {0, 1, 4}) {
    for (const int64_t salt : {0, 1, 2, 5, 8}) {
      const std::string expected = results(before, n, salt);
      if (expected.empty()) continue;
      EXPECT_EQ(expected, results(after, n, salt)) << n << ", " << salt;
      compared++;
    }
  }
  EXPECT_GT(compared, 0) << "main has no value, whatever its arguments";
}

// ---- tests

void run(const std::string& pass, Case& c) {
  auto before = ir::parse(c.before);
  ASSERT_TRUE(before.has_value()) << before.error().text();
  // copy_shared alone takes programs that use what they have consumed.
  if (pass != "copy_shared" || !ir::find_consumption_error(*before)) {
    const auto valid = ir::validate(*before);
    ASSERT_TRUE(valid.has_value()) << valid.error().text();
  }
  ir::Program after = *before;
  all_passes().at(pass)(after);
  const auto valid = ir::validate(after);
  ASSERT_TRUE(valid.has_value()) << valid.error().text() << ir::print(after);
  const std::string made = ir::print(after);
  if (rewrite) c.after = made;
  EXPECT_EQ(c.after, made);
  if (!ir::find_consumption_error(*before)) expect_same_meaning(*before, after);
}

class Rule : public testing::TestWithParam<std::pair<std::string, Case>> {};

TEST_P(Rule, BeforeAndAfter) {
  Case c = GetParam().second;
  ASSERT_TRUE(all_passes().contains(GetParam().first)) << "no such pass";
  run(GetParam().first, c);
}

std::vector<std::pair<std::string, Case>> all_cases() {
  std::vector<std::pair<std::string, Case>> all;
  for (const File& file : read_all()) {
    for (const Case& c : file.cases) {
      all.emplace_back(file.pass, c);
      all.back().second.name = file.path.stem().string() + "_" + c.name;
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Passes, Rule, testing::ValuesIn(all_cases()),
                         [](const auto& info) { return info.param.second.name; });

TEST(Passes, AllAreTested) {
  std::set<std::string> tested;
  for (const File& file : read_all()) {
    EXPECT_FALSE(file.cases.empty()) << file.path;
    tested.insert(file.pass);
  }
  for (const auto& [name, pass] : all_passes()) EXPECT_TRUE(tested.contains(name)) << name;
}

TEST(Passes, Rewrite) {
  if (!rewrite) GTEST_SKIP() << "only with --rewrite";
  for (File& file : read_all()) {
    for (Case& c : file.cases) run(file.pass, c);
    write(file);
  }
}

}  // namespace
}  // namespace kenaz::passes

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  kenaz::passes::rewrite = argc > 1 && std::string_view(argv[1]) == "--rewrite";
  return RUN_ALL_TESTS();
}
