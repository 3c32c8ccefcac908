#include "kernels/futhark/core/validate.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "kernels/futhark/core/type_util.h"
#include "protocol/base/overloaded.h"

namespace kenaz::core {

namespace {

struct Params {
  std::vector<TyVarId> types;
  size_t sizes = 0;
  TypePtr type;
};

class Validator {
 public:
  Validator(const Checked& p, bool sizes) : program_(p), check_sizes_(sizes) {
    names_.vars = &p.var_names;
    names_.abstract_types = &p.abstract_types;
  }

  std::vector<std::string> run() {
    for (const auto& d : program_.defs) def(*d);
    for (const auto& e : program_.entries) {
      if (!defs_.count(e.def)) problems_.push_back("entry point without a definition: " + e.name);
      for (const auto& p : e.params) known_type(p.type);
      known_type(e.result);
    }
    return std::move(problems_);
  }

 private:
  using Scope = std::unordered_set<VarId>;

  void known_type(const std::string& name) {
    if (!program_.types.count(name)) problems_.push_back("no such entry type: " + name);
  }

  void problem(const SourceRange& range, const std::string& what) {
    problems_.push_back((range.file ? range.str() : def_name_) + ": " + what);
  }

  std::string name(VarId v) {
    std::string s = v.index < program_.var_names.size() ? program_.var_names[v.index] : "?";
    return s + "_" + std::to_string(v.index);
  }

  void def(const Def& d) {
    std::string outer = std::exchange(def_name_, d.name);
    Scope saved = scope_;
    for (VarId v : d.sparams) scope_.insert(v);
    if (d.recursive) declare(d);
    exp(d.body);
    if (!std::holds_alternative<TArrow>(d.type->node)) free_sizes(d.type, scope_);
    type(d.type, d.range);
    same(d.type, d.body->type, d.range, "body of a definition");
    scope_ = std::move(saved);
    declare(d);
    def_name_ = std::move(outer);
  }

  void declare(const Def& d) {
    if (!std::holds_alternative<TArrow>(d.type->node)) free_sizes(d.type, scope_);
    defs_[d.id] = {d.tparams, d.sparams.size(), d.type};
    scope_.insert(d.id);
  }

  // ---- types

  void size(const Size& s, const SourceRange& range) {
    if (s.kind == Size::kMeta) problem(range, "an inference variable is left");
    if (!check_sizes_) return;
    Scope vars;
    free_sizes(s, vars);
    for (VarId v : vars) {
      if (!scope_.count(v)) problem(range, "size " + name(v) + " is not in scope");
    }
  }

  void type(const TypePtr& t, const SourceRange& range) {
    std::visit(Overloaded{[&](const TMeta&) { problem(range, "an inference variable is left"); },
                          [&](const TArray& a) {
                            size(a.dim, range);
                            type(a.elem, range);
                          },
                          [&](const TRecord& r) {
                            for (const auto& f : r.fields) type(f.second, range);
                          },
                          [&](const TSum& s) {
                            for (const auto& c : s.constructors) {
                              for (const auto& p : c.second) type(p, range);
                            }
                          },
                          [&](const TArrow& a) {
                            type(a.from, range);
                            Scope saved = scope_;
                            if (a.param.valid()) scope_.insert(a.param);
                            for (VarId v : a.ext) scope_.insert(v);
                            type(a.to, range);
                            scope_ = std::move(saved);
                          },
                          [&](const TAbstract& a) {
                            for (const auto& arg : a.args) {
                              if (const auto* x = std::get_if<TypePtr>(&arg)) {
                                type(*x, range);
                              } else {
                                size(std::get<Size>(arg), range);
                              }
                            }
                          },
                          [](const auto&) {}},
               t->node);
  }

  // Without sizes, uniqueness and abstraction.
  TypePtr open(const TypePtr& t) {
    if (const auto* a = std::get_if<TAbstract>(&t->node)) {
      return open(expand_abstract(*a, program_.abstract_types));
    }
    return t;
  }

