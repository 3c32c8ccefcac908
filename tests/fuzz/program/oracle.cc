#include "tests/fuzz/program/oracle.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "kernels/compiler.h"
#include "kernels/ir/print.h"
#include "kernels/ir/validate.h"
#include "kernels/passes/passes.h"
#include "protocol/data/compare.h"
#include "protocol/data/text_format.h"
#include "server/device/interpreter/interpreter_device.h"
#include "server/device/vulkan/vulkan_device.h"
#include "server/host/device_engine.h"
#include "server/host/device_target.h"
#include "server/host/reference_engine.h"
#include "tests/fuzz/program/slopes.h"

namespace kenaz::fuzz {
namespace {

constexpr std::chrono::seconds kReferenceTime(4), kDeviceTime(20);

bool is_limit(const Error& e) {
  return e.kind == ErrorKind::kOutOfMemory || e.message.find("took longer") != std::string::npos ||
         e.message.find("iterations in one thread") != std::string::npos;
}

Result<Oracle::Outcome> call(host::Engine& engine, const Input& input) {
  std::vector<host::LeafPtr> args;
  for (const auto& value : input) {
    KENAZ_ASSIGN(auto leaf, engine.put(value));
    args.push_back(std::move(leaf));
  }
  Oracle::Outcome outcome;
  auto results = engine.call("main", args);
  if (!results) {
    outcome.skipped = is_limit(results.error());
    if (!outcome.skipped && results.error().kind != ErrorKind::kProgramFailure) {
      return tl::make_unexpected(results.error());
    }
    outcome.failure = results.error().message;
    return outcome;
  }
  for (const auto& leaf : *results) {
    KENAZ_ASSIGN(auto value, engine.get(*leaf));
    outcome.values.push_back(std::move(value));
  }
  return outcome;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Bit by bit, NaNs equal. Nothing if they are the same.
std::optional<std::string> difference(const data::Value& expected, const data::Value& got) {
  if (expected.type != got.type || expected.shape != got.shape) {
    return "expected " + data::to_text(expected) + "\ngot      " + data::to_text(got);
  }
  for (int64_t i = 0; i < expected.count(); ++i) {
    const PrimValue a = expected.at(i);
    const PrimValue b = got.at(i);
    if (a == b) continue;
    if (is_float(a.type) && a.as_double() != a.as_double() && b.as_double() != b.as_double()) {
      continue;
    }
    return "element " + std::to_string(i) + ": expected " + data::scalar_text(a) + ", got " +
           data::scalar_text(b);
  }
  return {};
}

}  // namespace

std::string without_numbers(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) {
      out += c;
    } else if (out.empty() || out.back() != '#') {
      out += '#';
    }
  }
  return out;
}

/// One job on its way through the stages.
class Oracle::Run {
 public:
  Run(Oracle& oracle, const Job& job, const std::function<void(const std::string&)>& progress)
      : oracle_(oracle), job_(job), progress_(progress) {}

  Verdict run() {
    auto lowered = front_end();
    if (!lowered) return std::move(verdict_);
    lowered_ = lowered;
    if (job_.slopes) {
      // The evaluator needs derivatives to be made: what a program means shows in its results.
      expected_.resize(job_.inputs.size());
      verdict_.calls = static_cast<int>(job_.inputs.size());
      if (passes(*lowered) && (wanted("device") || wanted("poisoned"))) device(*lowered);
      return std::move(verdict_);
    }
    begin("reference");
    auto engine = reference(*lowered);
    if (!engine) return refused(engine.error());
    for (const Input& input : job_.inputs) {
      auto outcome = call(**engine, input);
      if (!outcome) return finding(error_kind(outcome.error()), outcome.error().text());
      ++verdict_.calls;
      if (outcome->failure && !outcome->skipped) ++verdict_.failed;
      if (outcome->skipped) ++verdict_.limited;
      expected_.push_back(std::move(*outcome));
    }
    if (!passes(*lowered)) return std::move(verdict_);
    if (wanted("device") || wanted("poisoned")) device(*lowered);
    return std::move(verdict_);
  }

