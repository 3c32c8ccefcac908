#include "kernels/ir/print.h"

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <unordered_map>

#include "protocol/base/overloaded.h"

namespace kenaz::ir {
namespace {

std::string quoted(std::string_view s) {
  std::string out = "\"";
  for (char c : s) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + '"';
}

class Printer {
 public:
  Printer(const Program& p, const PrintOptions& o) : p_(p), o_(o) {}

  std::string take() { return std::move(out_); }

  void program() {
    if (p_.stage != Stage::kSoacs) out_ += fmt::format("stage {}\n", stage_name(p_.stage));
    for (const Tune& t : p_.tunes) tune(t);
    if (o_.provenance) provenances();
    if (!p_.constants.stms.empty()) {
      out_ += "constants ";
      body(p_.constants);
      out_ += "\n";
    }
    for (const Function& f : p_.functions) {
      if (!f.name.empty()) function(f);
    }
    for (const Entry& e : p_.entries) {
      out_ += fmt::format("entry {} = {}\n", e.name, p_.functions[e.fun.index].name);
    }
  }

  void stm(const Stm& s) {
    for (const auto& a : s.attrs) out_ += fmt::format("#[{}] ", a);
    out_ += "let ";
    if (s.pat.size() != 1) out_ += "(";
    list(s.pat, [&](VarId v) {
      binder(v);
      place(v);
    });
    if (s.pat.size() != 1) out_ += ")";
    out_ += " = ";
    exp(s.exp);
    if (!s.certs.empty()) {
      out_ += " cert {";
      list(s.certs, [&](VarId v) { var(v); });
      out_ += "}";
    }
    if (o_.provenance && s.prov.valid()) out_ += fmt::format(" @{}", s.prov.index);
  }

  void exp(const Exp& e) {
    std::visit([&](const auto& x) { put(x); }, e);
  }

  void type(const Type& t) {
    for (const Atom& d : t.dims) {
      out_ += '[';
      // A dim is always an i64: the suffix says nothing.
      if (d.is_const()) {
        out_ += std::to_string(d.constant().as_i64());
      } else {
        var(d.var());
      }
      out_ += ']';
    }
    out_ += prim_name(t.prim);
  }

  void atom(const Atom& a) {
    if (a.is_const()) {
      out_ += print_constant(a.constant());
    } else {
      var(a.var());
    }
  }

 private:
  template <class L, class F>
  void list(const L& l, F&& f) {
    bool first = true;
    for (const auto& x : l) {
      if (!first) out_ += ", ";
      first = false;
      f(x);
    }
  }
  void atoms(const std::vector<Atom>& l) {
    list(l, [&](const Atom& a) { atom(a); });
  }
  void vars(const std::vector<VarId>& l) {
    list(l, [&](VarId v) { var(v); });
  }
  void types(const std::vector<Type>& l) {
    out_ += "(";
    list(l, [&](const Type& t) { type(t); });
    out_ += ")";
  }
  void binder(VarId v) {
    var(v);
    out_ += ": ";
    type(p_.type_of(v));
  }

  void place(VarId v) {
    const auto& place = p_.vars[v.index].place;
    if (!place) return;
    out_ += " in ";
    var(place->memory);
    out_ += " at ";
    atom(place->start);
  }

  void var(VarId v) {
    if (v.index >= p_.vars.size()) {  // dumps of broken programs must not crash
      out_ += fmt::format("BAD_{}", v.index);
      return;
    }
    std::string hint;
    for (char c : p_.vars[v.index].name) {
      hint += std::isalnum(static_cast<unsigned char>(c)) || c == '\'' ? c : '_';
    }
    if (hint.empty() || std::isdigit(static_cast<unsigned char>(hint[0]))) hint = "v" + hint;
    uint32_t n = v.index;
    if (o_.renumber) n = numbers_.try_emplace(v.index, numbers_.size()).first->second;
    out_ += fmt::format("{}_{}", hint, n);
  }

  void newline() {
    out_ += '\n';
    out_.append(static_cast<size_t>(2 * indent_), ' ');
  }

