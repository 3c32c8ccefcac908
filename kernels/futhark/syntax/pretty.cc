#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "kernels/futhark/syntax/ast.h"
#include "kernels/futhark/syntax/parser_impl.h"
#include "protocol/base/overloaded.h"

namespace kenaz::syntax {
namespace {

/// Precedence inside printed text. It differs from the grammar's: parentheses appear where a reader
/// might doubt, as users know it from Futhark's messages.
constexpr int kArgument = 10;

int print_precedence(std::string_view symbol) {
  switch (operator_level(symbol)) {
    case kPipeRightLevel:
    case kPipeLeftLevel: return -1;
    case kOrLevel:
    case kAndLevel: return 0;
    case kBitLevel: return 1;
    case kCompareLevel: return 2;
    case kShiftLevel: return 3;
    case kSumLevel: return 4;
    case kProductLevel: return 5;
    case kPowerLevel: return 6;
    default: return 9;
  }
}

/// Both - and / show a compound right operand in parentheses.
int right_precedence(std::string_view symbol) {
  const bool minus = symbol.starts_with("-");
  const bool divide = symbol.starts_with("/") && !symbol.starts_with("//");
  return minus || divide ? kArgument : print_precedence(symbol);
}

std::string float_text(double v, bool single) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  if (v == 0) return std::signbit(v) ? "-0.0" : "0.0";
  char buffer[64];
  const auto r =
      single ? std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(v),
                             std::chars_format::scientific)
             : std::to_chars(buffer, buffer + sizeof buffer, v, std::chars_format::scientific);
  const std::string_view text(buffer, static_cast<size_t>(r.ptr - buffer));
  const size_t e = text.find('e');
  std::string digits;
  for (char c : text.substr(0, e)) {
    if (c >= '0' && c <= '9') digits += c;
  }
  const char* exponent_text = buffer + e + 1;
  int exponent = 0;
  std::from_chars(exponent_text + (*exponent_text == '+' ? 1 : 0), r.ptr, exponent);
  const std::string sign = v < 0 ? "-" : "";
  if (exponent < -1 || exponent > 6) {
    const std::string rest = digits.size() > 1 ? digits.substr(1) : "0";
    return fmt::format("{}{}.{}e{}", sign, digits[0], rest, exponent);
  }
  if (exponent == -1) return sign + "0." + digits;
  const size_t whole = static_cast<size_t>(exponent) + 1;
  if (digits.size() <= whole) digits.append(whole + 1 - digits.size(), '0');
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

std::string prim_text(PrimValue v) {
  if (v.type == PrimType::kBool) return v.as_bool() ? "true" : "false";
  if (is_float(v.type)) {
    const bool single = v.type != PrimType::kF64;
    return float_text(v.as_double(), single) + std::string(prim_name(v.type));
  }
  const auto name = prim_name(v.type);
  if (prim_kind(v.type) == PrimKind::kUnsigned) return fmt::format("{}{}", v.as_u64(), name);
  return fmt::format("{}{}", v.as_i64(), name);
}

std::string literal_text(const Literal& literal) {
  return std::visit(
      Overloaded{
          [](const IntLit& i) { return fmt::format("{}{}", i.negative ? "-" : "", i.value); },
          [](const FloatLit& f) { return float_text(f.value, false); },
          [](const PrimLit& p) { return prim_text(p.value); },
          [](const CharLit& c) { return fmt::format("{}", c.code_point); },
      },
      literal);
}

std::string string_text(std::string_view utf8) {
  std::string s = "\"";
  for (char c : utf8) {
    if (c == '"' || c == '\\') s += '\\';
    if (c == '\n') {
      s += "\\n";
    } else {
      s += c;
    }
  }
  return s + '"';
}

std::string name_text(const QualName& q) {
  std::string s;
  for (const auto& m : q.quals) s += m + ".";
  return s + q.name;
}

bool is_symbol(const QualName& q) {
  return !q.name.empty() &&
         std::string_view("+-*/%=!><|&^").find(q.name[0]) != std::string_view::npos;
}

std::string op_text(const QualName& q) {
  return is_symbol(q) ? name_text(q) : "`" + name_text(q) + "`";
}

std::string in_parens_if(bool wanted, const std::string& s) { return wanted ? "(" + s + ")" : s; }

template <class List, class F>
std::string joined(const List& list, std::string_view separator, F text) {
  std::string s;
  for (const auto& x : list) {
    if (!s.empty()) s += separator;
    s += text(x);
  }
  return s;
}

struct Printer {
  static std::string exp(const Exp& e, int p);
  static std::string pat(const Pat& p);
  static std::string type(const TypeExp& t);
  static std::string size(const SizeExp& s) {
    return "[" + (s.exp ? exp(*s.exp, -1) : std::string()) + "]";
  }
  static std::string exps(const std::vector<ExpPtr>& es) {
    return joined(es, ", ", [](const ExpPtr& e) { return exp(*e, -1); });
  }
  static std::string index(const DimIndex& d);
  static std::string slice(const std::vector<DimIndex>& slice) {
    return "[" + joined(slice, ", ", index) + "]";
  }
  static std::string path(const std::vector<UpdateStep>& path) {
    std::string s;
    for (const auto& step : path) s += step.is_field ? "." + step.field : slice(step.slice);
    return s;
  }
  static std::string let_body(const Exp& body) {
    const bool another = std::holds_alternative<ELet>(body.node) ||
                         std::holds_alternative<ELetFun>(body.node) ||
                         std::holds_alternative<ELetWith>(body.node);
    return (another ? " " : " in ") + exp(body, -1);
  }

