// program_fuzz: random programs, run in every way; see README.md.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>

#include "protocol/data/text_format.h"
#include "tests/fuzz/program/generator.h"
#include "tests/fuzz/program/shrink.h"
#include "tests/fuzz/program/worker.h"

using namespace kenaz;
using namespace kenaz::fuzz;

namespace {

struct Options {
  uint64_t seed = 1;
  double seconds = 0;
  int64_t programs = 0;
  std::string out = "findings";
  std::vector<std::string> stages = {"passes", "device", "poisoned"};
  std::vector<std::string> avoid;
  int time_limit = 120;
  int tries = 600;
  bool print = false;
  OracleOptions oracle;
  GeneratorOptions generator;
};

Job job_of(const Case& c) {
  return {text_of(c.program), c.inputs, c.program.tolerant, c.program.slopes};
}

std::string commented(const std::string& text) {
  std::string out = "-- ";
  for (const char ch : text) {
    out += ch;
    if (ch == '\n') out += "-- ";
  }
  return out + "\n";
}

std::string input_text(const Input& input) {
  std::string text = "-- ==\n-- input {";
  for (const auto& value : input) text += " " + data::to_text(value);
  return text + " }\n";
}

class Fuzzer {
 public:
  explicit Fuzzer(Options options)
      : options_(std::move(options)), worker_(options_.oracle, options_.time_limit) {}

  int run() {
    const auto start = std::chrono::steady_clock::now();
    const auto elapsed = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    for (uint64_t i = 0;; ++i) {
      if (options_.programs > 0 && i >= static_cast<uint64_t>(options_.programs)) break;
      if (options_.seconds > 0 && elapsed() >= options_.seconds) break;
      one(options_.seed + i);
    }
    fmt::print("{} programs in {:.0f} s: {} agreed, {} skipped, {} findings, {} different ones\n",
               agreed_ + skipped_ + findings_, elapsed(), agreed_, skipped_, findings_,
               known_.size());
    fmt::print("{} calls, of which {} fail and {} take too long\n", calls_, failed_, limited_);
    for (const auto& [reason, count] : reasons_) fmt::print("  skipped {}: {}\n", count, reason);
    return findings_ == 0 ? 0 : 1;
  }

 private:
  void one(uint64_t seed) {
    Generator generator(seed * 0x9E3779B97F4A7C15ull, options_.generator);
    const Case c = generator.make_case();
    if (options_.print) {
      std::cout << text_of(c.program) << input_text(c.inputs[0]);
      return;
    }
    const Verdict v = worker_.judge(job_of(c));
    calls_ += v.calls;
    failed_ += v.failed;
    limited_ += v.limited;
    if (v.kind == Verdict::kAgreed) ++agreed_;
    if (v.kind == Verdict::kSkipped) {
      ++skipped_;
      ++reasons_[without_numbers(v.detail.substr(0, v.detail.find('\n', v.detail.find('\n') + 1)))];
    }
    if (v.kind != Verdict::kFinding) return;
    ++findings_;
    report(c, v, seed);
  }

  void report(const Case& c, const Verdict& v, uint64_t seed) {
    fmt::print("seed {}: {}: {}\n", seed, v.stage, v.what);
    std::fflush(stdout);
    // Shrinking what is known already would take the time for something new.
    if (known_[v.what]++ >= 6) return;
    Verdict last = v;
    const Case small = shrink(
        c,
        [&](const Case& smaller) {
          const Verdict now = worker_.judge(job_of(smaller));
          if (now.kind != Verdict::kFinding || now.what != v.what) return false;
          if (now.stage.starts_with("device") != v.stage.starts_with("device")) return false;
          last = now;
          return true;
        },
        options_.tries);
    std::filesystem::create_directories(options_.out);
    const auto path = std::filesystem::path(options_.out) / fmt::format("seed_{}.fut", seed);
    std::ofstream(path) << commented(fmt::format("{}: {}\n{}", last.stage, last.what, last.detail))
                        << input_text(small.inputs[0]) << text_of(small.program);
    fmt::print("  {}: {}\n{}", path.string(), last.detail.substr(0, 300), "");
    fmt::print("\n{}\n", text_of(small.program));
    std::fflush(stdout);
  }

  Options options_;
  Worker worker_;
  int64_t calls_ = 0, failed_ = 0, limited_ = 0;
  int64_t agreed_ = 0, skipped_ = 0, findings_ = 0;
  std::map<std::string, int> known_, reasons_;
};

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app("Random Futhark programs: the reference evaluator, every pass and the device agree");
  app.add_option("--seed", o.seed, "The first program's; the next ones' follow");
  app.add_option("--seconds", o.seconds, "Stop then");
  app.add_option("--programs", o.programs, "Stop after so many");
  app.add_option("--device", o.oracle.device,
                 "As in kenaz-server --device; interpreter finds races, too");
  app.add_option("--threads", o.oracle.device_threads, "As in kenaz-server --threads");
  app.add_option("--out", o.out, "Folder for findings");
  app.add_option("--stages", o.stages,
                 "What is compared with the reference: passes, device, poisoned")
      ->delimiter(',');
  app.add_option("--avoid", o.avoid, "Productions that are not used")->delimiter(',');
  app.add_option("--fuel", o.generator.fuel, "About how large programs are");
  app.add_option("--tries", o.tries, "How often a finding may be run to make it smaller");
  app.add_option("--time-limit", o.time_limit, "Seconds that one program may take");
  app.add_flag("--slopes", o.generator.slopes,
               "Functions of f64: reverse mode, forward mode and differences agree");
  app.add_flag("--print", o.print, "Print the programs, run nothing");
  CLI11_PARSE(app, argc, argv);
  o.oracle.stages = {o.stages.begin(), o.stages.end()};
  o.generator.avoid = {o.avoid.begin(), o.avoid.end()};
  if (o.seconds <= 0 && o.programs <= 0) o.programs = 1;
  return Fuzzer(std::move(o)).run();
}
