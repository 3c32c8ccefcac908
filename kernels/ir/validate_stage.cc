#include <fmt/format.h>

#include <array>
#include <type_traits>

#include "kernels/ir/places.h"
#include "kernels/ir/print.h"
#include "kernels/ir/validate.h"
#include "kernels/ir/visit.h"

namespace kenaz::ir {
namespace {

enum class Where : uint8_t { kHost, kSeg, kLambda };

constexpr size_t kAlternatives = std::variant_size_v<Exp>;

struct Rule {
  std::string_view name;
  bool allowed[2][3];  // by stage (soacs; the others) and place
};

/// In the order of Exp's alternatives.
template <class T, size_t I = 0>
constexpr size_t index_of() {
  if constexpr (std::is_same_v<T, std::variant_alternative_t<I, Exp>>) {
    return I;
  } else {
    return index_of<T, I + 1>();
  }
}

const std::array<Rule, kAlternatives>& rules() {
  static const std::array<Rule, kAlternatives> all = [] {
    std::array<Rule, kAlternatives> r{};
#define EXP(alternative, a, b, c, d, e, f) \
  r[index_of<alternative>()] = {#alternative, {{a, b, c}, {d, e, f}}};
#include "kernels/ir/stages.def"
#undef EXP
    return r;
  }();
  return all;
}

class StageRules {
 public:
  explicit StageRules(const Program& p) : p_(p) {}

  Status run() {
    visit_bodies(p_, [&](const Body& b) { body(b, Where::kHost, nullptr); });
    if (!error_.empty()) return internal_error(error_);
    return {};
  }

 private:
  void problem(const std::string& what, const Stm& s) {
    if (!error_.empty()) return;
    error_ = fmt::format("invalid array IR of stage {}: {}\n  {}", stage_name(p_.stage), what,
                         print_stm(p_, s).substr(0, 2000));
  }

  /// `around`: the ESeg whose body it is (or a branch or loop in that); null elsewhere.
  void body(const Body& b, Where place, const ESeg* around) {
    for (const Stm& s : b.stms) {
      if (error_.empty()) stm(s, place, around);
    }
  }
  void stm(const Stm& s, Where place, const ESeg* around) {
    const Rule& rule = rules()[s.exp.index()];
    const size_t column = p_.stage == Stage::kSoacs ? 0 : 1;
    if (!rule.allowed[column][static_cast<size_t>(place)]) {
      static constexpr const char* kPlaces[] = {"at host level", "in the body of an ESeg",
                                                "in a lambda"};
      return problem(fmt::format("{} {}", rule.name, kPlaces[static_cast<size_t>(place)]), s);
    }
    for (size_t k = 0; k < s.pat.size(); k++) {
      const bool placed = p_.vars[s.pat[k].index].place.has_value();
      if (placed && !(p_.stage == Stage::kMem && place == Where::kHost && makes(p_, s, k))) {
        return problem("a place of what may have none", s);
      }
    }
    const auto* seg = std::get_if<ESeg>(&s.exp);
    if (seg == nullptr) {
      const bool is_control = std::holds_alternative<EIf>(s.exp) ||
                              std::holds_alternative<ELoop>(s.exp) ||
                              std::holds_alternative<EVersions>(s.exp);
      visit_bodies(s.exp, [&](const Body& b) {
        body(b, is_control ? place : Where::kLambda, is_control ? around : nullptr);
      });
      return;
    }
    if (p_.stage == Stage::kSoacs && !is_single(*seg)) {
      return problem("an ESeg with dims", s);
    }
    const bool in_group = around != nullptr && around->level == SegLevel::kGroup;
    if ((place == Where::kSeg && !in_group) || (seg->level == SegLevel::kInGroup) != in_group) {
      return problem(fmt::format("an ESeg of level {} {}", seg_level_name(seg->level),
                                 around == nullptr ? "at host level" : "in the body of another"),
                     s);
    }
    body(seg->body, Where::kSeg, seg);
    visit_lambdas(s.exp, [&](const Lambda& l) { body(l.body, Where::kLambda, nullptr); });
  }

  const Program& p_;
  std::string error_;
};

}  // namespace

Status validate_stage(const Program& p) { return StageRules(p).run(); }

}  // namespace kenaz::ir