  // One overload per node; `p` is the precedence of the context.
  static std::string node(const ELiteral& e, int) { return literal_text(e.value); }
  static std::string node(const EString& e, int) { return string_text(e.value.utf8); }
  static std::string node(const EVar& e, int) { return name_text(e.name); }
  static std::string node(const EHole&, int) { return "???"; }
  static std::string node(const EParens& e, int) { return "(" + exp(*e.inner, -1) + ")"; }
  static std::string node(const EQualParens& e, int) {
    return name_text(e.module) + ".(" + exp(*e.inner, -1) + ")";
  }
  static std::string node(const ETuple& e, int) { return "(" + exps(e.elems) + ")"; }
  static std::string node(const ERecord& e, int) {
    return "{" +
           joined(e.fields, ", ",
                  [](const ERecord::Field& f) {
                    return f.value ? f.name + " = " + exp(*f.value, -1) : f.name;
                  }) +
           "}";
  }
  static std::string node(const EArray& e, int) { return "[" + exps(e.elems) + "]"; }
  static std::string node(const EProject& e, int) { return exp(*e.record, -1) + "." + e.field; }
  static std::string node(const EIndex& e, int) { return exp(*e.array, 9) + slice(e.slice); }
  static std::string node(const EConstr& e, int p) {
    return in_parens_if(p >= kArgument && !e.args.empty(), "#" + e.name + arguments(e.args));
  }
  static std::string node(const ENegate& e, int) { return "-" + exp(*e.operand, -1); }
  static std::string node(const ENot& e, int) { return "!" + exp(*e.operand, -1); }
  static std::string node(const EBinOp& e, int p) {
    const std::string symbol = is_symbol(e.op) ? e.op.name : "`";
    return in_parens_if(p > print_precedence(symbol), exp(*e.lhs, print_precedence(symbol)) + " " +
                                                          op_text(e.op) + " " +
                                                          exp(*e.rhs, right_precedence(symbol)));
  }
  static std::string arguments(const std::vector<ExpPtr>& args) {
    std::string s;
    for (const auto& a : args) s += " " + exp(*a, kArgument);
    return s;
  }
  static std::string node(const EApply& e, int p) {
    return in_parens_if(p >= kArgument, exp(*e.fun, 0) + arguments(e.args));
  }
  static std::string params(const std::vector<PatPtr>& ps) {
    return joined(ps, " ", [](const PatPtr& x) { return pat(*x); });
  }
  static std::string node(const ELambda& e, int p) {
    return in_parens_if(p != -1, "\\" + params(e.params) + (e.ret ? ": " + type(*e.ret) : "") +
                                     " -> " + exp(*e.body, -1));
  }
  static std::string node(const EIf& e, int) {
    return "if " + exp(*e.cond, -1) + " then " + exp(*e.then_branch, -1) + " else " +
           exp(*e.else_branch, -1);
  }
  static std::string node(const EMatch& e, int) {
    std::string s = "match " + exp(*e.scrutinee, -1);
    for (const auto& c : e.cases) s += " case " + pat(*c.pat) + " -> " + exp(*c.body, -1);
    return s;
  }
  static std::string node(const ELoop& e, int) {
    std::string s = "loop " + pat(*e.pat);
    if (e.init) s += " = " + exp(*e.init, -1);
    if (e.form == ELoop::kWhile) s += " while " + exp(*e.bound, -1);
    if (e.form == ELoop::kFor) s += " for " + e.index + " < " + exp(*e.bound, -1);
    if (e.form == ELoop::kForIn) s += " for " + pat(*e.elem_pat) + " in " + exp(*e.bound, -1);
    return s + " do " + exp(*e.body, -1);
  }
  static std::string node(const ELet& e, int p) {
    std::string sizes;
    for (const auto& n : e.sizes) sizes += "[" + n + "] ";
    return in_parens_if(
        p != -1, "let " + sizes + pat(*e.pat) + " = " + exp(*e.value, -1) + let_body(*e.body));
  }
  static std::string node(const ELetFun& e, int p) {
    std::string tparams;
    for (const auto& t : e.tparams) {
      static constexpr const char* kMarks[] = {"'", "'~", "'^"};
      tparams += t.kind == TypeParam::kSize ? "[" + t.name + "] "
                                            : kMarks[static_cast<int>(t.lifted)] + t.name + " ";
    }
    return in_parens_if(p != -1, "let " + e.name + " " + tparams + params(e.params) +
                                     (e.ret ? ": " + type(*e.ret) : "") + " = " +
                                     exp(*e.value, -1) + let_body(*e.body));
  }
  static std::string node(const ELetWith& e, int) {
    return "let " + e.name + path(e.path) + " = " + exp(*e.value, -1) + let_body(*e.body);
  }
  static std::string node(const EUpdate& e, int) {
    return exp(*e.source, -1) + " with " + path(e.path) + " = " + exp(*e.value, -1);
  }
  static std::string node(const ERange& e, int) {
    static constexpr const char* kEnds[] = {"...", "..<", "..>"};
    return exp(*e.start, -1) + (e.second ? ".." + exp(*e.second, -1) : "") +
           kEnds[static_cast<int>(e.kind)] + exp(*e.end, -1);
  }
  static std::string node(const EAscript& e, int) {
    return exp(*e.inner, 0) + " : " + type(*e.type);
  }
  static std::string node(const ECoerce& e, int) {
    return exp(*e.inner, 0) + " :> " + type(*e.type);
  }
  static std::string node(const EAssert& e, int) {
    return "assert " + exp(*e.cond, kArgument) + " " + exp(*e.body, kArgument);
  }
  static std::string node(const EAttr& e, int) {
    return "#[" + e.attr.str() + "] " + exp(*e.inner, -1);
  }
  static std::string node(const EOpSection& e, int) { return "(" + op_text(e.op) + ")"; }
  static std::string node(const EOpSectionLeft& e, int) {
    return "(" + exp(*e.operand, -1) + " " + op_text(e.op) + ")";
  }
  static std::string node(const EOpSectionRight& e, int) {
    return "(" + op_text(e.op) + " " + exp(*e.operand, -1) + ")";
  }
  static std::string node(const EPathSection& e, int) {
    const std::string s = path(e.path);
    return (e.path[0].is_field ? "(" : "(.") + s + ")";
  }

