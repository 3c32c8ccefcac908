#include "tests/fuzz/program/expr.h"

namespace kenaz::fuzz {
namespace {

void print(const Expr& e, std::string& out) {
  for (size_t i = 0; i < e.text.size(); ++i) {
    out += e.text[i];
    if (i < e.children.size()) print(*e.children[i], out);
  }
}

void print(const Function& f, bool entry, std::string& out) {
  out += (entry ? "entry " : "def ") + f.name;
  for (const auto& size : f.sizes) out += " [" + size + "]";
  for (const auto& p : f.params) out += " (" + p.name + ": " + text_of(p.type) + ")";
  if (f.params.empty()) out += " ()";
  out += ": " + text_of(f.result) + " =\n  ";
  print(*f.body, out);
  out += "\n";
}

void collect_free(const Expr& e, std::set<std::string>& out) {
  out.insert(e.uses.begin(), e.uses.end());
  for (size_t i = 0; i < e.children.size(); ++i) {
    std::set<std::string> inner;
    collect_free(*e.children[i], inner);
    for (const Var& v : e.binds[i]) inner.erase(v.name);
    out.insert(inner.begin(), inner.end());
  }
}

void collect_rules(const Expr& e, std::set<std::string>& out) {
  out.insert(e.rule);
  for (const auto& child : e.children) collect_rules(*child, out);
}

}  // namespace

std::string text_of(const Expr& e) {
  std::string out;
  print(e, out);
  return out;
}

std::string text_of(const Program& p) {
  std::string out;
  for (const Type& sum : p.sums) out += declaration(sum);
  for (const auto& decl : p.decls) out += decl;
  for (const Function& f : p.functions) print(f, &f == &p.functions.back(), out);
  return out;
}

std::set<std::string> free_names(const Expr& e) {
  std::set<std::string> names;
  collect_free(e, names);
  return names;
}

size_t size_of(const Expr& e) {
  size_t n = 1;
  for (const auto& child : e.children) n += size_of(*child);
  return n;
}

std::set<std::string> rules_of(const Program& p) {
  std::set<std::string> rules;
  for (const Function& f : p.functions) collect_rules(*f.body, rules);
  return rules;
}

}  // namespace kenaz::fuzz
