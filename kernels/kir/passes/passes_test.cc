// Every pass on kernels, before and after: tests/kir/*.kir. A file names its pass, then has cases,
// one per rule of the pass:
//
//   pass fold
//   ==== sum_of_constants
//   kernel "k" group 8
//   main { ... }
//   ==== after
//   kernel "k" group 8
//   main { ... }
//
// What the pass makes of a case must be the text behind "==== after", which `kir_test --rewrite`
// writes. Both kernels must be valid, and wherever the first one runs without a fault, the second
// one must leave the same in memory: the interpreter runs both, one workgroup, on small arguments.
#include "kernels/kir/passes/passes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/kir/eval/machine.h"
#include "kernels/kir/parse.h"
#include "kernels/kir/passes/compare_roots.h"
#include "kernels/kir/passes/cse.h"
#include "kernels/kir/passes/dead_code.h"
#include "kernels/kir/passes/drop_counts.h"
#include "kernels/kir/passes/fold.h"
#include "kernels/kir/passes/gather_checks.h"
#include "kernels/kir/passes/hoist.h"
#include "kernels/kir/passes/inline_calls.h"
#include "kernels/kir/passes/jam_loops.h"
#include "kernels/kir/passes/known_sums.h"
#include "kernels/kir/passes/narrow_places.h"
#include "kernels/kir/passes/powers.h"
#include "kernels/kir/passes/quotients.h"
#include "kernels/kir/passes/speculate.h"
#include "kernels/kir/passes/split_loops.h"
#include "kernels/kir/passes/unroll_loops.h"
#include "kernels/kir/passes/unusual.h"
#include "kernels/kir/passes/vectors.h"
#include "kernels/kir/passes/wide_loops.h"
#include "kernels/kir/passes/wide_products.h"
#include "kernels/kir/passes/words.h"
#include "kernels/kir/print.h"
#include "kernels/kir/validate.h"

