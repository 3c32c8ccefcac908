#include "kernels/futhark/core/print.h"

#include <fmt/format.h>

#include "kernels/futhark/core/type_util.h"
#include "protocol/base/overloaded.h"

namespace kenaz::core {

std::string Attr::str() const {
  if (args.empty()) return name;
  std::string s = name + "(";
  for (size_t i = 0; i < args.size(); i++) s += (i ? "," : "") + args[i].str();
  return s + ")";
}

namespace {

const char* intrinsic_name(Intrinsic op) {
  switch (op) {
#define INTRINSIC(e, name, constraint, type) \
  case Intrinsic::e:                         \
    return name;
#include "kernels/futhark/core/intrinsics.def"
#undef INTRINSIC
  }
  return "?";
}

std::string literal(const PrimValue& v) {
  std::string suffix(prim_name(v.type));
  if (v.type == PrimType::kBool) return v.as_bool() ? "true" : "false";
  if (is_float(v.type)) return fmt::format("{}{}", v.as_double(), suffix);
  return prim_kind(v.type) == PrimKind::kSigned ? fmt::format("{}{}", v.as_i64(), suffix)
                                                : fmt::format("{}{}", v.as_u64(), suffix);
}

class Printer {
 public:
  explicit Printer(const Checked& p) {
    for (size_t i = 0; i < p.var_names.size(); i++) {
      names_.push_back(fmt::format("{}_{}", p.var_names[i], i));
    }
    type_names_.vars = &names_;
    type_names_.abstract_types = &p.abstract_types;
  }

  std::string type(const TypePtr& t) { return str(t, type_names_); }
  std::string var(VarId v) { return v.index < names_.size() ? names_[v.index] : "?"; }

  std::string instance(const std::vector<TypePtr>& targs, const std::vector<Size>& sargs) {
    if (targs.empty() && sargs.empty()) return "";
    std::string s = "{";
    for (const auto& t : targs) s += (s.size() > 1 ? ", " : "") + type(t);
    for (const auto& n : sargs) s += (s.size() > 1 ? ", [" : "[") + str(n, type_names_) + "]";
    return s + "}";
  }

  std::string pat(const PatPtr& p) {
    return std::visit(
        Overloaded{[&](const PBind& b) { return "(" + var(b.id) + ": " + type(p->type) + ")"; },
                   [&](const PWildcard&) { return std::string("_"); },
                   [&](const PRecord& r) {
                     std::string s = "{";
                     for (const auto& [name, f] : r.fields) {
                       s += (s.size() > 1 ? ", " : "") + name + " = " + pat(f);
                     }
                     return s + "}";
                   },
                   [&](const PLit& l) { return literal(l.value); },
                   [&](const PConstr& c) {
                     std::string s = "#" + c.name;
                     for (const auto& a : c.args) s += " " + pat(a);
                     return "(" + s + ")";
                   }},
        p->node);
  }

  std::string exp(const ExpPtr& e, int indent) {
    std::string s = node(e, indent);
    if (e->ext.empty()) return s;
    std::string ext;
    for (VarId v : e->ext) ext += "[" + var(v) + "]";
    return "?" + ext + "." + (s.find(' ') == std::string::npos ? s : "(" + s + ")");
  }

  std::string def(const Def& d, int indent) {
    std::string s = "def " + var(d.id);
    for (TyVarId t : d.tparams) s += fmt::format(" '?{}", t.index);
    for (VarId v : d.sparams) s += " [" + var(v) + "]";
    return s + " : " + type(d.type) + " =" + line(indent + 2) + exp(d.body, indent + 2);
  }

 private:
  static std::string line(int indent) { return "\n" + std::string(indent, ' '); }

  std::string atom(const ExpPtr& e, int indent) {
    std::string s = exp(e, indent);
    return s.find(' ') == std::string::npos && s.find('\n') == std::string::npos ? s
                                                                                 : "(" + s + ")";
  }

  std::string dims(const std::vector<DimIndex>& dims, int indent) {
    std::string s = "[";
    auto part = [&](const ExpPtr& e) { return e ? exp(e, indent) : std::string(); };
    for (const auto& d : dims) {
      if (s.size() > 1) s += ", ";
      s += d.index ? part(d.index) : part(d.start) + ":" + part(d.end) + ":" + part(d.stride);
    }
    return s + "]";
  }

  std::string list(const std::vector<ExpPtr>& es, int indent) {
    std::string s;
    for (const auto& e : es) s += (s.empty() ? "" : ", ") + exp(e, indent);
    return s;
  }

