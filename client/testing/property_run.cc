// The run of one property: candidates, and the search for smaller ones.
#include <fmt/format.h>

#include <filesystem>

#include "client/lib/values.h"
#include "client/testing/candidate.h"
#include "client/testing/property.h"
#include "client/testing/split_mix.h"

namespace kenaz::testing {
namespace {

using client::Connection;
using Names = std::vector<std::string>;

constexpr const char* kCandidate = "property_candidate";
constexpr const char* kSmaller = "property_smaller";
constexpr const char* kHolds = "property_holds";
constexpr const char* kSize = "property_size";
constexpr const char* kSeed = "property_seed";

/// How the program itself failed, or an empty string. (A Result's error: the server is gone.)
using Trouble = std::string;

struct Verdict {
  bool holds = false;
  Trouble trouble;
};

data::Value scalar_of(PrimType type, uint64_t n) {
  return data::Value::scalar(PrimValue::of_int(type, static_cast<int64_t>(n)));
}

/// The lines of an error, with an empty one at the end, as a list.
std::string line_list(const std::string& message) {
  std::string text = "[\"";
  for (const char c : message.substr(0, message.find_last_not_of('\n') + 1)) {
    if (c == '\n') {
      text += "\",\"";
    } else {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
  }
  return text + "\",\"\"]";
}

class PropertyRun {
 public:
  PropertyRun(Connection& server, const client::TempDir& scratch, const Property& property,
              const PropertyOptions& options, const std::string& program)
      : server_(server),
        scratch_(scratch),
        property_(property),
        options_(options),
        program_(program),
        random_(options.seed) {}

  Result<std::string> run();
  /// What the run is busy with.
  const std::string& phase() const { return phase_; }

 private:
  int64_t size() const { return property_.size.value_or(options_.size); }
  bool has_generator() const { return !property_.generator.empty(); }
  Status discard(const std::string& variable);
  Status replace_candidate();
  Result<bool> is_candidate(const std::string& variable);
  Result<Trouble> call(const std::string& entry, const std::string& out, const Names& inputs);
  Result<Trouble> generate(const std::string& variable, int64_t size, uint64_t seed);
  Result<Verdict> test(const std::string& variable);
  Result<std::string> report_failure(int tests, uint64_t seed);
  Result<std::string> shrink(uint64_t seed);
  Result<Trouble> shrink_by_size(uint64_t seed);
  Result<Trouble> shrink_by_entry();
  Result<Trouble> shrink_step(bool& smaller);
  Status keep(const Names& variables);

  Connection& server_;
  const client::TempDir& scratch_;
  const Property& property_;
  const PropertyOptions& options_;
  const std::string& program_;
  SplitMix random_;
  std::string phase_;
};

/// Frees a variable that need not exist.
Status PropertyRun::discard(const std::string& variable) {
  const auto freed = server_.request({"free", variable});
  if (!freed && freed.error().kind != ErrorKind::kProgramFailure) KENAZ_TRY(freed);
  return {};
}

Status PropertyRun::replace_candidate() {
  KENAZ_TRY(discard(kCandidate));
  KENAZ_TRY(server_.request({"rename", kSmaller, kCandidate}));
  return {};
}

/// Whether its value is the candidate's.
Result<bool> PropertyRun::is_candidate(const std::string& variable) {
  std::string values[2];
  const std::string file = scratch_.file("candidate");
  for (size_t k = 0; k < 2; ++k) {
    KENAZ_TRY(server_.request({"store", file, k == 0 ? kCandidate : variable}));
    KENAZ_ASSIGN(values[k], client::read_file(file));
  }
  return values[0] == values[1];
}

/// Leaves the variables in a file beside the program.
Status PropertyRun::keep(const Names& variables) {
  const auto stem = std::filesystem::path(program_).replace_extension("").string();
  Names words = {"store", fmt::format("{}_{}.counterexample", stem, property_.name)};
  words.insert(words.end(), variables.begin(), variables.end());
  KENAZ_TRY(server_.request(words));
  return {};
}

Result<Trouble> PropertyRun::call(const std::string& entry, const std::string& out,
                                  const Names& inputs) {
  KENAZ_TRY(discard(out));
  Names words = {"call", entry, out};
  words.insert(words.end(), inputs.begin(), inputs.end());
  const auto called = server_.request(words);
  if (called) return Trouble();
  if (called.error().kind != ErrorKind::kProgramFailure) KENAZ_TRY(called);
  return "Runtime error: " + line_list(called.error().message);
}

Result<Trouble> PropertyRun::generate(const std::string& variable, int64_t size, uint64_t seed) {
  phase_ = fmt::format("in its generator at size={} and seed={}", size, seed);
  KENAZ_TRY(discard(variable));
  if (has_generator()) {
    KENAZ_TRY(client::put_values(
        server_, scratch_, {kSize, kSeed},
        {scalar_of(PrimType::kI64, static_cast<uint64_t>(size)), scalar_of(PrimType::kU64, seed)}));
    KENAZ_ASSIGN(auto trouble, call(property_.generator, variable, {kSize, kSeed}));
    // What the generator fails on is kept, unless a smaller candidate was sought.
    if (!trouble.empty() && variable == kCandidate) KENAZ_TRY(keep({kSize, kSeed}));
    KENAZ_TRY(server_.request({"free", kSize, kSeed}));
    return trouble;
  }
  const auto made = Candidates(server_, scratch_).make(variable, property_.type, size, seed);
  if (made) return Trouble();
  const auto kind = made.error().kind;
  if (kind != ErrorKind::kProgramFailure && kind != ErrorKind::kBadRequest) KENAZ_TRY(made);
  return "Automatic generator failed: " + made.error().message;
}

Result<Verdict> PropertyRun::test(const std::string& variable) {
  phase_ += ", in the property itself";
  Verdict verdict;
  KENAZ_ASSIGN(verdict.trouble, call(property_.name, kHolds, {variable}));
  if (!verdict.trouble.empty()) {
    verdict.trouble = property_.name + " has " + verdict.trouble;
    return verdict;
  }
  KENAZ_ASSIGN(const auto values, client::get_values(server_, scratch_, kHolds));
  if (values.size() != 1) return internal_error("a property's result is not one truth value");
  verdict.holds = values[0].at(0).bits != 0;
  return verdict;
}

/// Tries smaller sizes with the same seed; the last that is a counterexample stays.
Result<Trouble> PropertyRun::shrink_by_size(uint64_t seed) {
  for (int64_t smaller = size() - 1; smaller >= 1; --smaller) {
    KENAZ_ASSIGN(const auto trouble, generate(kSmaller, smaller, seed));
    if (!trouble.empty()) {
      const auto whose =
          has_generator() ? fmt::format("User Generator {} failed: ", property_.generator) : "";
      return "Auto-shrinker generator failed: " + whose + trouble;
    }
    KENAZ_ASSIGN(const auto verdict, test(kSmaller));
    if (!verdict.trouble.empty()) return "Property " + verdict.trouble;
    if (!verdict.holds) KENAZ_TRY(replace_candidate());
  }
  return Trouble();
}

Result<Trouble> PropertyRun::shrink_step(bool& smaller) {
  const uint64_t random = random_.next();
  phase_ = fmt::format("in its shrinker with random={}", random);
  KENAZ_TRY(client::put_values(server_, scratch_, {kSeed}, {scalar_of(PrimType::kU64, random)}));
  KENAZ_ASSIGN(Trouble trouble, call(property_.shrinker, kSmaller, {kCandidate, kSeed}));
  KENAZ_TRY(server_.request({"free", kSeed}));
  if (!trouble.empty()) {
    trouble = fmt::format("{} has {}", property_.shrinker, trouble);
  } else {
    KENAZ_ASSIGN(const auto verdict, test(kSmaller));
    smaller = verdict.trouble.empty() && !verdict.holds;
    if (smaller) {
      KENAZ_ASSIGN(const bool same, is_candidate(kSmaller));
      smaller = !same;
    }
    if (smaller) KENAZ_TRY(replace_candidate());
    if (!verdict.trouble.empty()) trouble = "Property " + verdict.trouble;
  }
  if (trouble.empty()) return trouble;
  return fmt::format("Error in shrinker {} with random={}: {}", property_.shrinker, random,
                     trouble);
}

Result<Trouble> PropertyRun::shrink_by_entry() {
  for (int misses = 0; misses < options_.shrink_tries;) {
    bool smaller = false;
    KENAZ_ASSIGN(auto trouble, shrink_step(smaller));
    if (!trouble.empty()) return trouble;
    misses = smaller ? 0 : misses + 1;
  }
  return Trouble();
}

/// What is to be said of the shrinking, if anything: whole lines.
Result<std::string> PropertyRun::shrink(uint64_t seed) {
  Trouble first;
  if (!property_.shrinker.empty()) {
    KENAZ_ASSIGN(first, shrink_by_entry());
    if (first.empty()) return std::string();
  }
  KENAZ_ASSIGN(const auto second, shrink_by_size(seed));
  if (first.empty()) return second.empty() ? "" : fmt::format("Shrinking failed: {}\n", second);
  return fmt::format(
      "Shrinking note: User shrinker failed: {}\nAttempted auto-shrinker fallback.\n"
      "Auto-shrinker fallback {}\n",
      first, second.empty() ? "completed." : "also failed: " + second);
}

Result<std::string> PropertyRun::report_failure(int tests, uint64_t seed) {
  KENAZ_ASSIGN(const auto note, shrink(seed));
  phase_ = "printing the counterexample";
  KENAZ_TRY(keep({kCandidate}));
  KENAZ_ASSIGN(const auto text, Candidates(server_, scratch_).print(kCandidate, property_.type));
  return fmt::format("Property {} (size={}, seed={}) failed after {} tests:\n{}Counterexample: {}",
                     property_.name, size(), options_.seed, tests, note, text);
}

Result<std::string> PropertyRun::run() {
  for (int tests = 1; tests <= options_.tests; ++tests) {
    const uint64_t seed = random_.next();
    KENAZ_ASSIGN(const auto trouble, generate(kCandidate, size(), seed));
    if (!trouble.empty()) {
      if (!has_generator()) return trouble;
      return fmt::format("User Generator {} failed with size={} and seed={} with error: {}",
                         property_.generator, size(), seed, trouble);
    }
    KENAZ_ASSIGN(const auto verdict, test(kCandidate));
    if (!verdict.trouble.empty()) {
      KENAZ_TRY(keep({kCandidate}));
      KENAZ_ASSIGN(const auto text,
                   Candidates(server_, scratch_).print(kCandidate, property_.type));
      return fmt::format("Property {} failed with candidate={} with error: {}", property_.name,
                         text, verdict.trouble);
    }
    if (!verdict.holds) return report_failure(tests, seed);
  }
  KENAZ_TRY(discard(kCandidate));
  KENAZ_TRY(discard(kHolds));
  return std::string();
}

}  // namespace

Result<std::string> test_property(Connection& server, const client::TempDir& scratch,
                                  const Property& property, const PropertyOptions& options,
                                  const std::string& program) {
  PropertyRun run(server, scratch, property, options, program);
  auto report = run.run();
  if (!report) {
    report.error().context.push_back(
        fmt::format("while testing property {}: {}", property.name, run.phase()));
  }
  return report;
}

}  // namespace kenaz::testing
