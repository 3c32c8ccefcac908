#include "kernels/futhark/check/suggest.h"

#include <algorithm>
#include <array>

#include "protocol/base/nearest.h"

namespace kenaz::check {

using core::TArrow;
using core::TPrim;

namespace {

constexpr size_t kMaxSuggestions = 3;
constexpr size_t kLongestArgument = 100;  // characters; a hint that repeats more helps nobody

bool is_word(const std::string& name) {
  const char c = name.empty() ? '_' : name[0];
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::string did_you_mean(const std::vector<std::string>& words) {
  std::string text;
  const size_t n = std::min(words.size(), kMaxSuggestions);
  for (size_t i = 0; i < n; i++) {
    text += i == 0 ? "\nDid you mean " : i + 1 == n ? " or " : ", ";
    text += "\"" + words[i] + "\"";
  }
  return n ? text + "?" : "";
}

std::string did_you_mean(const std::string& word) {
  return word.empty() ? "" : did_you_mean(std::vector<std::string>{word});
}

/// What other languages call a primitive type, or an operator.
std::string foreign(const std::string& name) {
  static constexpr std::array<std::array<const char*, 2>, 16> kWords = {{{"int", "i32"},
                                                                         {"Int", "i32"},
                                                                         {"integer", "i32"},
                                                                         {"long", "i64"},
                                                                         {"uint", "u32"},
                                                                         {"byte", "u8"},
                                                                         {"char", "u8"},
                                                                         {"usize", "i64"},
                                                                         {"float", "f32"},
                                                                         {"double", "f64"},
                                                                         {"half", "f16"},
                                                                         {"boolean", "bool"},
                                                                         {"Bool", "bool"},
                                                                         {"string", "[]u8"},
                                                                         {"===", "=="},
                                                                         {"<>", "!="}}};
  for (const auto& [word, ours] : kWords) {
    if (name == word) return ours;
  }
  return "";
}

/// Text that can stand as an argument.
std::string as_argument(const syntax::Exp& e) {
  std::string text = syntax::pretty(e);
  const bool atom = text.find(' ') == std::string::npos || text[0] == '[' || text[0] == '(';
  return atom ? text : "(" + text + ")";
}

template <class T>
void add_names(const NameMap<T>& map, uint32_t stamp, bool outside, std::vector<std::string>& out) {
  const size_t start = out.size();
  for (const auto& [name, versions] : map) {
    const bool visible =
        std::any_of(versions.entries.begin(), versions.entries.end(),
                    [&](const auto& e) { return e.stamp <= stamp && !(outside && e.local); });
    if (visible && is_word(name)) out.push_back(name);
  }
  std::sort(out.begin() + static_cast<std::ptrdiff_t>(start), out.end());
}

}  // namespace

template <class T>
std::vector<std::string> Hints::names_in_scope(NameMap<T> Env::*map) const {
  std::vector<std::string> names;
  for (auto it = lookup_.here().locals.rbegin(); it != lookup_.here().locals.rend(); ++it) {
    const bool wanted = std::is_same_v<T, ValBinding>    ? it->val != nullptr
                        : std::is_same_v<T, TypeBinding> ? it->type != nullptr
                                                         : false;
    if (wanted && is_word(it->name)) names.push_back(it->name);
    if (it->opened) add_names(it->opened->*map, scopes_.stamp(), true, names);
  }
  for (EnvRef ref = lookup_.here().env; ref.env; ref = ref.env->parent) {
    add_names(ref.env->*map, ref.stamp, false, names);
  }
  std::erase(names, "intrinsics");
  return names;
}

/// Those of the modules in scope that have a value of this name, the usual number types' first.
std::vector<std::string> Hints::modules_with(const std::string& name) {
  std::vector<std::string> modules = {"i32", "i64", "f32", "f64"};
  for (std::string& m : names_in_scope(&Env::mods)) {
    if (std::find(modules.begin(), modules.end(), m) == modules.end()) {
      modules.push_back(std::move(m));
    }
  }
  std::erase_if(modules, [&](const std::string& m) {
    ModBinding* module = Scopes::find_scoped(&Env::mods, lookup_.here().env, m);
    if (!module) return true;
    if (module->state == ModBinding::State::kLazy && prim_from_name(m)) lookup_.force(*module);
    if (module->state != ModBinding::State::kReady || !module->mod.env) return true;
    return scopes_.find_outside(module->mod.env->vals, name) == nullptr;
  });
  return modules;
}

std::string Hints::suggest_value(const syntax::QualName& name, size_t used) {
  if (reports_.failed()) return "";
  if (name.name == "=>") return "\nFunctions are written \"\\x -> x\", cases \"case x -> x\".";
  const auto word = [&](size_t i) { return i < name.quals.size() ? name.quals[i] : name.name; };
  std::string rest;  // of the name, behind what is unknown
  for (size_t i = used; i <= name.quals.size(); i++) rest += "." + word(i);
  if (used > 1) {  // unknown in a module
    std::string module;
    for (size_t i = 0; i + 1 < used; i++) module += word(i) + ".";
    std::vector<std::string> names;
    const Env* env = lookup_.module_of(name.quals, used - 1);
    if (env) add_names(env->vals, scopes_.stamp(), true, names);
    if (const std::string near = nearest(word(used - 1), names); !near.empty()) {
      return did_you_mean(module + near + rest);
    }
  }
  const std::string& unknown = word(used - 1);
  if (std::string below = defined_below(name); !below.empty()) return below;
  if (std::string ours = foreign(unknown); !ours.empty()) return did_you_mean(ours);
  std::vector<std::string> elsewhere = modules_with(unknown);
  if (!elsewhere.empty()) {
    for (std::string& m : elsewhere) m += "." + unknown + rest;
    return did_you_mean(elsewhere);
  }
  if (used > 1) return "";
  std::vector<std::string> names = names_in_scope(&Env::vals);
  if (!rest.empty()) {
    for (std::string& m : names_in_scope(&Env::mods)) names.push_back(std::move(m));
  }
  const std::string near = nearest(unknown, names);
  if (!near.empty()) return did_you_mean(near + rest);
  return rest.empty() ? ""
                      : "\nThere is no module \"" + unknown +
                            "\" here: a module of another file is known after an import of it.";
}

std::string Hints::suggest_type(const syntax::QualName& name) {
  if (reports_.failed()) return "";
  if (!name.quals.empty()) {
    const Env* env = lookup_.module_of(name.quals, name.quals.size());
    std::vector<std::string> names;
    if (env) add_names(env->types, scopes_.stamp(), true, names);
    std::string near = nearest(name.name, names);
    if (near.empty()) return "";
    for (auto q = name.quals.rbegin(); q != name.quals.rend(); ++q) near = *q + "." + near;
    return did_you_mean(near);
  }
  if (std::string ours = foreign(name.name); !ours.empty()) return did_you_mean(ours);
  return did_you_mean(nearest(name.name, names_in_scope(&Env::types)));
}

std::string Hints::suggest_module(const std::string& name) {
  if (reports_.failed()) return "";
  return did_you_mean(nearest(name, names_in_scope(&Env::mods)));
}

std::string Hints::suggest_function(const std::string& field, const TypePtr& type,
                                    const std::string& value) {
  if (std::holds_alternative<core::TRecord>(vars_.resolve(type)->node)) return "";
  size_t used = 0;
  return lookup_.look_up_value({{}, field, {}}, &used) ? did_you_mean(field + " " + value) : "";
}

std::string suggest_field(const std::string& field, const core::TRecord& record) {
  std::vector<std::string> names;
  for (const auto& f : record.fields) names.push_back(f.first);
  return did_you_mean(nearest(field, names));
}

/// Where in the same file the unknown name is defined later.
std::string Hints::defined_below(const syntax::QualName& name) const {
  if (!name.quals.empty()) return "";
  for (const auto& [key, file] : files_) {
    for (const auto& dec : file->program.decs) {
      const auto* d = std::get_if<syntax::DecVal>(&dec->node);
      if (!d || d->name != name.name || d->name_range.file != name.range.file) continue;
      if (d->name_range.begin <= name.range.begin) continue;
      return "\nIt is defined at " + d->name_range.str() +
             ", but only what stands before a definition is known there.";
    }
  }
  return "";
}

/// For an argument that does not have the type that it should.
std::string Hints::suggest_argument(const std::string& fun, const TypePtr& expected,
                                    const TypePtr& actual, const syntax::Exp& arg,
                                    const syntax::Exp* next) {
  if (syntax::pretty(arg).size() > kLongestArgument) return "";
  const TypePtr wanted = vars_.resolve(expected), given = vars_.resolve(actual);
  const auto* tuple = std::get_if<syntax::ETuple>(&arg.node);
  if (tuple && tuple->elems.size() > 1 && !std::holds_alternative<core::TRecord>(wanted->node)) {
    std::string call = fun;
    for (const auto& e : tuple->elems) call += " " + as_argument(*e);
    return "\nArguments stand one behind the other: \"" + call + "\".";
  }
  const bool wants_function = std::holds_alternative<TArrow>(wanted->node);
  const auto* parens = std::get_if<syntax::EParens>(&arg.node);
  const auto* minus = parens ? std::get_if<syntax::ENegate>(&parens->inner->node) : nullptr;
  if (minus && wants_function) {
    const std::string number = as_argument(*minus->operand);
    return "\n\"(-" + number + ")\" is a number; \"(\\x -> x - " + number + ")\" subtracts.";
  }
  // f -x, reduce + 0 xs
  const bool is_operator = !fun.empty() && !is_word(fun) && fun[0] != '(' && fun[0] != '\\';
  if (is_operator && next && std::holds_alternative<TArrow>(given->node) && !wants_function) {
    const std::string call = syntax::pretty(arg), operand = syntax::pretty(*next);
    if (call.size() + operand.size() > kLongestArgument) return "";
    if (fun == "-") {
      return "\nA negative argument stands in parentheses: \"" + call + " (-" + operand + ")\".";
    }
    return "\nAn operator that is an argument stands in parentheses: \"" + call + " (" + fun +
           ") " + operand + "\".";
  }
  return suggest_value_of_type(expected, actual, arg);
}

/// A conversion, or the arguments that are missing.
std::string Hints::suggest_value_of_type(const TypePtr& expected, const TypePtr& actual,
                                         const syntax::Exp& source) {
  if (syntax::pretty(source).size() > kLongestArgument) return "";
  const TypePtr wanted = vars_.resolve(expected), given = vars_.resolve(actual);
  if (std::holds_alternative<TArrow>(given->node)) {
    size_t missing = 0;
    TypePtr t = given;
    for (; const auto* a = std::get_if<TArrow>(&t->node); t = vars_.resolve(a->to)) missing++;
    if (t->node.index() != wanted->node.index()) return "";
    return "\nThis is a function of " + std::to_string(missing) + " more argument" +
           (missing == 1 ? "" : "s") + ".";
  }
  const auto* to = std::get_if<TPrim>(&wanted->node);
  const auto* from = std::get_if<TPrim>(&given->node);
  std::string map;
  const auto* to_array = std::get_if<core::TArray>(&wanted->node);
  const auto* from_array = std::get_if<core::TArray>(&given->node);
  if (to_array && from_array) {
    to = std::get_if<TPrim>(&vars_.resolve(to_array->elem)->node);
    from = std::get_if<TPrim>(&vars_.resolve(from_array->elem)->node);
    map = "map ";
  }
  if (!to || !from || to->prim == from->prim) return "";
  if (to->prim == PrimType::kBool || from->prim == PrimType::kBool) return "";
  const std::string module(prim_name(to->prim)), name(prim_name(from->prim));
  const auto with = modules_with(name);
  if (std::find(with.begin(), with.end(), module) == with.end()) return "";
  return "\nTo convert it: \"" + map + module + "." + name + " " + as_argument(source) + "\".";
}

}  // namespace kenaz::check