  static std::string node(const TypeVar& t) { return name_text(t.name); }
  static std::string node(const TypeParens& t) { return "(" + type(*t.inner) + ")"; }
  static std::string node(const TypeTuple& t) {
    return "(" + joined(t.elems, ", ", [](const TypeExpPtr& x) { return type(*x); }) + ")";
  }
  static std::string node(const TypeRecord& t) {
    return "{" +
           joined(t.fields, ", ", [](const auto& f) { return f.first + ": " + type(*f.second); }) +
           "}";
  }
  static std::string node(const TypeArray& t) { return size(t.size) + type(*t.elem); }
  static std::string node(const TypeApply& t) {
    const auto* s = std::get_if<SizeExp>(&t.arg);
    return type(*t.fun) + " " + (s ? size(*s) : type(*std::get<TypeExpPtr>(t.arg)));
  }
  static std::string node(const TypeArrow& t) {
    const std::string from = type(*t.from);
    return (t.param ? "(" + *t.param + ": " + from + ")" : from) + " -> " + type(*t.to);
  }
  static std::string node(const TypeSum& t) {
    return joined(t.constructors, " | ", [](const TypeSum::Constructor& c) {
      std::string s = "#" + c.name;
      for (const auto& x : c.payload) s += " " + type(*x);
      return s;
    });
  }
  static std::string node(const TypeUnique& t) { return "*" + type(*t.inner); }
  static std::string node(const TypeExists& t) {
    std::string s = "?";
    for (const auto& n : t.sizes) s += "[" + n + "]";
    return s + "." + type(*t.inner);
  }