  void body(const Body& b) {
    out_ += "{";
    ++indent_;
    for (const Stm& s : b.stms) {
      newline();
      stm(s);
    }
    newline();
    out_ += "return";
    if (!b.results.empty()) out_ += " ";
    atoms(b.results);
    --indent_;
    newline();
    out_ += "}";
  }

  void lambda(const Lambda& l) {
    out_ += "\\(";
    list(l.params, [&](VarId v) { binder(v); });
    out_ += ") -> ";
    types(l.ret);
    out_ += " ";
    body(l.body);
  }

  void function(const Function& f) {
    out_ += fmt::format("fun {}(", f.name);
    for (size_t i = 0; i < f.params.size(); ++i) {
      if (i != 0) out_ += ", ";
      var(f.params[i]);
      out_ += ": ";
      if (i < f.consumed.size() && f.consumed[i]) out_ += "*";
      type(p_.type_of(f.params[i]));
    }
    out_ += ") -> (";
    for (size_t i = 0; i < f.ret.size(); ++i) {
      if (i != 0) out_ += ", ";
      if (i < f.ret_size_vars.size()) {
        var(f.ret_size_vars[i]);
        out_ += ": ";
      }
      type(f.ret[i]);
    }
    out_ += ") ";
    body(f.body);
    out_ += "\n";
  }

  void tune(const Tune& t) {
    out_ += fmt::format("tune {} {}", quoted(t.name), tune_class_name(t.cls));
    if (t.fallback) out_ += fmt::format(" {}", *t.fallback);
    if (!t.path.empty()) {
      out_ += " path {";
      list(t.path, [&](const auto& step) {
        out_ += fmt::format("{} = {}", quoted(tune_name(step.first)), step.second);
      });
      out_ += "}";
    }
    out_ += '\n';
  }
  std::string tune_name(TuneId id) const {
    return id.index < p_.tunes.size() ? p_.tunes[id.index].name : "BAD";
  }

  void provenances() {
    for (size_t i = 0; i < p_.provenances.size(); ++i) {
      const Provenance& pr = p_.provenances[i];
      out_ += fmt::format("provenance {} {} {} {} {} {}", i,
                          quoted(pr.range.file ? pr.range.file->name : ""), pr.range.begin.line,
                          pr.range.begin.column, pr.range.end.line, pr.range.end.column);
      if (pr.caller.valid()) out_ += fmt::format(" @{}", pr.caller.index);
      out_ += '\n';
    }
  }

  void dims(const std::vector<Dim>& ds) {
    out_ += '[';
    list(ds, [&](const Dim& d) {
      if (const auto* f = std::get_if<DimFix>(&d)) {
        atom(f->index);
        return;
      }
      const auto& r = std::get<DimRange>(d);
      atom(r.start);
      out_ += " : ";
      atom(r.len);
      out_ += " : ";
      atom(r.stride);
    });
    out_ += ']';
  }
  void bracketed(const std::vector<Atom>& l) {
    out_ += '[';
    atoms(l);
    out_ += ']';
  }
  void width_inputs(const Atom& width, const std::vector<VarId>& inputs) {
    out_ += "(";
    atom(width);
    out_ += "; ";
    vars(inputs);
    out_ += ") map ";
  }
  void monoid(const Monoid& m) {
    if (m.commutative) out_ += "commutative ";
    lambda(m.op);
    out_ += " {";
    atoms(m.neutral);
    out_ += "}";
  }

