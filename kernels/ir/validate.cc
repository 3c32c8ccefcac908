#include "kernels/ir/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/builder.h"
#include "kernels/ir/print.h"
#include "kernels/ir/visit.h"

namespace kenaz::ir {
namespace {

const Type kI64Scalar{PrimType::kI64, {}};
const Type kBoolScalar{PrimType::kBool, {}};

class Validator {
 public:
  explicit Validator(const Program& p)
      : p_(p), bound_(p.vars.size(), false), scope_(p.vars.size(), false) {}

  Status run() {
    where_ = "tunes";
    tunes();
    where_ = "constants";
    stms(p_.constants);
    atoms_in_scope(p_.constants.results);
    for (const Function& f : p_.functions) {
      if (!f.name.empty() && error_.empty()) function(f);
    }
    for (const Entry& e : p_.entries) {
      if (e.fun.index >= p_.functions.size() || p_.functions[e.fun.index].name.empty()) {
        problem("entry point without a function: " + e.name);
      }
    }
    if (!error_.empty()) return internal_error(error_);
    return {};
  }

 private:
  void problem(const std::string& what) {
    if (!error_.empty()) return;
    error_ = fmt::format("invalid array IR in {}: {}", where_, what);
    if (stm_ != nullptr) {
      std::string text = print_stm(p_, *stm_);
      if (text.size() > 2000) text = text.substr(0, 2000) + " ...";
      error_ += "\n  " + text;
    }
  }
  template <class... Ts>
  void require(bool ok, fmt::format_string<Ts...> format, Ts&&... args) {
    if (!ok) problem(fmt::format(format, std::forward<Ts>(args)...));
  }
  std::string name(VarId v) const { return print_atom(p_, v); }

  // ---- scopes
  void bind(VarId v) {
    if (v.index >= p_.vars.size()) return problem("a variable that does not exist is bound");
    require(!bound_[v.index], "{} is bound twice", name(v));
    bound_[v.index] = scope_[v.index] = true;
    trail_.push_back(v);
  }
  void unbind(size_t mark) {
    while (trail_.size() > mark) {
      scope_[trail_.back().index] = false;
      trail_.pop_back();
    }
  }
  void in_scope(VarId v) {
    if (v.index >= p_.vars.size()) return problem("a variable that does not exist is used");
    require(scope_[v.index], "{} is not in scope", name(v));
  }
  void in_scope(const Atom& a) {
    if (!a.is_const()) in_scope(a.var());
  }
  void atoms_in_scope(const std::vector<Atom>& l) {
    for (const Atom& a : l) in_scope(a);
  }
  void type_ok(const Type& t) {
    for (const Atom& d : t.dims) {
      in_scope(d);
      if (error_.empty()) require(p_.type_of(d) == kI64Scalar, "a dim is not an i64");
    }
  }

  // ---- structure
  void tunes() {
    std::set<std::string> names;
    for (size_t i = 0; i < p_.tunes.size(); ++i) {
      const Tune& t = p_.tunes[i];
      require(names.insert(t.name).second, "two parameters named {}", t.name);
      for (const auto& step : t.path) {
        require(step.first.index < i, "the path of {} names no earlier parameter", t.name);
      }
    }
  }
  void function(const Function& f) {
    where_ = "function " + f.name;
    stm_ = nullptr;
    const size_t mark = trail_.size();
    for (VarId v : f.params) bind(v);
    for (VarId v : f.params) {
      for (const Atom& d : p_.type_of(v).dims) {
        if (!d.is_const() && d.var().index < scope_.size() && !scope_[d.var().index]) {
          bind(d.var());
        }
      }
    }
    for (VarId v : f.params) type_ok(p_.type_of(v));
    require(f.consumed.size() == f.params.size(), "`consumed` does not match the params");
    body(f.body, f.ret);
    for (VarId v : f.ret_size_vars) bind(v);
    for (const Type& t : f.ret) type_ok(t);
    require(f.ret_size_vars.size() <= f.ret.size(), "more size results than results");
    for (size_t i = 0; i < f.ret_size_vars.size() && i < f.ret.size(); ++i) {
      require(f.ret[i] == kI64Scalar, "a size result is not an i64");
    }
    unbind(mark);
  }