  bool equal(const TypePtr& ta, const TypePtr& tb) {
    TypePtr a = open(ta), b = open(tb);
    if (a == b) return true;
    if (a->node.index() != b->node.index()) return false;
    return std::visit(
        Overloaded{[&](const TPrim& x) { return x.prim == std::get<TPrim>(b->node).prim; },
                   [&](const TParam& x) { return x.id == std::get<TParam>(b->node).id; },
                   [](const TMeta&) { return true; },
                   [&](const TArray& x) { return equal(x.elem, std::get<TArray>(b->node).elem); },
                   [&](const TRecord& x) {
                     const auto& y = std::get<TRecord>(b->node);
                     if (x.fields.size() != y.fields.size()) return false;
                     for (size_t i = 0; i < x.fields.size(); i++) {
                       if (x.fields[i].first != y.fields[i].first) return false;
                       if (!equal(x.fields[i].second, y.fields[i].second)) return false;
                     }
                     return true;
                   },
                   [&](const TSum& x) {
                     const auto& y = std::get<TSum>(b->node);
                     return x.constructors.size() == y.constructors.size();
                   },
                   [&](const TArrow& x) {
                     const auto& y = std::get<TArrow>(b->node);
                     return equal(x.from, y.from) && equal(x.to, y.to);
                   },
                   [](const TAbstract&) { return true; }},
        a->node);
  }

  void same(const TypePtr& a, const TypePtr& b, const SourceRange& range, const std::string& what) {
    if (!equal(a, b)) problem(range, what + ": " + str(a, names_) + " against " + str(b, names_));
  }

  void is(PrimType p, const ExpPtr& e, const std::string& what) {
    if (e) same(prim_type(p), e->type, e->range, what);
  }

  // ---- patterns

  void pat(const PatPtr& p) {
    type(p->type, p->range);
    std::visit(Overloaded{[&](const PBind& b) {
                            scope_.insert(b.id);
                            if (!vars_.emplace(b.id, p->type).second) {
                              problem(p->range, name(b.id) + " is bound twice");
                            }
                          },
                          [&](const PRecord& r) {
                            TypePtr t = open(p->type);
                            const auto* rec = std::get_if<TRecord>(&t->node);
                            if (!rec || rec->fields.size() != r.fields.size()) {
                              problem(p->range, "a record pattern without a record type");
                              return;
                            }
                            for (size_t i = 0; i < r.fields.size(); i++) {
                              if (r.fields[i].first != rec->fields[i].first) {
                                problem(p->range, "fields out of order");
                              }
                              same(rec->fields[i].second, r.fields[i].second->type, p->range,
                                   "field pattern");
                              pat(r.fields[i].second);
                            }
                          },
                          [&](const PLit& l) {
                            same(prim_type(l.value.type), p->type, p->range, "literal pattern");
                          },
                          [&](const PConstr& c) {
                            for (const auto& a : c.args) pat(a);
                          },
                          [](const auto&) {}},
               p->node);
  }

  // ---- expressions

  void branch(const ExpPtr& e) {
    Scope saved = scope_;
    exp(e);
    scope_ = std::move(saved);
  }

  void exp(const ExpPtr& e) {
    node(e);
    for (VarId v : e->ext) scope_.insert(v);
    type(e->type, e->range);
  }

  void instance(const Params& p, const std::vector<TypePtr>& targs, const std::vector<Size>& sargs,
                const ExpPtr& e) {
    if (p.types.size() != targs.size() || p.sizes != sargs.size()) {
      problem(e->range, "wrong number of type or size arguments");
      return;
    }
    Subst s;
    for (size_t i = 0; i < targs.size(); i++) {
      type(targs[i], e->range);
      s.types[p.types[i]] = targs[i];
    }
    for (const auto& n : sargs) size(n, e->range);
    same(substitute(p.type, s), e->type, e->range, "instance");
  }