  void put(const EAtom& e) { atom(e.atom); }
  void put(const EPrim& e) {
    out_ += fmt::format("{}.{}", scalar_op_name(e.op), prim_name(e.type));
    if (e.op == ScalarOp::kConvert || e.op == ScalarOp::kBitcast) {
      out_ += fmt::format(".{}", prim_name(e.to));
    }
    out_ += "(";
    atoms(e.args);
    out_ += ")";
  }
  void put(const EIndex& e) {
    out_ += "index ";
    var(e.array);
    dims(e.dims);
  }
  void put(const EUpdate& e) {
    out_ += "update ";
    var(e.array);
    dims(e.dims);
    out_ += " = ";
    atom(e.value);
  }
  void put(const EIota& e) {
    out_ += fmt::format("iota.{}(", prim_name(e.type));
    atoms({e.n, e.start, e.stride});
    out_ += ")";
  }
  void put(const EReplicate& e) {
    out_ += "replicate ";
    bracketed(e.dims);
    out_ += " ";
    atom(e.value);
  }
  void put(const EScratch& e) {
    out_ += "scratch ";
    type(Type{e.type, e.dims});
  }
  void put(const EArrayLit& e) {
    out_ += "array ";
    type(e.elem_type);
    out_ += " ";
    bracketed(e.elems);
  }
  void put(const EConcat& e) {
    out_ += "concat (";
    atom(e.total);
    out_ += "; ";
    vars(e.arrays);
    out_ += ")";
  }
  void put(const ERearrange& e) {
    out_ += fmt::format("rearrange ({}) ", fmt::join(e.perm, ", "));
    var(e.array);
  }
  void put(const EReshape& e) {
    out_ += "reshape ";
    bracketed(e.dims);
    out_ += " ";
    var(e.array);
  }
  void put(const ECopy& e) {
    out_ += "copy ";
    var(e.array);
  }
  void put(const EAssert& e) {
    out_ += "assert (";
    atom(e.cond);
    for (const auto& m : e.message) {
      out_ += ", ";
      if (const auto* s = std::get_if<std::string>(&m)) {
        out_ += quoted(*s);
      } else {
        atom(std::get<Atom>(m));
      }
    }
    out_ += ")";
  }
  void put(const EIf& e) {
    out_ += "if ";
    atom(e.cond);
    out_ += " then ";
    body(e.then_body);
    out_ += " else ";
    body(e.else_body);
  }
  void put(const ELoop& e) {
    out_ += "loop (";
    list(e.params, [&](const ELoop::Param& p) {
      binder(p.var);
      out_ += p.kept ? " kept = " : " = ";
      atom(p.init);
    });
    out_ += ") ";
    if (const auto* f = std::get_if<LoopFor>(&e.form)) {
      out_ += "for ";
      binder(f->index);
      out_ += " < ";
      atom(f->bound);
    } else {
      out_ += "while ";
      var(std::get<LoopWhile>(e.form).cond);
    }
    out_ += " do ";
    body(e.body);
  }
  void put(const ECall& e) {
    out_ +=
        fmt::format("call {}(", e.fun.index < p_.functions.size() ? p_.functions[e.fun.index].name
                                                                  : std::string("BAD"));
    atoms(e.args);
    out_ += ")";
  }
  void put(const ESoac& e) {
    out_ += "soac ";
    width_inputs(e.width, e.inputs);
    lambda(e.map);
    for (const Monoid& m : e.scans) {
      out_ += " scan ";
      monoid(m);
    }
    for (const Monoid& m : e.reduces) {
      out_ += " reduce ";
      monoid(m);
    }
  }
  void put(const EScatter& e) {
    out_ += "scatter ";
    width_inputs(e.width, e.inputs);
    lambda(e.map);
    for (const auto& d : e.dests) {
      out_ += " into ";
      var(d.array);
      out_ += fmt::format("/{}", d.index_rank);
    }
  }
  void put(const EHist& e) {
    out_ += "hist ";
    width_inputs(e.width, e.inputs);
    lambda(e.map);
    for (const auto& op : e.ops) {
      out_ += " into ";
      vars(op.dests);
      out_ += fmt::format(" /{} ", op.index_rank);
      monoid(op.monoid);
    }
  }
  void put(const EPack& e) {
    out_ += "pack ";
    width_inputs(e.width, e.inputs);
    lambda(e.map);
    classes(e.classes, e.rest);
  }
  void put(const ESort& e) {
    out_ += "sort ";
    width_inputs(e.width, e.inputs);
    lambda(e.map);
  }
  void classes(int n, bool rest) { out_ += fmt::format(" classes {}{}", n, rest ? " rest" : ""); }

