// The values and variables of kernel IR as expressions of GLSL: which get a local variable, which
// stand in the expression that uses them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "kernels/glsl/print_facts.h"
#include "kernels/glsl/print_text.h"
#include "kernels/kir/kir.h"

namespace kenaz::glsl {

struct Expr {
  std::string text;
  bool is_operand = true;    // else it needs parentheses where it is an operand
  std::set<uint32_t> reads;  // variables, by VarId
};

/// Whether operators can be put around the text as it is: a name, a literal, a call.
bool is_operand_text(const std::string& text);

class Names {
 public:
  Names(const kir::Kernel& kernel, const Facts& facts, Text& out);

  /// A name that nothing else has: the prefix and a number.
  std::string fresh(char prefix);
  /// A name like the one that the kernel's maker chose; no keyword or function of GLSL has it.
  std::string like(const std::string& name);
  /// Prints a new local variable of that value and gives its name.
  std::string local(kir::Type type, const std::string& value);

  // ---- values
  /// The value has this name from now on, which is a constant while it is visible.
  void bind(kir::ValId v, const std::string& name) { values_[v.index] = name; }
  const std::string& name(kir::ValId v) const { return values_[v.index]; }
  /// The value is `e`, which is worth to be computed once: in a local variable now, or where it is
  /// used, if that is in one place only.
  void define(kir::ValId v, Expr e);
  /// As define, for what costs nothing: it may stand in several places.
  void define_copy(kir::ValId v, Expr e);
  /// The expression to use for an operand, in one place.
  Expr take(const kir::Value& v);
  /// The same with parentheses if it needs them; adds what it reads to `reads`.
  std::string operand(const kir::Value& v, std::set<uint32_t>& reads);
  /// A name or a literal, whose value stays and which may be used in several places.
  std::string stable(const kir::Value& v);

  // ---- variables
  void declare(kir::VarId v) { variables_[v.index] = fresh('v'); }
  /// Gives `v`, which is not declared yet, the name of `other`.
  void make_same(kir::VarId v, kir::VarId other) { variables_[v.index] = variables_[other.index]; }
  const std::string& variable(kir::VarId v) const { return variables_[v.index]; }

  /// Prints local variables for those values that are still to be used and whose expressions could
  /// change or would be computed several times by the instruction that comes next: a loop, a
  /// branch, or an assignment.
  void settle_before(const kir::Inst& inst);

 private:
  struct Pending {
    uint32_t value;
    Expr e;
    int uses;  // that are left
    bool is_copy;
  };
  void settle(size_t k);

  const kir::Kernel& kernel_;
  const Facts& facts_;
  Text& out_;
  std::vector<std::string> values_, variables_;
  std::vector<Pending> pending_;  // in order of definition
  std::map<char, int> numbers_;
  std::set<std::string> taken_;
};

}  // namespace kenaz::glsl