  static std::string node(const PatName& p) {
    const QualName q{{}, p.name, {}};
    return is_symbol(q) ? "(" + p.name + ")" : p.name;
  }
  static std::string node(const PatWildcard&) { return "_"; }
  static std::string node(const PatParens& p) { return "(" + pat(*p.inner) + ")"; }
  static std::string node(const PatTuple& p) { return "(" + joined_pats(p.elems, ", ") + ")"; }
  static std::string node(const PatRecord& p) {
    return "{" +
           joined(p.fields, ", ",
                  [](const PatRecord::Field& f) {
                    return f.pat ? f.name + " = " + pat(*f.pat) : f.name;
                  }) +
           "}";
  }
  static std::string node(const PatAscript& p) { return pat(*p.inner) + ": " + type(*p.type); }
  static std::string node(const PatLiteral& p) { return literal_text(p.value); }
  static std::string node(const PatConstr& p) {
    return "#" + p.name + (p.args.empty() ? "" : " " + joined_pats(p.args, " "));
  }
  static std::string node(const PatAttr& p) { return "#[" + p.attr.str() + "] " + pat(*p.inner); }
  static std::string joined_pats(const std::vector<PatPtr>& ps, std::string_view separator) {
    return joined(ps, separator, [](const PatPtr& x) { return pat(*x); });
  }
};

std::string Printer::exp(const Exp& e, int p) {
  return std::visit([&](const auto& n) { return node(n, p); }, e.node);
}
std::string Printer::pat(const Pat& p) {
  return std::visit([](const auto& n) { return node(n); }, p.node);
}
std::string Printer::type(const TypeExp& t) {
  return std::visit([](const auto& n) { return node(n); }, t.node);
}
std::string Printer::index(const DimIndex& d) {
  if (!d.is_slice) return exp(*d.index, -1);
  std::string s = d.start ? exp(*d.start, -1) : "";
  s += ":";
  if (d.end) s += exp(*d.end, -1);
  if (d.stride) s += ":" + exp(*d.stride, -1);
  return s;
}

}  // namespace

std::string pretty(const Exp& e) { return Printer::exp(e, -1); }
std::string pretty(const TypeExp& t) { return Printer::type(t); }

std::string Attr::str() const {
  if (!has_args) return name;
  return name + "(" + joined(args, ",", [](const Attr& a) { return a.str(); }) + ")";
}

}  // namespace kenaz::syntax
