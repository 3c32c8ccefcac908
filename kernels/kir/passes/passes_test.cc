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
// writes. Both kernels must be valid.
#include "kernels/kir/passes/passes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/kir/parse.h"
#include "kernels/kir/passes/cse.h"
#include "kernels/kir/passes/dead_code.h"
#include "kernels/kir/passes/fold.h"
#include "kernels/kir/passes/hoist.h"
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
