// Every pass on array IR, before and after: tests/ir/*.ir. A file names its pass; what the pass
// makes of the program must be the text behind "==== after", which `passes_test --rewrite` writes.
#include "kernels/passes/passes.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

#include "kernels/ir/parse.h"
#include "kernels/ir/print.h"

namespace kenaz::passes {
namespace {

namespace fs = std::filesystem;

bool rewrite = false;

const std::map<std::string, void (*)(ir::Program&)>& all_passes() {
  static const std::map<std::string, void (*)(ir::Program&)> all = {
#define PASS(function) {#function, function},
#include "kernels/passes/pipeline.def"
#undef PASS
  };
  return all;
}

std::string read(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(Passes, BeforeAndAfter) {
  std::set<std::string> tested;
  for (const auto& file : fs::directory_iterator(fs::path(KENAZ_SOURCE_DIR) / "tests/ir")) {
    if (file.path().extension() != ".ir") continue;
    SCOPED_TRACE(file.path().filename().string());
    const std::string text = read(file.path());
    const std::string name = text.substr(5, text.find('\n') - 5);
    const size_t before = text.find("==== before\n");
    const size_t after = text.find("==== after\n");
    ASSERT_NE(before, std::string::npos);
    ASSERT_TRUE(all_passes().contains(name));
    const size_t start = before + std::string_view("==== before\n").size();
    auto program =
        ir::parse(text.substr(start, after == std::string::npos ? after : after - start));
    ASSERT_TRUE(program.has_value()) << program.error().text();
    all_passes().at(name)(*program);
    tested.insert(name);
    const std::string made = ir::print(*program);
    if (rewrite) {
      std::ofstream(file.path()) << text.substr(0, after) << "==== after\n" << made;
      continue;
    }
    ASSERT_NE(after, std::string::npos);
    EXPECT_EQ(text.substr(after + std::string_view("==== after\n").size()), made);
  }
  for (const auto& [name, pass] : all_passes()) EXPECT_TRUE(tested.contains(name)) << name;
}

}  // namespace
}  // namespace kenaz::passes

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  kenaz::passes::rewrite = argc > 1 && std::string_view(argv[1]) == "--rewrite";
  return RUN_ALL_TESTS();
}
