// Printing types as Futhark writes them.
#include "kernels/futhark/core/type_util.h"
#include "protocol/base/overloaded.h"

namespace kenaz::core {

namespace {

template <class Id>
std::string name_of(Id id, const std::vector<std::string>* table) {
  if (table && id.index < table->size()) return (*table)[id.index];
  return "?" + std::to_string(id.index);
}

std::string infix_name(Intrinsic op) {
  switch (op) {
#define INTRINSIC(e, name, constraint, type) \
  case Intrinsic::e:                         \
    return name;
#include "kernels/futhark/core/intrinsics.def"
#undef INTRINSIC
  }
  return "?";
}

bool is_symbol(const std::string& s) {
  return !s.empty() && std::string_view("+-*/%&|^<>=!").find(s[0]) != std::string_view::npos;
}

std::string exp_str(const ExpPtr& e, const Names& names, bool atom) {
  auto wrap = [&](std::string s) { return atom ? "(" + s + ")" : s; };
  return std::visit(
      Overloaded{[&](const ELit& l) { return std::to_string(l.value.as_i64()); },
                 [&](const EVar& v) { return name_of(v.id, names.vars); },
                 [&](const EIntrinsic& i) { return infix_name(i.op); },
                 [&](const EProject& p) { return exp_str(p.record, names, true) + "." + p.field; },
                 [&](const EApply& a) {
                   std::string fun = exp_str(a.fun, names, true);
                   if (is_symbol(fun) && a.args.size() == 2) {
                     return wrap(exp_str(a.args[0], names, true) + " " + fun + " " +
                                 exp_str(a.args[1], names, true));
                   }
                   for (const auto& arg : a.args) fun += " " + exp_str(arg, names, true);
                   return wrap(fun);
                 },
                 [](const auto&) { return std::string("..."); }},
      e->node);
}

// Precedence: 0 anything, 1 argument of an arrow, 2 sum payload or array element.
std::string type_text(const TypePtr& t, const Names& names, int prec);

std::string record_text(const TRecord& r, const Names& names) {
  const bool tuple = is_tuple(r);
  std::string s = tuple ? "(" : "{";
  for (size_t i = 0; i < r.fields.size(); i++) {
    if (i) s += ", ";
    if (!tuple) s += r.fields[i].first + ": ";
    s += type_text(r.fields[i].second, names, 0);
  }
  return s + (tuple ? ")" : "}");
}

std::string sum_text(const TSum& sum, const Names& names, int prec) {
  std::string s;
  for (const auto& [name, payload] : sum.constructors) {
    if (!s.empty()) s += " | ";
    s += "#" + name;
    for (const auto& p : payload) s += " " + type_text(p, names, 2);
  }
  return prec > 0 ? "(" + s + ")" : s;
}

std::string arrow_text(const TArrow& a, const Names& names, int prec) {
  std::string from = type_text(a.from, names, 1);
  if (a.consumes && !a.from->unique) from = "*" + from;
  if (a.param.valid() && names.sizes) {
    from = "(" + name_of(a.param, names.vars) + ": " + type_text(a.from, names, 0) + ")";
  }
  std::string to;
  if (!a.ext.empty() && names.sizes) {
    to = "?";
    for (VarId v : a.ext) to += "[" + name_of(v, names.vars) + "]";
    to += ".";
  }
  to += type_text(a.to, names, 0);
  std::string s = from + " -> " + to;
  return prec > 0 ? "(" + s + ")" : s;
}

std::string abstract_text(const TAbstract& a, const Names& names, int prec) {
  std::string s = "?abstract";
  if (names.abstract_types && a.id.index < names.abstract_types->size()) {
    s = (*names.abstract_types)[a.id.index].name;
  }
  if (names.abstract_names && a.id.index < names.abstract_names->size()) {
    const std::string& better = (*names.abstract_names)[a.id.index];
    if (!better.empty()) s = better;
  }
  bool args = false;
  for (const auto& arg : a.args) {
    if (const auto* type = std::get_if<TypePtr>(&arg)) {
      s += " " + type_text(*type, names, 2);
      args = true;
    } else if (names.sizes) {
      s += " [" + str(std::get<Size>(arg), names) + "]";
      args = true;
    }
  }
  return args && prec > 1 ? "(" + s + ")" : s;
}

std::string type_text(const TypePtr& t, const Names& names, int prec) {
  std::string s = std::visit(
      Overloaded{
          [](const TPrim& p) { return std::string(prim_name(p.prim)); },
          [&](const TParam& p) { return name_of(p.id, names.tyvars); },
          [&](const TMeta& m) { return names.metas ? "t" + std::to_string(m.id.index) : "_"; },
          [&](const TArray& a) {
            return "[" + (names.sizes ? str(a.dim, names) : "") + "]" + type_text(a.elem, names, 2);
          },
          [&](const TRecord& r) { return record_text(r, names); },
          [&](const TSum& sum) { return sum_text(sum, names, prec); },
          [&](const TArrow& a) { return arrow_text(a, names, prec); },
          [&](const TAbstract& a) { return abstract_text(a, names, prec); }},
      t->node);
  return t->unique && names.sizes ? "*" + s : s;
}

}  // namespace

std::string str(const Size& s, const Names& names) {
  switch (s.kind) {
    case Size::kConst: return std::to_string(s.constant);
    case Size::kVar: return name_of(s.var, names.vars);
    case Size::kExp: return exp_str(s.exp, names, false);
    default: return "";
  }
}

std::string str(const TypePtr& t, const Names& names) { return type_text(t, names, 0); }

}  // namespace kenaz::core