  void stms(const Body& b) {
    for (const Stm& s : b.stms) {
      if (!error_.empty()) return;
      stm_ = &s;
      stm(s);
    }
  }
  void body(const Body& b, const std::vector<Type>& types) {
    const size_t mark = trail_.size();
    const Stm* outer = stm_;
    if (++depth_ > 1000) problem("nested too deeply");
    stms(b);
    if (error_.empty()) stm_ = outer;
    atoms_in_scope(b.results);
    if (error_.empty()) same_types("body result", types_of(b.results), types);
    unbind(mark);
    --depth_;
  }
  void lambda(const Lambda& l, const std::vector<Type>& params, const char* what) {
    const size_t mark = trail_.size();
    for (const Type& t : l.ret) type_ok(t);
    for (VarId v : l.params) bind(v);
    for (VarId v : l.params) type_ok(p_.type_of(v));
    if (!error_.empty()) return;
    std::vector<Type> have;
    for (VarId v : l.params) have.push_back(p_.type_of(v));
    same_types(what, have, params);
    if (error_.empty()) body(l.body, l.ret);
    unbind(mark);
  }
  void stm(const Stm& s) {
    for (VarId v : s.certs) {
      in_scope(v);
      if (error_.empty()) require(p_.type_of(v) == kBoolScalar, "a certificate is not a bool");
    }
    visit_operands(s.exp, [&](const auto& a) { in_scope(a); });
    if (!error_.empty()) return;
    pat_.clear();
    for (VarId v : s.pat) {
      if (v.index >= p_.vars.size()) return problem("a variable that does not exist is bound");
      pat_.push_back(p_.type_of(v));
    }
    for (VarId v : s.pat) place_ok(v);
    const std::vector<Type> pat = pat_;
    std::visit([&](const auto& e) { same_types("pattern", pat, check(e, pat)); }, s.exp);
    for (VarId v : s.pat) bind(v);
    for (VarId v : s.pat) type_ok(p_.type_of(v));
  }

  void place_ok(VarId v) {
    const auto& place = p_.vars[v.index].place;
    if (!place || !error_.empty()) return;
    in_scope(place->memory);
    in_scope(place->start);
    if (!error_.empty()) return;
    require(p_.type_of(place->start) == kI64Scalar, "{} begins at what is no i64", name(v));
    const Type& memory = p_.type_of(place->memory);
    require(!memory.is_scalar() && memory.prim == p_.type_of(v).prim,
            "{} has other elements than its memory", name(v));
  }

  // ---- types. Dims are compared only where both are constants: equal sizes may have two names.
  bool same(const Type& a, const Type& b) const {
    if (a.prim != b.prim || a.rank() != b.rank()) return false;
    for (size_t i = 0; i < a.dims.size(); ++i) {
      if (a.dims[i].is_const() && b.dims[i].is_const() && a.dims[i] != b.dims[i]) return false;
    }
    return true;
  }
  void same_types(const char* what, const std::vector<Type>& have, const std::vector<Type>& want) {
    if (!error_.empty()) return;
    require(have.size() == want.size(), "{}: {} values where {} belong", what, have.size(),
            want.size());
    for (size_t i = 0; i < have.size() && error_.empty(); ++i) {
      require(same(have[i], want[i]), "{} {}: type {} where {} belongs", what, i,
              print_type(p_, have[i]), print_type(p_, want[i]));
    }
  }
  std::vector<Type> types_of(const std::vector<Atom>& l) const {
    std::vector<Type> out;
    for (const Atom& a : l) out.push_back(p_.type_of(a));
    return out;
  }
  void want(const Atom& a, const Type& t) {
    if (error_.empty()) {
      require(same(p_.type_of(a), t), "operand {} has type {} where {} belongs", print_atom(p_, a),
              print_type(p_, p_.type_of(a)), print_type(p_, t));
    }
  }
  void want_i64(const std::vector<Atom>& l) {
    for (const Atom& a : l) want(a, kI64Scalar);
  }

  std::vector<Type> check(const EAtom& e, const std::vector<Type>&) { return {p_.type_of(e.atom)}; }

  std::vector<Type> check(const EPrim& e, const std::vector<Type>&) {
    require(static_cast<int>(e.args.size()) == scalar_op_arity(e.op), "wrong number of operands");
    require(scalar_op_accepts(e.op, e.type), "{} is not defined at {}", scalar_op_name(e.op),
            prim_name(e.type));
    for (size_t i = 0; i < e.args.size(); ++i) {
      Type t{e.type, {}};
      if (e.op == ScalarOp::kSelect && i == 0) t.prim = PrimType::kBool;
      if (e.op == ScalarOp::kLdexp && i == 1) t.prim = PrimType::kI32;
      want(e.args[i], t);
    }
    return {Type{scalar_op_result(e.op, e.type, e.to), {}}};
  }