  void put(const EJvp& e) { operator_at("jvp", e.fun, e.args, &e.tangents); }
  void put(const EVjp& e) { operator_at("vjp", e.fun, e.args, &e.adjoints); }
  void put(const EWithVjp& e) {
    operator_at("with_vjp", e.fun, e.args, nullptr);
    out_ += " adjoint ";
    lambda(e.adjoint);
  }
  void operator_at(const char* word, const Lambda& fun, const std::vector<Atom>& args,
                   const std::vector<Atom>* seeds) {
    out_ += fmt::format("{} (", word);
    atoms(args);
    if (seeds != nullptr) {
      out_ += "; ";
      atoms(*seeds);
    }
    out_ += ") ";
    lambda(fun);
  }

  void seg_monoid(const SegMonoid& m) {
    monoid(m.op);
    if (m.lifted.empty()) return;
    out_ += " lifted ";
    bracketed(m.lifted);
  }
  void put(const ESeg& e) {
    out_ += fmt::format("seg {} {} (", seg_kind_name(e.kind), seg_level_name(e.level));
    list(e.space.dims, [&](const SegDim& d) {
      binder(d.index);
      out_ += " < ";
      atom(d.size);
    });
    out_ += ") ";
    body(e.body);
    if (e.kind == SegKind::kPack) classes(e.classes, e.rest);
    for (const SegMonoid& m : e.monoids) {
      out_ += " by ";
      seg_monoid(m);
    }
    for (const SegWrite& w : e.writes) {
      out_ += " into ";
      vars(w.dests);
      out_ += fmt::format(" /{}", w.index_rank);
      if (w.segment_rank != 0) out_ += fmt::format(" at {}", w.segment_rank);
      if (!w.combine) continue;
      out_ += " by ";
      seg_monoid(*w.combine);
    }
  }
  void put(const EVersions& e) {
    out_ += "versions";
    for (const auto& v : e.versions) {
      out_ += fmt::format(" {} when ", quoted(v.name));
      atom(v.test);
      out_ += " ";
      body(v.body);
    }
  }
  void put(const ETune& e) { out_ += "tune " + quoted(tune_name(e.id)); }

  const Program& p_;
  PrintOptions o_;
  std::string out_;
  int indent_ = 0;
  std::unordered_map<uint32_t, uint32_t> numbers_;
};

template <class F>
std::string with_printer(const Program& p, F&& f) {
  Printer pr(p, {});
  f(pr);
  return pr.take();
}

}  // namespace

std::string print(const Program& p, const PrintOptions& options) {
  Printer pr(p, options);
  pr.program();
  return pr.take();
}
std::string print_stm(const Program& p, const Stm& s) {
  return with_printer(p, [&](Printer& pr) { pr.stm(s); });
}
std::string print_type(const Program& p, const Type& t) {
  return with_printer(p, [&](Printer& pr) { pr.type(t); });
}
std::string print_atom(const Program& p, const Atom& a) {
  return with_printer(p, [&](Printer& pr) { pr.atom(a); });
}

std::string print_constant(const PrimValue& v) {
  const std::string_view name = prim_name(v.type);
  switch (prim_kind(v.type)) {
    case PrimKind::kBool: return v.as_bool() ? "true" : "false";
    case PrimKind::kSigned: return fmt::format("{}{}", v.as_i64(), name);
    case PrimKind::kUnsigned: return fmt::format("{}{}", v.as_u64(), name);
    case PrimKind::kFloat: break;
  }
  const double d = v.as_double();
  if (std::isfinite(d)) {
    const std::string text = fmt::format("{:#.{}g}", d, v.type == PrimType::kF64 ? 17 : 9);
    if (PrimValue::of_float(v.type, std::strtod(text.c_str(), nullptr)) == v) {
      return fmt::format("{}{}", text, name);
    }
  }
  return fmt::format("bits({}, {:#x})", name, v.bits);
}

}  // namespace kenaz::ir
