// Printing types as Futhark writes them.
#include <fmt/format.h>

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

/// A size expression is printed as an operand (`atom`) in parentheses, where it needs them.
class SizeText {
 public:
  explicit SizeText(const Names& names) : names_(names) {}

  std::string text(const ExpPtr& e, bool atom) const {
    auto wrap = [&](const std::string& s) { return atom ? "(" + s + ")" : s; };
    return std::visit(
        Overloaded{[&](const ELit& l) { return literal(l.value); },
                   [&](const EVar& v) { return name_of(v.id, names_.vars); },
                   [&](const EIntrinsic& i) { return infix_name(i.op); },
                   [&](const EProject& p) { return text(p.record, true) + "." + p.field; },
                   [&](const EApply& a) { return wrap(application(a)); },
                   [&](const EIf& i) { return wrap(choice(i)); },
                   [&](const EIndex& i) { return text(i.array, true) + "[" + list(i.dims) + "]"; },
                   [&](const EArray& a) { return "[" + list(a.elems) + "]"; },
                   [](const auto&) { return std::string("..."); }},
        e->node);
  }

 private:
  static std::string literal(const PrimValue& v) {
    if (v.type == PrimType::kBool) return v.bits ? "true" : "false";
    return is_float(v.type) ? fmt::format("{}", v.as_double()) : std::to_string(v.as_i64());
  }

  std::string application(const EApply& a) const {
    std::string fun = text(a.fun, true);
    if (is_symbol(fun) && a.args.size() == 2) {
      return text(a.args[0], true) + " " + fun + " " + text(a.args[1], true);
    }
    for (const auto& arg : a.args) fun += " " + text(arg, true);
    return fun;
  }

  /// The operators && and || are conditionals, too.
  std::string choice(const EIf& i) const {
    auto is = [](const ExpPtr& e, uint64_t value) {
      const auto* l = std::get_if<ELit>(&e->node);
      return l && l->value.type == PrimType::kBool && l->value.bits == value;
    };
    const std::string cond = text(i.cond, true);
    if (is(i.else_branch, 0)) return cond + " && " + text(i.then_branch, true);
    if (is(i.then_branch, 1)) return cond + " || " + text(i.else_branch, true);
    return "if " + text(i.cond, false) + " then " + text(i.then_branch, false) + " else " +
           text(i.else_branch, false);
  }

  std::string list(const std::vector<ExpPtr>& elems) const {
    std::string s;
    for (const auto& e : elems) s += (s.empty() ? "" : ", ") + text(e, false);
    return s;
  }

  std::string list(const std::vector<DimIndex>& dims) const {
    auto part = [&](const ExpPtr& e) { return e ? text(e, true) : ""; };
    std::string s;
    for (const DimIndex& d : dims) {
      s += s.empty() ? "" : ", ";
      s += d.index ? text(d.index, false) : part(d.start) + ":" + part(d.end);
      if (d.stride) s += ":" + part(d.stride);
    }
    return s;
  }

  const Names& names_;
};

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
    case Size::kExp: return SizeText(names).text(s.exp, false);
    default: return "";
  }
}

std::string str(const TypePtr& t, const Names& names) { return type_text(t, names, 0); }

}  // namespace kenaz::core