  Type sliced(VarId array, const std::vector<Dim>& dims) {
    const Type& t = p_.type_of(array);
    require(t.dims.size() == dims.size(), "an index of {} dims into an array of rank {}",
            dims.size(), t.rank());
    visit_dims(dims, [&](const Atom& a) { want(a, kI64Scalar); });
    return Type{t.prim, slice_dims(dims)};
  }
  std::vector<Type> check(const EIndex& e, const std::vector<Type>&) {
    return {sliced(e.array, e.dims)};
  }
  std::vector<Type> check(const EUpdate& e, const std::vector<Type>&) {
    want(e.value, sliced(e.array, e.dims));
    return {p_.type_of(e.array)};
  }
  std::vector<Type> check(const EIota& e, const std::vector<Type>&) {
    want(e.n, kI64Scalar);
    want(e.start, Type{e.type, {}});
    want(e.stride, Type{e.type, {}});
    require(is_integer(e.type), "an iota of no integers");
    return {Type{e.type, {e.n}}};
  }
  std::vector<Type> check(const EReplicate& e, const std::vector<Type>&) {
    want_i64(e.dims);
    Type t = p_.type_of(e.value);
    t.dims.insert(t.dims.begin(), e.dims.begin(), e.dims.end());
    return {t};
  }
  std::vector<Type> check(const EScratch& e, const std::vector<Type>&) {
    want_i64(e.dims);
    return {Type{e.type, e.dims}};
  }
  std::vector<Type> check(const EArrayLit& e, const std::vector<Type>&) {
    type_ok(e.elem_type);
    for (const Atom& a : e.elems) want(a, e.elem_type);
    return {array_of(i64(static_cast<int64_t>(e.elems.size())), e.elem_type)};
  }
  std::vector<Type> check(const EConcat& e, const std::vector<Type>&) {
    require(!e.arrays.empty(), "an empty concat");
    if (!error_.empty()) return {};
    Type t = p_.type_of(e.arrays[0]);
    require(!t.is_scalar(), "concat of a scalar");
    if (!error_.empty()) return {};
    for (VarId v : e.arrays) {
      Type u = p_.type_of(v);
      if (!u.is_scalar()) u.dims[0] = t.dims[0];
      require(same(u, t), "concat of different types");
    }
    want(e.total, kI64Scalar);
    t.dims[0] = e.total;
    return {t};
  }
  std::vector<Type> check(const ERearrange& e, const std::vector<Type>&) {
    const Type& t = p_.type_of(e.array);
    std::vector<int> sorted = e.perm;
    std::sort(sorted.begin(), sorted.end());
    Type out{t.prim, {}};
    require(sorted.size() == t.dims.size(), "not a permutation of the dims");
    for (size_t i = 0; i < sorted.size(); ++i) {
      require(sorted[i] == static_cast<int>(i), "not a permutation of the dims");
    }
    if (!error_.empty()) return {out};
    for (const int from : e.perm) out.dims.push_back(t.dims[static_cast<size_t>(from)]);
    return {out};
  }
  std::vector<Type> check(const EReshape& e, const std::vector<Type>&) {
    want_i64(e.dims);
    return {Type{p_.type_of(e.array).prim, e.dims}};
  }
  std::vector<Type> check(const ECopy& e, const std::vector<Type>&) {
    return {p_.type_of(e.array)};
  }
  std::vector<Type> check(const EAssert& e, const std::vector<Type>&) {
    want(e.cond, kBoolScalar);
    for (const auto& m : e.message) {
      if (const auto* a = std::get_if<Atom>(&m)) {
        require(p_.type_of(*a).is_scalar(), "an array in a message");
      }
    }
    return {kBoolScalar};
  }
  std::vector<Type> check(const EIf& e, const std::vector<Type>& pat) {
    want(e.cond, kBoolScalar);
    body(e.then_body, pat);  // dims of the pattern may name earlier results
    body(e.else_body, pat);
    return pat;
  }
  std::vector<Type> check(const ELoop& e, const std::vector<Type>&) {
    const size_t mark = trail_.size();
    std::vector<Type> types;
    for (const auto& param : e.params) bind(param.var);
    if (const auto* f = std::get_if<LoopFor>(&e.form)) bind(f->index);
    if (!error_.empty()) return {};
    for (const auto& param : e.params) {
      type_ok(p_.type_of(param.var));
      want(param.init, p_.type_of(param.var));
      types.push_back(p_.type_of(param.var));
    }
    if (const auto* f = std::get_if<LoopFor>(&e.form)) {
      want(f->bound, p_.type_of(f->index));
      require(p_.type_of(f->index).is_scalar() && is_integer(p_.type_of(f->index).prim),
              "the loop's index is no integer");
    } else {
      const VarId cond = std::get<LoopWhile>(e.form).cond;
      want(cond, kBoolScalar);
      require(std::any_of(e.params.begin(), e.params.end(),
                          [&](const auto& q) { return q.var == cond; }),
              "the loop's condition is no param");
    }
    if (error_.empty()) body(e.body, types);
    unbind(mark);
    return types;
  }
  std::vector<Type> check(const ECall& e, const std::vector<Type>&) {
    if (e.fun.index >= p_.functions.size() || p_.functions[e.fun.index].name.empty()) {
      problem("call of a function that does not exist");
      return {};
    }
    const Function& f = p_.functions[e.fun.index];
    std::vector<Type> params;
    for (VarId v : f.params) params.push_back(p_.type_of(v));
    same_types("argument", types_of(e.args), params);
    return f.ret;
  }