  void apply(const EApply& a, const ExpPtr& e) {
    // Sizes in the instance of the function may come from the operands and from the result.
    for (const auto& arg : a.args) {
      for (VarId v : arg->ext) scope_.insert(v);
    }
    for (const auto& arg : a.args) exp(arg);
    for (VarId v : e->ext) scope_.insert(v);
    exp(a.fun);
    TypePtr t = open(a.fun->type);
    for (const auto& arg : a.args) {
      const auto* arrow = std::get_if<TArrow>(&t->node);
      if (!arrow) {
        problem(e->range, "application of what is no function");
        return;
      }
      same(arrow->from, arg->type, arg->range, "argument");
      t = open(TypePtr(arrow->to));
    }
    same(t, e->type, e->range, "result of an application");
  }

  // The type of array[dims].
  TypePtr indexed(const ExpPtr& array, const std::vector<DimIndex>& dims, const SourceRange& r) {
    TypePtr t = open(array->type);
    std::vector<bool> kept;
    for (const auto& d : dims) {
      for (const auto& x : {d.index, d.start, d.end, d.stride}) {
        if (x) exp(x);
        is(PrimType::kI64, x, "index");
      }
      const auto* a = std::get_if<TArray>(&t->node);
      if (!a) {
        problem(r, "too many indices");
        return t;
      }
      kept.push_back(!d.index);
      t = open(TypePtr(a->elem));
    }
    for (bool k : kept) {
      if (k) t = array_type(Size::any(), t);
    }
    return t;
  }

  void lambda(const ELambda& l, const ExpPtr& e) {
    Scope saved = scope_;
    TypePtr t = open(e->type);
    for (const auto& p : l.params) {
      pat(p);
      const auto* arrow = std::get_if<TArrow>(&t->node);
      if (!arrow) {
        problem(e->range, "a function without a function type");
        return;
      }
      same(arrow->from, p->type, p->range, "parameter");
      t = open(TypePtr(arrow->to));
    }
    exp(l.body);
    same(t, l.body->type, e->range, "function body");
    scope_ = std::move(saved);
  }

  void loop(const ELoop& l, const ExpPtr& e) {
    exp(l.init);
    if (l.form != ELoop::kWhile) exp(l.bound);
    Scope saved = scope_;
    for (VarId v : l.sizes) scope_.insert(v);
    pat(l.pat);
    same(l.pat->type, l.init->type, e->range, "initial loop value");
    if (l.form == ELoop::kFor) {
      scope_.insert(l.index);
      vars_[l.index] = l.bound->type;
    } else if (l.form == ELoop::kForIn) {
      pat(l.elem_pat);
      same(l.bound->type, array_type(Size::any(), l.elem_pat->type), e->range, "loop array");
    } else {
      exp(l.bound);
      is(PrimType::kBool, l.bound, "loop condition");
    }
    exp(l.body);
    same(l.pat->type, l.body->type, e->range, "loop body");
    same(l.pat->type, e->type, e->range, "loop");
    scope_ = std::move(saved);
  }

  void record(const ERecord& r, const ExpPtr& e) {
    TypePtr t = open(e->type);
    const auto* rec = std::get_if<TRecord>(&t->node);
    if (!rec || rec->fields.size() != r.fields.size()) problem(e->range, "record");
    for (const auto& [field, x] : r.fields) {
      exp(x);
      for (const auto& f : rec ? rec->fields : decltype(rec->fields){}) {
        if (f.first == field) same(f.second, x->type, e->range, "field");
      }
    }
  }

  TypePtr field(const TypePtr& record, const std::string& name, const SourceRange& range) {
    TypePtr t = open(record);
    if (const auto* rec = std::get_if<TRecord>(&t->node)) {
      for (const auto& f : rec->fields) {
        if (f.first == name) return f.second;
      }
    }
    problem(range, "no such field: " + name);
    return t;
  }

