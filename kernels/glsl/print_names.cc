#include "kernels/glsl/print_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "kernels/glsl/print_head.h"
#include "kernels/glsl/types.h"
#include "protocol/base/check.h"

namespace kenaz::glsl {

using kir::ValId;
using kir::Value;

namespace {
/// Longer expressions get a variable of their own.
constexpr size_t kLongExpression = 60;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
}  // namespace

bool is_operand_text(const std::string& text) {
  size_t at = 0;
  while (at < text.size() && (is_word(text[at]) || text[at] == '.')) at++;
  if (at == text.size()) return true;
  if (text[at] != '(') return false;
  int depth = 0;
  for (; at < text.size(); at++) {
    if (text[at] == '(') depth++;
    if (text[at] == ')' && --depth == 0) break;
  }
  return at + 1 == text.size();
}

Names::Names(const kir::Kernel& kernel, const Facts& facts, Text& out)
    : kernel_(kernel),
      facts_(facts),
      out_(out),
      values_(kernel.vals.size()),
      variables_(kernel.vars.size()) {}

std::string Names::fresh(char prefix) { return fmt::format("{}{}", prefix, numbers_[prefix]++); }

// No word of GLSL, and none of those that this folder prints, ends in an underscore.
std::string Names::like(const std::string& name) {
  std::string s;
  for (char c : name) {
    const char word = is_word(c) ? c : '_';
    if (word != '_' || (!s.empty() && s.back() != '_')) s += word;
  }
  if (s.empty() || std::isdigit(static_cast<unsigned char>(s[0])) != 0) s = "n" + s;
  if (s.starts_with("gl_")) s = "n" + s;
  if (s.back() == '_') s.pop_back();
  std::string unique = s + "_";
  for (int n = 2; !taken_.insert(unique).second; n++) unique = fmt::format("{}_{}_", s, n);
  return unique;
}

std::string Names::local(kir::Type type, const std::string& value) {
  std::string name = fresh('t');
  out_.line(fmt::format("{} {} = {};", glsl_type(type), name, value));
  return name;
}

void Names::define(ValId v, Expr e) {
  const int uses = facts_.uses(v);
  if (uses == 0) return;
  if (uses == 1 && e.text.size() <= kLongExpression) {
    pending_.push_back({v.index, std::move(e), uses, false});
    return;
  }
  bind(v, local(kernel_.vals[v.index], e.text));
}

void Names::define_copy(ValId v, Expr e) {
  if (const int uses = facts_.uses(v); uses > 0) {
    pending_.push_back({v.index, std::move(e), uses, true});
  }
}

Expr Names::take(const Value& v) {
  if (v.is_const()) return {literal(v.constant()), true, {}};
  for (auto it = pending_.begin(); it != pending_.end(); ++it) {
    if (it->value != v.id().index) continue;
    Expr e = it->e;
    if (--it->uses == 0) pending_.erase(it);
    return e;
  }
  CHECK(!values_[v.id().index].empty());
  return {values_[v.id().index], true, {}};
}

std::string Names::operand(const Value& v, std::set<uint32_t>& reads) {
  Expr e = take(v);
  reads.merge(e.reads);
  return e.is_operand ? std::move(e.text) : "(" + e.text + ")";
}

std::string Names::stable(const Value& v) {
  if (v.is_const()) return literal(v.constant());
  for (size_t k = 0; k < pending_.size(); k++) {
    if (pending_[k].value != v.id().index) continue;
    // A copy may come from a block around this one, behind which the local variable is not seen.
    if (pending_[k].is_copy) return local(v.type, take(v).text);
    settle(k);
    break;
  }
  CHECK(!values_[v.id().index].empty());
  return values_[v.id().index];
}

void Names::settle(size_t k) {
  const Pending p = std::move(pending_[k]);
  pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(k));
  bind(ValId{p.value}, local(kernel_.vals[p.value], p.e.text));
}

void Names::settle_before(const kir::Inst& inst) {
  const std::set<uint32_t> assigned = assigned_by(inst);
  const bool is_assignment = std::holds_alternative<kir::IAssign>(inst.op);
  for (size_t k = 0; k < pending_.size();) {
    const Pending& p = pending_[k];
    const bool changes = std::any_of(p.e.reads.begin(), p.e.reads.end(),
                                     [&](uint32_t v) { return assigned.count(v) != 0; });
    if (changes || (!is_assignment && !p.is_copy)) {
      settle(k);
    } else {
      k++;
    }
  }
}

}  // namespace kenaz::glsl