  std::string loop(const ELoop& l, int indent) {
    std::string s = "loop";
    for (VarId v : l.sizes) s += " [" + var(v) + "]";
    s += " " + pat(l.pat) + " = " + exp(l.init, indent) + " ";
    if (l.form == ELoop::kFor) s += "for " + var(l.index) + " < ";
    if (l.form == ELoop::kForIn) s += "for " + pat(l.elem_pat) + " in ";
    if (l.form == ELoop::kWhile) s += "while ";
    return s + exp(l.bound, indent) + " do" + line(indent + 2) + exp(l.body, indent + 2);
  }

  std::string node(const ExpPtr& e, int indent) {
    return std::visit(
        Overloaded{
            [&](const ELit& l) { return literal(l.value); },
            [&](const EString& s) { return "\"" + s.bytes + "\""; },
            [&](const EVar& v) { return var(v.id) + instance(v.targs, v.sargs); },
            [&](const EIntrinsic& i) {
              return "#" + std::string(intrinsic_name(i.op)) + instance(i.targs, i.sargs);
            },
            [&](const ELambda& l) {
              std::string s = "\\";
              for (const auto& p : l.params) s += pat(p) + " ";
              return s + "->" + line(indent + 2) + exp(l.body, indent + 2);
            },
            [&](const EApply& a) {
              std::string s = atom(a.fun, indent);
              for (const auto& x : a.args) s += " " + atom(x, indent);
              return s;
            },
            [&](const ELet& l) {
              std::string s = "let ";
              for (VarId v : l.sizes) s += "[" + var(v) + "] ";
              return s + pat(l.pat) + " = " + exp(l.value, indent + 2) + line(indent) + "in " +
                     exp(l.body, indent);
            },
            [&](const ELetDef& l) {
              return "let " + def(*l.def, indent) + line(indent) + "in " + exp(l.body, indent);
            },
            [&](const EIf& i) {
              return "if " + exp(i.cond, indent) + " then " + atom(i.then_branch, indent + 2) +
                     " else " + atom(i.else_branch, indent + 2);
            },
            [&](const EMatch& m) {
              std::string s = "match " + exp(m.scrutinee, indent);
              for (const auto& [p, body] : m.cases) {
                s += line(indent) + "case " + pat(p) + " -> " + exp(body, indent + 2);
              }
              return s;
            },
            [&](const ELoop& l) { return loop(l, indent); },
            [&](const ERecord& r) {
              std::string s = "{";
              for (const auto& [name, x] : r.fields) {
                s += (s.size() > 1 ? ", " : "") + name + " = " + exp(x, indent);
              }
              return s + "}";
            },
            [&](const EProject& p) { return atom(p.record, indent) + "." + p.field; },
            [&](const ERecordUpdate& u) {
              return exp(u.record, indent) + " with ." + u.field + " = " + exp(u.value, indent);
            },
            [&](const EArray& a) { return "[" + list(a.elems, indent) + "]"; },
            [&](const EIndex& i) { return atom(i.array, indent) + dims(i.dims, indent); },
            [&](const EUpdate& u) {
              return atom(u.array, indent) + " with " + dims(u.dims, indent) + " = " +
                     exp(u.value, indent);
            },
            [&](const ERange& r) {
              const char* ends[] = {"...", "..<", "..>"};
              return atom(r.start, indent) + (r.second ? ".." + atom(r.second, indent) : "") +
                     ends[r.kind] + atom(r.end, indent);
            },
            [&](const ECoerce& c) { return exp(c.inner, indent) + " :> " + type(e->type); },
            [&](const EConstr& c) {
              std::string s = "#" + c.name;
              for (const auto& a : c.args) s += " " + atom(a, indent);
              return s;
            },
            [&](const EAssert& a) {
              return "assert " + atom(a.cond, indent) + " " + atom(a.body, indent);
            },
            [&](const EHole&) { return "??? : " + type(e->type); },
            [&](const EAttr& a) { return "#[" + a.attr.str() + "] " + exp(a.inner, indent); }},
        e->node);
  }

  std::vector<std::string> names_;
  Names type_names_;
};

}  // namespace

std::string str(const ExpPtr& e, const Checked& program) { return Printer(program).exp(e, 0); }

std::string str(const Checked& program) {
  Printer p(program);
  std::string s;
  for (const auto& d : program.defs) s += p.def(*d, 0) + "\n";
  return s;
}

}  // namespace kenaz::core