  void node(const ExpPtr& e) {
    std::visit(
        Overloaded{
            [&](const ELit& l) { same(prim_type(l.value.type), e->type, e->range, "literal"); },
            [&](const EVar& v) {
              if (!scope_.count(v.id)) problem(e->range, name(v.id) + " is not in scope");
              auto d = defs_.find(v.id);
              if (d != defs_.end()) {
                instance(d->second, v.targs, v.sargs, e);
              } else if (!v.targs.empty() || !v.sargs.empty()) {
                problem(e->range, "arguments for a variable that has no parameters");
              } else if (vars_.count(v.id)) {
                same(vars_[v.id], e->type, e->range, "variable");
              }
            },
            [&](const EIntrinsic& i) {
              for (const auto& t : i.targs) type(t, e->range);
              for (const auto& s : i.sargs) size(s, e->range);
            },
            [&](const ELambda& l) { lambda(l, e); },
            [&](const EApply& a) { apply(a, e); },
            [&](const ELet& l) {
              exp(l.value);
              for (VarId v : l.sizes) scope_.insert(v);
              pat(l.pat);
              same(l.pat->type, l.value->type, e->range, "let");
              exp(l.body);
              same(l.body->type, e->type, e->range, "let body");
            },
            [&](const ELetDef& l) {
              def(*l.def);
              exp(l.body);
              same(l.body->type, e->type, e->range, "let body");
            },
            [&](const EIf& i) {
              exp(i.cond);
              is(PrimType::kBool, i.cond, "condition");
              branch(i.then_branch);
              branch(i.else_branch);
              same(i.then_branch->type, e->type, e->range, "then");
              same(i.else_branch->type, e->type, e->range, "else");
            },
            [&](const EMatch& m) {
              exp(m.scrutinee);
              for (const auto& [p, body] : m.cases) {
                Scope saved = scope_;
                pat(p);
                same(p->type, m.scrutinee->type, p->range, "pattern");
                exp(body);
                same(body->type, e->type, e->range, "case");
                scope_ = std::move(saved);
              }
            },
            [&](const ELoop& l) { loop(l, e); },
            [&](const ERecord& r) { record(r, e); },
            [&](const EProject& p) {
              exp(p.record);
              same(field(p.record->type, p.field, e->range), e->type, e->range, "projection");
            },
            [&](const ERecordUpdate& u) {
              exp(u.record);
              exp(u.value);
              same(u.record->type, e->type, e->range, "record update");
              same(field(u.record->type, u.field, e->range), u.value->type, e->range, "new field");
            },
            [&](const EArray& a) {
              TypePtr t = open(e->type);
              for (const auto& x : a.elems) {
                exp(x);
                same(t, array_type(Size::any(), x->type), e->range, "array element");
              }
            },
            [&](const EIndex& i) {
              exp(i.array);
              same(indexed(i.array, i.dims, e->range), e->type, e->range, "indexing");
            },
            [&](const EUpdate& u) {
              exp(u.array);
              TypePtr t = indexed(u.array, u.dims, e->range);
              exp(u.value);
              same(t, u.value->type, e->range, "new value");
              same(u.array->type, e->type, e->range, "update");
            },
            [&](const ERange& r) {
              for (const auto& x : {r.start, r.second, r.end}) {
                if (!x) continue;
                exp(x);
                same(array_type(Size::any(), x->type), e->type, e->range, "range");
              }
            },
            [&](const ECoerce& c) {
              exp(c.inner);
              same(c.inner->type, e->type, e->range, "coercion");
            },
            [&](const EConstr& c) {
              TypePtr t = open(e->type);
              if (!std::holds_alternative<TSum>(t->node)) problem(e->range, "constructor");
              for (const auto& x : c.args) exp(x);
            },
            [&](const EAssert& a) {
              exp(a.cond);
              exp(a.body);
            },
            [&](const EAttr& a) { exp(a.inner); },
            [](const auto&) {}},
        e->node);
  }

  const Checked& program_;
  bool check_sizes_;
  Names names_;
  std::string def_name_;
  Scope scope_;
  std::unordered_map<VarId, Params> defs_;
  std::unordered_map<VarId, TypePtr> vars_;
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> validate(const Checked& program, bool sizes) {
  return Validator(program, sizes).run();
}

}  // namespace kenaz::core