namespace kenaz::kir {
namespace {

namespace fs = std::filesystem;

bool rewrite_cases = false;

const std::map<std::string, void (*)(Kernel&)>& all_passes() {
  static const std::map<std::string, void (*)(Kernel&)> all = {
#define KIR_PASS(function) {#function, function},
#include "kernels/kir/passes/pipeline.def"
#undef KIR_PASS
      {"optimise", optimise},
      {"drop_counts", drop_counts},
      {"gather_unusual", gather_unusual},
      {"narrow_places", [](Kernel& kernel) { narrow_places(kernel); }},
      {"powers", powers},
      {"unroll_loops", unroll_loops},
  };
  return all;
}

struct PassCase {
  std::string name, before, after;
};
struct CaseFile {
  fs::path path;
  std::string pass;
  std::vector<PassCase> cases;
};

CaseFile read_cases(const fs::path& path) {
  CaseFile file{path, {}, {}};
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

void write_cases(const CaseFile& file) {
  std::ofstream out(file.path);
  out << "pass " << file.pass << "\n";
  for (const PassCase& c : file.cases) {
    out << "==== " << c.name << "\n" << c.before << "==== after\n" << c.after;
  }
}

/// All .kir files, in order.
std::vector<CaseFile> read_all_cases() {
  std::set<fs::path> paths;
  for (const auto& file : fs::directory_iterator(fs::path(KENAZ_SOURCE_DIR) / "tests/kir")) {
    if (file.path().extension() == ".kir") paths.insert(file.path());
  }
  std::vector<CaseFile> files;
  for (const fs::path& path : paths) files.push_back(read_cases(path));
  return files;
}

// ---- the same meaning

constexpr int kBlockBytes = 512;

/// Some value of a scalar argument: integers are `n`, floats and truth values depend on `salt`.
PrimValue some_argument(PrimType t, int64_t n, int salt) {
  if (t == PrimType::kBool) return PrimValue::of_bool(salt % 2 == 1);
  if (!is_float(t)) return PrimValue::of_int(t, n);
  const double floats[] = {1.5, -0.0, std::numeric_limits<double>::quiet_NaN(), 0.0, -3.0};
  return PrimValue::of_float(t, floats[salt % 5]);
}

/// What a run leaves in memory and its failure, as text; or nothing if the kernel has a fault.
std::string outcome(const Kernel& k, int64_t n, int salt) {
  Memory memory;
  std::vector<PrimValue> args;
  for (const Arg& a : k.args) {
    if (!a.is_block) {
      args.push_back(some_argument(k.vals[a.val.index].prim, n, salt));
      continue;
    }
    std::vector<std::byte> bytes(kBlockBytes);
    for (size_t i = 0; i < bytes.size(); i += 4) {
      bytes[i] = static_cast<std::byte>((i / 4 * 7 + static_cast<size_t>(salt) * 5) % 11);
    }
    args.push_back({PrimType::kU64, memory.allocate(bytes)});
  }
  RunOptions options;
  options.subgroup_size = 1;
  options.max_steps = 10'000;
  const auto result = run(k, memory, args, 1, options);
  if (!result) return {};
  std::string text;
  for (size_t a = 0; a < args.size(); a++) {
    if (!k.args[a].is_block) continue;
    for (const std::byte b : memory.bytes(args[a].bits)) {
      text += std::to_string(static_cast<int>(b)) + " ";
    }
  }
  if (!result->failure) return text;
  text += "failure " + std::to_string(result->failure->number);
  for (const PrimValue& v : result->failure->args) text += " " + std::to_string(v.bits);
  return text;
}

void expect_same_outcome(const Kernel& before, const Kernel& after) {
  int compared = 0;
  for (const int64_t n : {0, 1, 4, 13}) {
    for (const int salt : {0, 1, 2, 3, 4}) {
      const std::string expected = outcome(before, n, salt);
      if (expected.empty()) continue;
      EXPECT_EQ(expected, outcome(after, n, salt)) << n << ", " << salt;
      compared++;
    }
  }
  EXPECT_GT(compared, 0) << "a fault, whatever the arguments";
}

// ---- tests

void run_case(const std::string& pass, PassCase& c) {
  auto before = parse(c.before);
  ASSERT_TRUE(before.has_value()) << before.error().text();
  const auto valid = validate(*before);
  ASSERT_TRUE(valid.has_value()) << valid.error().text();
  Kernel after = *before;
  all_passes().at(pass)(after);
  const auto still_valid = validate(after);
  ASSERT_TRUE(still_valid.has_value()) << still_valid.error().text() << "\n" << print(after);
  const std::string made = print(after);
  if (rewrite_cases) c.after = made;
  EXPECT_EQ(c.after, made);
  expect_same_outcome(*before, after);
}

class KirRule : public testing::TestWithParam<std::pair<std::string, PassCase>> {};

TEST_P(KirRule, BeforeAndAfter) {
  PassCase c = GetParam().second;
  ASSERT_TRUE(all_passes().contains(GetParam().first)) << "no such pass";
  run_case(GetParam().first, c);
}

std::vector<std::pair<std::string, PassCase>> all_cases() {
  std::vector<std::pair<std::string, PassCase>> all;
  for (const CaseFile& file : read_all_cases()) {
    for (const PassCase& c : file.cases) {
      all.emplace_back(file.pass, c);
      all.back().second.name = file.path.stem().string() + "_" + c.name;
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Passes, KirRule, testing::ValuesIn(all_cases()),
                         [](const auto& info) { return info.param.second.name; });

TEST(KirPasses, AllAreTested) {
  std::set<std::string> tested;
  for (const CaseFile& file : read_all_cases()) {
    EXPECT_FALSE(file.cases.empty()) << file.path;
    tested.insert(file.pass);
  }
  for (const auto& [name, pass] : all_passes()) EXPECT_TRUE(tested.contains(name)) << name;
}

TEST(KirPasses, Rewrite) {
  if (!rewrite_cases) GTEST_SKIP() << "only with --rewrite";
  for (CaseFile& file : read_all_cases()) {
    for (PassCase& c : file.cases) run_case(file.pass, c);
    write_cases(file);
  }
}

}  // namespace
}  // namespace kenaz::kir

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  kenaz::kir::rewrite_cases = argc > 1 && std::string_view(argv[1]) == "--rewrite";
  return RUN_ALL_TESTS();
}