  std::vector<Type> rows(const Atom& width, const std::vector<VarId>& inputs) {
    want(width, kI64Scalar);
    std::vector<Type> out;
    for (VarId v : inputs) {
      const Type& t = p_.type_of(v);
      require(!t.is_scalar(), "input {} is a scalar", name(v));
      if (!error_.empty()) return out;
      require(!(t.dims[0].is_const() && width.is_const()) || t.dims[0] == width,
              "input {} does not have the width", name(v));
      out.push_back(row_type(t));
    }
    return out;
  }
  void monoid(const Monoid& m) {
    std::vector<Type> params = m.op.ret;
    params.insert(params.end(), m.op.ret.begin(), m.op.ret.end());
    lambda(m.op, params, "operator's param");
    same_types("neutral element", types_of(m.neutral), m.op.ret);
  }
  std::vector<Type> check(const ESoac& e, const std::vector<Type>&) {
    lambda(e.map, rows(e.width, e.inputs), "lambda's param");
    std::vector<Type> results, operands;
    size_t k = 0;
    const auto operator_of = [&](const Monoid& m, bool scan) {
      if (error_.empty()) monoid(m);
      for (const Type& t : m.op.ret) {
        operands.push_back(t);
        results.push_back(scan ? array_of(e.width, t) : t);
        ++k;
      }
    };
    for (const Monoid& m : e.scans) operator_of(m, true);
    for (const Monoid& m : e.reduces) operator_of(m, false);
    require(k <= e.map.ret.size(), "fewer results than operands of scans and reductions");
    for (; k < e.map.ret.size(); ++k) {
      operands.push_back(e.map.ret[k]);
      results.push_back(array_of(e.width, e.map.ret[k]));
    }
    same_types("operand", e.map.ret, operands);
    return results;
  }
  Type dest_row(VarId dest, int index_rank) {
    const Type& t = p_.type_of(dest);
    require(index_rank >= 1 && index_rank <= t.rank(), "index of rank {} into {}", index_rank,
            name(dest));
    if (!error_.empty()) return {};
    return Type{t.prim, {t.dims.begin() + index_rank, t.dims.end()}};
  }
  std::vector<Type> check(const EScatter& e, const std::vector<Type>&) {
    lambda(e.map, rows(e.width, e.inputs), "lambda's param");
    std::vector<Type> lam, results, values;
    for (const auto& d : e.dests) {
      if (!error_.empty()) return {};
      lam.insert(lam.end(), static_cast<size_t>(std::max(0, d.index_rank)), kI64Scalar);
      values.push_back(dest_row(d.array, d.index_rank));
      results.push_back(p_.type_of(d.array));
    }
    lam.insert(lam.end(), values.begin(), values.end());
    same_types("lambda's result", e.map.ret, lam);
    return results;
  }
  std::vector<Type> check(const EHist& e, const std::vector<Type>&) {
    lambda(e.map, rows(e.width, e.inputs), "lambda's param");
    std::vector<Type> lam, results, values;
    for (const auto& op : e.ops) {
      if (!error_.empty()) return {};
      monoid(op.monoid);
      lam.insert(lam.end(), static_cast<size_t>(std::max(0, op.index_rank)), kI64Scalar);
      std::vector<Type> dest_rows;
      for (VarId d : op.dests) {
        dest_rows.push_back(dest_row(d, op.index_rank));
        results.push_back(p_.type_of(d));
      }
      same_types("operator's result", op.monoid.op.ret, dest_rows);
      values.insert(values.end(), dest_rows.begin(), dest_rows.end());
    }
    lam.insert(lam.end(), values.begin(), values.end());
    same_types("lambda's result", e.map.ret, lam);
    return results;
  }
  /// The class and the values that an element of a packing has, and the types of what is bound.
  std::vector<Type> packing(const Atom& width, int classes, const std::vector<Type>& element) {
    require(classes >= 1 && classes <= kMaxClasses, "packing by {} classes", classes);
    require(!element.empty() && element[0] == Type{PrimType::kI32, {}}, "a class is no i32");
    std::vector<Type> bound = {array_of(i64(classes), kI64Scalar)};
    for (size_t k = 1; k < element.size(); ++k) bound.push_back(array_of(width, element[k]));
    return bound;
  }
  std::vector<Type> check(const EPack& e, const std::vector<Type>&) {
    lambda(e.map, rows(e.width, e.inputs), "lambda's param");
    return packing(e.width, e.classes, e.map.ret);
  }
  /// What is bound of elements that are a key and values.
  std::vector<Type> sorting(const Atom& width, const std::vector<Type>& element) {
    require(!element.empty() && element[0].is_scalar() &&
                prim_kind(element[0].prim) == PrimKind::kUnsigned,
            "a key is no unsigned integer");
    std::vector<Type> bound;
    for (const Type& t : element) bound.push_back(array_of(width, t));
    return bound;
  }
  std::vector<Type> check(const ESort& e, const std::vector<Type>&) {
    lambda(e.map, rows(e.width, e.inputs), "lambda's param");
    return sorting(e.width, e.map.ret);
  }