 private:
  bool wanted(const char* stage) const { return oracle_.options_.stages.count(stage) > 0; }
  void begin(const std::string& stage) {
    verdict_.stage = stage;
    progress_(stage);
  }
  Verdict finding(std::string what, std::string detail) {
    verdict_.kind = Verdict::kFinding;
    verdict_.what = std::move(what);
    verdict_.detail = std::move(detail);
    return verdict_;
  }
  static std::string error_kind(const Error& e) {
    return "error: " + without_numbers(first_line(e.message)).substr(0, 80);
  }
  /// An error before anything ran. A construct that is not supported yet, by name, is no finding.
  Verdict refused(const Error& e) {
    const bool named =
        e.kind == ErrorKind::kCompile && (e.message.find("not supported") != std::string::npos ||
                                          e.message.find("too large") != std::string::npos);
    if (e.kind == ErrorKind::kProgramFailure || named) {
      verdict_.kind = Verdict::kSkipped;
      verdict_.what = "refused";
      verdict_.detail = e.text();
      return verdict_;
    }
    // The first line of a diagnostic is its place.
    std::string line = e.message;
    if (e.kind == ErrorKind::kCompile) line = line.substr(line.find('\n') + 1);
    return finding("refusal: " + without_numbers(first_line(line)).substr(0, 80), e.text());
  }

  std::optional<compiler::Lowered> front_end() {
    begin("check");
    compiler::FrontEndOptions options;
    options.read = [this](const std::string& path) -> Result<std::string> {
      if (path == "fuzz.fut") return job_.text;
      return fail(ErrorKind::kNoSuchFile, "there is no such file");
    };
    const auto checked = compiler::front_end("fuzz.fut", options);
    if (!checked) {
      refused(checked.error());
      return {};
    }
    begin("lower");
    auto lowered = compiler::lower(*checked);
    if (!lowered) {
      refused(lowered.error());
      return {};
    }
    if (!valid(lowered->ir)) return {};
    return std::move(*lowered);
  }

  bool valid(const ir::Program& p) {
    const auto status = ir::validate(p);
    if (status) return true;
    finding("invalid IR: " + without_numbers(first_line(status.error().message)).substr(0, 60),
            status.error().text());
    return false;
  }

  static Result<std::unique_ptr<host::Engine>> reference(const compiler::Lowered& lowered) {
    KENAZ_ASSIGN(auto engine, host::make_reference_engine(lowered));
    engine->set_call_timeout(kReferenceTime);
    return engine;
  }

  bool passes(compiler::Lowered& lowered) {
    const bool each = wanted("passes");
    std::vector<std::pair<std::string, ir::Program>> steps;
    std::string last;
    int number = 0;
    bool derived = !job_.slopes;
    begin("optimise");
    const auto observe = [&](const char* pass, const ir::Program& p) {
      std::string text = ir::print(p);
      derived = derived || std::string(pass) == "differentiate";
      if (each && derived && number > 0 && text != last) {
        steps.emplace_back("pass " + std::to_string(number) + " " + pass, p);
      }
      last = std::move(text);
      begin("optimise: after " + std::string(pass));
      ++number;
    };
    auto status = compiler::optimise(lowered.ir, observe);
    if (status) {
      ir::Program scheduled = lowered.ir;
      status = compiler::schedule(scheduled, observe);
      if (status) status = compiler::place(scheduled, observe);
    }
    if (!status && job_.slopes && status.error().kind == ErrorKind::kCompile) {
      refused(status.error());
      return false;
    }
    if (!status) {
      finding(error_kind(status.error()), status.error().text());
      return false;
    }
    for (auto& [name, program] : steps) {
      begin(name);
      const bool is_reordered = program.stage != ir::Stage::kSoacs;  // sums are, at random
      if (!valid(program)) return false;
      compiler::Lowered step{std::move(program), lowered.entries, lowered.types};
      auto engine = reference(step);
      if (!engine) {
        finding(error_kind(engine.error()), engine.error().text());
        return false;
      }
      if (!agrees(**engine, is_reordered)) return false;
    }
    return true;
  }

  void device(const compiler::Lowered& lowered) {
    begin("device");
    auto device = oracle_.device();
    if (!device) {
      finding(error_kind(device.error()), device.error().text());
      return;
    }
    begin("generate");
    const auto target = host::device_target((*device)->info(), oracle_.options_.device_threads);
    auto program = compiler::generate(lowered, target);
    if (!program) {
      refused(program.error());
      return;
    }
    begin("device");
    auto engine = host::make_device_engine(std::move(*program), *device);
    if (!engine) {
      finding(error_kind(engine.error()), engine.error().text());
      return;
    }
    (*engine)->set_call_timeout(kDeviceTime);
    // Filling memory takes barriers, which may hide races: so once without.
    if (wanted("device")) {
      (*device)->set_poison(false);
      if (!agrees(**engine, true)) return;
    }
    if (wanted("poisoned")) {
      begin("device, memory poisoned");
      (*device)->set_poison(true);
      agrees(**engine, true);
    }
  }