  // ---- derivatives
  static std::vector<Type> joined(std::vector<Type> a, const std::vector<Type>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
  std::vector<Type> check(const EJvp& e, const std::vector<Type>&) {
    lambda(e.fun, types_of(e.args), "argument");
    same_types("tangent", types_of(e.tangents), types_of(e.args));
    return joined(e.fun.ret, e.fun.ret);
  }
  std::vector<Type> check(const EVjp& e, const std::vector<Type>&) {
    lambda(e.fun, types_of(e.args), "argument");
    same_types("adjoint", types_of(e.adjoints), e.fun.ret);
    return joined(e.fun.ret, types_of(e.args));
  }
  std::vector<Type> check(const EWithVjp& e, const std::vector<Type>&) {
    lambda(e.fun, types_of(e.args), "argument");
    lambda(e.adjoint, joined(e.fun.ret, e.fun.ret), "result or its adjoint");
    same_types("argument's adjoint", e.adjoint.ret, types_of(e.args));
    return e.fun.ret;
  }

  // ---- segmented operations
  static Type array_over(const std::vector<Atom>& dims, Type t) {
    t.dims.insert(t.dims.begin(), dims.begin(), dims.end());
    return t;
  }
  /// The types of the operands.
  std::vector<Type> seg_monoid(const SegMonoid& m) {
    want_i64(m.lifted);
    if (error_.empty()) monoid(m.op);
    std::vector<Type> operands;
    for (const Type& t : m.op.op.ret) operands.push_back(array_over(m.lifted, t));
    return operands;
  }
  void seg_write(const SegWrite& w, size_t rank, std::vector<Type>& results) {
    require(!w.dests.empty(), "a write without destinations");
    require(w.index_rank >= 0 && w.segment_rank >= 0 && w.index_rank + w.segment_rank > 0,
            "a write without an index");
    require(static_cast<size_t>(w.segment_rank) <= rank, "a write in more segments than dims");
    if (!error_.empty()) return;
    results.insert(results.end(), static_cast<size_t>(w.index_rank), kI64Scalar);
    std::vector<Type> rows;
    for (VarId d : w.dests) {
      rows.push_back(dest_row(d, w.index_rank + w.segment_rank));
      if (!error_.empty()) return;
    }
    results.insert(results.end(), rows.begin(), rows.end());
    if (w.combine) same_types("combined value", seg_monoid(*w.combine), rows);
  }
  std::vector<Type> check(const ESeg& e, const std::vector<Type>& pat) {
    const bool is_map = e.kind == SegKind::kMap;
    if (e.kind == SegKind::kPack || e.kind == SegKind::kSort) return seg_arrangement(e, pat);
    require(e.monoids.empty() == is_map, "{} monoids in a {}", e.monoids.size(),
            seg_kind_name(e.kind));
    require(!is_single(e) || (is_map && e.writes.empty()),
            "a space without dims has plain results only");
    if (!error_.empty()) return {};
    const std::vector<Atom> dims = sizes_of(e.space.dims);
    want_i64(dims);
    std::vector<Atom> kept = dims;
    if (e.kind == SegKind::kReduce) kept.pop_back();
    std::vector<Type> bound, results;
    for (const SegMonoid& m : e.monoids) {
      for (const Type& t : seg_monoid(m)) {
        results.push_back(t);
        bound.push_back(array_over(kept, t));
      }
    }
    for (const SegWrite& w : e.writes) {
      if (error_.empty()) seg_write(w, dims.size(), results);
      for (VarId d : w.dests) bound.push_back(p_.type_of(d));
    }
    if (!error_.empty()) return {};
    seg_body(e, pat, dims, results, bound);
    return bound;
  }
  /// Packing or sorting.
  std::vector<Type> seg_arrangement(const ESeg& e, const std::vector<Type>& pat) {
    const bool packs = e.kind == SegKind::kPack;
    require(e.space.dims.size() == 1 && e.monoids.empty() && e.writes.empty() && !pat.empty(),
            "a {} has one dim, neither monoids nor writes, and binds the {}", seg_kind_name(e.kind),
            packs ? "counts" : "keys");
    if (!error_.empty()) return {};
    want(e.space.dims[0].size, kI64Scalar);
    std::vector<Type> element = {{packs ? PrimType::kI32 : pat[0].prim, {}}};
    for (size_t k = 1; k < pat.size(); ++k) {
      require(pat[k].rank() == 1, "a value that is moved is no scalar");
      element.push_back({pat[k].prim, {}});
    }
    const Atom& width = e.space.dims[0].size;
    std::vector<Type> bound = packs ? packing(width, e.classes, element) : sorting(width, element);
    if (!error_.empty()) return {};
    seg_body(e, pat, {e.space.dims[0].size}, element, bound);
    return bound;
  }
  /// The body, whose results begin with those of the given types; adds the plain ones to `bound`.
  /// They may have sizes that only the body knows, if it runs once.
  void seg_body(const ESeg& e, const std::vector<Type>& pat, const std::vector<Atom>& dims,
                std::vector<Type>& results, std::vector<Type>& bound) {
    require(e.body.results.size() >= results.size(), "fewer results than operands and writes");
    if (!error_.empty()) return;
    const size_t plain = results.size();
    require(pat.size() == bound.size() + e.body.results.size() - plain,
            "{} variables for {} results", pat.size(),
            bound.size() + e.body.results.size() - plain);
    if (!error_.empty()) return;
    for (size_t k = bound.size(); k < pat.size(); ++k) {
      Type t = pat[k];
      require(t.dims.size() >= dims.size(), "result {} lacks dims of the space", k);
      if (!error_.empty()) return;
      t.dims.erase(t.dims.begin(), t.dims.begin() + static_cast<std::ptrdiff_t>(dims.size()));
      results.push_back(t);
      bound.push_back(array_over(dims, t));
    }
    const size_t mark = trail_.size();
    for (const SegDim& d : e.space.dims) {
      bind(d.index);
      if (error_.empty()) require(p_.type_of(d.index) == kI64Scalar, "an index is no i64");
    }
    if (error_.empty()) body(e.body, results);
    unbind(mark);
  }
  std::vector<Type> check(const EVersions& e, const std::vector<Type>& pat) {
    require(!e.versions.empty(), "no versions");
    if (!error_.empty()) return {};
    std::set<std::string> names;
    for (const auto& v : e.versions) {
      want(v.test, kBoolScalar);
      require(names.insert(v.name).second, "two versions named {}", v.name);
      body(v.body, pat);
    }
    require(e.versions.back().test.is_bool(true), "the last version has a test");
    return pat;
  }
  std::vector<Type> check(const ETune& e, const std::vector<Type>&) {
    require(e.id.index < p_.tunes.size(), "a parameter that does not exist");
    return {kI64Scalar};
  }

  const Program& p_;
  std::vector<bool> bound_, scope_;
  std::vector<VarId> trail_;
  std::vector<Type> pat_;
  std::string where_, error_;
  const Stm* stm_ = nullptr;
  int depth_ = 0;
};

}  // namespace

Status validate(const Program& p) {
  KENAZ_TRY(Validator(p).run());
  KENAZ_TRY(validate_stage(p));
  return validate_consumption(p);
}

}  // namespace kenaz::ir