  bool agrees(host::Engine& engine, bool tolerate) {
    for (size_t i = 0; i < job_.inputs.size(); ++i) {
      if (expected_[i].skipped) continue;
      const auto outcome = call(engine, job_.inputs[i]);
      const std::string place = "input " + std::to_string(i) + ": ";
      if (!outcome) {
        finding(error_kind(outcome.error()), place + outcome.error().text());
        return false;
      }
      if (outcome->skipped) ++verdict_.limited;
      if (!outcome->skipped && !same(i, *outcome, place, tolerate)) return false;
    }
    return true;
  }

  /// Whether a failure remains where nothing is computed that nobody needs: otherwise the compiler
  /// may drop it. Only simplification shows what is needed (x * 0, a loop that changes nothing);
  /// what it drops wrongly shows all the same, as a value or as an access that the evaluator
  /// refuses.
  bool needed(size_t input) {
    return std::all_of(lean_.begin(), lean_.end(), [&](Lean& lean) {
      if (!lean.engine) lean.engine = lean_engine(lean.hoists);
      if (!lean.engine) return true;
      const auto outcome = call(*lean.engine, job_.inputs[input]);
      return !outcome || outcome->failure;
    });
  }

  std::unique_ptr<host::Engine> lean_engine(bool hoists) {
    compiler::Lowered lean = *lowered_;
    passes::copy_shared(lean.ir);
    for (int i = 0; i < 2; ++i) {
      passes::simplify(lean.ir);
      passes::remove_dead_code(lean.ir);
      if (hoists) passes::hoist(lean.ir);
    }
    auto engine = reference(lean);
    return engine ? std::move(*engine) : nullptr;
  }

  bool same(size_t input, const Outcome& got, const std::string& place, bool tolerate) {
    if (job_.slopes) {
      // Derivatives are there only behind a pass, so the first stage says whether the call fails. A
      // later one may drop a failure that nobody needs.
      const bool fails = fails_.emplace(input, got.failure.has_value()).first->second;
      if (got.failure && !fails) {
        finding("new failure", place + *got.failure);
        return false;
      }
      const auto differs = got.failure ? std::nullopt : slopes_differ(got.values);
      if (!differs) return true;
      finding(differs->substr(0, differs->find(':')), place + *differs);
      return false;
    }
    const Outcome& expected = expected_[input];
    if (expected.failure && got.failure) return true;  // which of several is not determined
    if (expected.failure) {
      if (!needed(input)) return true;
      finding("lost failure", place + "no failure, but " + *expected.failure);
      return false;
    }
    if (got.failure) {
      finding("new failure", place + *got.failure);
      return false;
    }
    for (size_t k = 0; k < expected.values.size(); ++k) {
      auto differs = difference(expected.values[k], got.values.at(k));
      if (differs && tolerate && k < job_.tolerant.size() && job_.tolerant[k]) {
        differs = data::mismatch(expected.values[k], got.values[k]);
      }
      if (!differs) continue;
      finding("value", place + "result " + std::to_string(k) + ": " + *differs);
      return false;
    }
    return true;
  }

  Oracle& oracle_;
  const Job& job_;
  const std::function<void(const std::string&)>& progress_;
  Verdict verdict_;
  std::vector<Outcome> expected_;
  std::map<size_t, bool> fails_;              // by input, of slopes
  std::optional<compiler::Lowered> lowered_;  // before any pass
  /// The program without what nobody needs: as simplification shows it, and once more with what
  /// hoisting does to that. (It leaves branches that are alike; checks that it moves are needed.)
  struct Lean {
    bool hoists;
    std::unique_ptr<host::Engine> engine;  // made when it is asked for
  };
  std::array<Lean, 2> lean_ = {Lean{false, nullptr}, Lean{true, nullptr}};
};

Result<std::shared_ptr<PoisonedDevice>> Oracle::device() {
  if (device_) return device_;
  if (options_.device == "interpreter") {
    device_ = std::make_shared<PoisonedDevice>(device::make_interpreter_device({}));
    return device_;
  }
  device::VulkanOptions options;
  options.device = options_.device;
  KENAZ_ASSIGN(auto device, device::make_vulkan_device(options));
  device_ = std::make_shared<PoisonedDevice>(std::move(device));
  return device_;
}

Verdict Oracle::judge(const Job& job, const std::function<void(const std::string&)>& progress) {
  return Run(*this, job, progress).run();
}

}  // namespace kenaz::fuzz
