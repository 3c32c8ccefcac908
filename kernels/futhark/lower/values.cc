// The leaves of values: taking structure apart, and putting it together round other leaves.
#include <fmt/format.h>

#include "kernels/futhark/lower/lowerer.h"
#include "protocol/base/overloaded.h"

namespace kenaz::lower {

using ir::Atom;

namespace {
// What accessors answer after an error, so that nobody has to look.
const VArr kNoArray{ir::i64(0), unit()};
const VRec kNoRecord{};
}  // namespace

const VArr& Lowerer::as_array(const V& v) {
  if (const auto* a = std::get_if<VArr>(&v->node)) return *a;
  broken("an array was expected");
  return kNoArray;
}

const VRec& Lowerer::as_record(const V& v) {
  if (const auto* r = std::get_if<VRec>(&v->node)) return *r;
  broken("a record was expected");
  return kNoRecord;
}

Atom Lowerer::as_atom(const V& v) {
  if (const auto* l = std::get_if<VLeaf>(&v->node)) return l->atom;
  broken("a scalar was expected");
  return ir::i64(0);
}

bool Lowerer::is_function(const V& v) const {
  return std::holds_alternative<VFun>(v->node) || std::holds_alternative<VDef>(v->node);
}

bool Lowerer::has_leaves(const V& v) {
  return std::visit(Overloaded{
                        [](const VLeaf&) { return true; },
                        [&](const VArr& a) { return has_leaves(a.elem); },
                        [&](const VRec& r) {
                          for (const auto& f : r.fields) {
                            if (has_leaves(f.second)) return true;
                          }
                          return false;
                        },
                        [](const VSum& s) { return !s.atoms.empty(); },
                        [](const VConstr&) { return true; },
                        [&](const VAcc& a) { return has_leaves(a.state); },
                        [](const auto&) { return false; },
                    },
                    v->node);
}

void Lowerer::leaves(const V& v, std::vector<Atom>& dims, std::vector<Leaf>& out) {
  auto sizes = [&] {
    for (size_t d = 0; d < dims.size(); ++d) out.push_back({dims[d], static_cast<int>(d)});
  };
  std::visit(Overloaded{
                 [&](const VLeaf& l) { out.push_back({l.atom}); },
                 [&](const VArr& a) {
                   dims.push_back(a.dim);
                   leaves(a.elem, dims, out);
                   dims.pop_back();
                 },
                 [&](const VRec& r) {
                   if (r.fields.empty()) sizes();
                   for (const auto& f : r.fields) leaves(f.second, dims, out);
                 },
                 [&](const VSum& s) {
                   if (s.atoms.empty()) sizes();
                   for (const auto& a : s.atoms) out.push_back({a});
                 },
                 [&](const VConstr&) { broken("a constructor that was not laid out"); },
                 // Not inside of arrays: an empty state has no leaves at all.
                 [&](const VAcc& a) { leaves(a.state, dims, out); },
                 [](const auto&) {},
             },
             v->node);
}

std::vector<Lowerer::Leaf> Lowerer::leaves(const V& v) {
  std::vector<Leaf> out;
  std::vector<Atom> dims;
  leaves(v, dims, out);
  return out;
}

std::vector<Atom> Lowerer::atoms(const V& v) {
  std::vector<Atom> out;
  for (auto& l : leaves(v)) out.push_back(std::move(l.atom));
  return out;
}

Atom Lowerer::next_leaf(Leaves& in) {
  if (in.pos < in.leaves.size()) return in.leaves[in.pos++].atom;
  broken("too few leaves");
  return ir::i64(0);
}

Atom Lowerer::outer_size(const Leaves& in, size_t before, int depth) {
  std::optional<Atom> size;
  for (size_t i = before; i < in.pos && i < in.leaves.size(); ++i) {
    const Leaf& l = in.leaves[i];
    if (l.dim == depth - in.rank && !size) size = l.atom;
    if (l.is_dim()) continue;
    ir::Type t = b_.type_of(l.atom);
    if (t.rank() > depth) return t.dims[depth];  // shapes of data are what memory is made of
  }
  return size.value_or(ir::i64(0));
}

V Lowerer::rebuild_rec(const V& v, Leaves& in, int depth) {
  auto skip_sizes = [&] {
    for (int d = 0; d < depth; ++d) next_leaf(in);
  };
  return std::visit(Overloaded{
                        [&](const VLeaf&) { return leaf(next_leaf(in)); },
                        [&](const VArr& a) {
                          const size_t before = in.pos;
                          V elem = rebuild_rec(a.elem, in, depth + 1);
                          return make(VArr{outer_size(in, before, depth), elem});
                        },
                        [&](const VRec& r) {
                          if (r.fields.empty()) skip_sizes();
                          VRec out;
                          for (const auto& f : r.fields) {
                            out.fields.emplace_back(f.first, rebuild_rec(f.second, in, depth));
                          }
                          return make(std::move(out));
                        },
                        [&](const VSum& s) {
                          if (s.atoms.empty()) skip_sizes();
                          VSum out{s.type, s.layout, {}};
                          for (size_t i = 0; i < s.atoms.size(); ++i)
                            out.atoms.push_back(next_leaf(in));
                          return make(std::move(out));
                        },
                        [&](const VAcc& a) {
                          VAcc out = a;
                          out.state = rebuild_rec(a.state, in, depth);
                          return make(std::move(out));
                        },
                        [&](const auto&) { return v; },
                    },
                    v->node);
}

V Lowerer::rebuild(const V& v, const std::vector<Atom>& atoms) {
  Leaves in{leaves(v)};
  if (in.leaves.size() != atoms.size()) return broken("a value that has other leaves");
  for (size_t i = 0; i < atoms.size(); ++i) in.leaves[i].atom = atoms[i];
  return rebuild_rec(v, in, 0);
}

V Lowerer::map_leaves(const V& v, const std::function<Atom(const Atom&)>& f) {
  return std::visit(Overloaded{
                        [&](const VLeaf& l) { return leaf(f(l.atom)); },
                        [&](const VArr& a) {
                          return make(VArr{a.dim, map_leaves(a.elem, f)});
                        },
                        [&](const VRec& r) {
                          VRec out;
                          for (const auto& x : r.fields) {
                            out.fields.emplace_back(x.first, map_leaves(x.second, f));
                          }
                          return make(std::move(out));
                        },
                        [&](const VSum& s) {
                          VSum out{s.type, s.layout, {}};
                          for (const auto& a : s.atoms) out.atoms.push_back(f(a));
                          return make(std::move(out));
                        },
                        [&](const VAcc& a) {
                          VAcc out = a;
                          out.state = map_leaves(a.state, f);
                          return make(std::move(out));
                        },
                        [&](const auto&) { return v; },
                    },
                    v->node);
}

V Lowerer::from_leaves(const Ty& t, const std::vector<Atom>& atoms, int rank) {
  std::vector<LeafType> types;
  type_leaves(t, 0, types);
  if (failed()) return unit();
  if (types.size() != atoms.size()) return broken("a type with other leaves");
  Leaves in{{}, 0, rank};
  for (size_t i = 0; i < atoms.size(); ++i) in.leaves.push_back({atoms[i], types[i].dim});
  return from_leaves_rec(t, in, rank);
}

V Lowerer::from_leaves_rec(const Ty& t, Leaves& in, int depth) {
  Ty h = head(t);
  if (failed()) return unit();
  auto skip_sizes = [&] {
    for (int d = in.rank; d < depth; ++d) next_leaf(in);
  };
  return std::visit(Overloaded{
                        [&](const core::TPrim&) { return leaf(next_leaf(in)); },
                        [&](const core::TArray& a) {
                          const size_t before = in.pos;
                          V elem = from_leaves_rec(sub(h, a.elem), in, depth + 1);
                          return make(VArr{outer_size(in, before, depth), elem});
                        },
                        [&](const core::TRecord& r) {
                          if (r.fields.empty()) skip_sizes();
                          VRec out;
                          for (const auto& f : r.fields) {
                            out.fields.emplace_back(f.first,
                                                    from_leaves_rec(sub(h, f.second), in, depth));
                          }
                          return make(std::move(out));
                        },
                        [&](const core::TSum&) {
                          VSum s{h, layout_of(h), {}};
                          size_t n = s.layout->leaves.slots.size() + (s.layout->tagged() ? 1 : 0);
                          if (n == 0) skip_sizes();
                          for (size_t i = 0; i < n; ++i) s.atoms.push_back(next_leaf(in));
                          return make(std::move(s));
                        },
                        [&](const auto&) { return broken("no data has this type"); },
                    },
                    h.type->node);
}

Atom Lowerer::is_constructor(const VSum& s, int constructor) {
  if (!s.layout->tagged()) return PrimValue::of_bool(true);
  return b_.prim(ScalarOp::kEq, PrimType::kI8,
                 {s.atoms[0], PrimValue::of_int(PrimType::kI8, constructor)});
}

V Lowerer::payload(const VSum& s, int constructor, int arg, int rank) {
  Ty h = head(s.type);
  if (failed()) return unit();
  const auto& sum = std::get<core::TSum>(h.type->node);
  Ty type = sub(h, sum.constructors[constructor].second[arg]);
  std::vector<LeafType> types;
  type_leaves(type, 0, types);
  std::vector<Atom> atoms;
  const size_t shift = s.layout->tagged() ? 1 : 0;
  for (int slot : s.layout->leaves.payload[constructor][arg]) {
    Atom a = s.atoms[slot + shift];
    // In a slot a size is a number like others, and a client may have sent any.
    if (atoms.size() < types.size() && types[atoms.size()].dim >= 0) {
      if (rank > 0) return nullptr;
      a = b_.prim(ScalarOp::kMax, PrimType::kI64, {a, ir::i64(0)});
    }
    atoms.push_back(a);
  }
  return from_leaves(type, atoms, rank);
}

V Lowerer::zero(const Ty& t) {
  Ty h = head(t);
  if (failed()) return unit();
  return std::visit(Overloaded{
                        [&](const core::TPrim& p) {
                          return leaf(PrimValue{p.prim, 0});
                        },
                        [&](const core::TArray& a) {
                          Atom n = size_atom(a.dim, h.env, true).value_or(ir::i64(0));
                          return replicate(n, zero(sub(h, a.elem)));
                        },
                        [&](const core::TRecord& r) {
                          VRec out;
                          for (const auto& f : r.fields) {
                            out.fields.emplace_back(f.first, zero(sub(h, f.second)));
                          }
                          return make(std::move(out));
                        },
                        [&](const core::TSum& s) {
                          VConstr c{h, layout_of(h), 0, {}};
                          for (const auto& a : s.constructors[0].second)
                            c.args.push_back(zero(sub(h, a)));
                          return materialise(make(std::move(c)));
                        },
                        [&](const auto&) { return fail("a function cannot be made up here"); },
                    },
                    h.type->node);
}

V Lowerer::materialise(const V& v) {
  if (failed()) return v;
  if (const auto* r = std::get_if<VRec>(&v->node)) {
    VRec out;
    bool same = true;
    for (const auto& f : r->fields) {
      out.fields.emplace_back(f.first, materialise(f.second));
      same = same && out.fields.back().second == f.second;
    }
    return same ? v : make(std::move(out));
  }
  const auto* c = std::get_if<VConstr>(&v->node);
  if (c == nullptr) return v;
  Ty h = head(c->type);
  if (failed()) return v;
  const auto& sum = std::get<core::TSum>(h.type->node);
  const SumLayout& layout = *c->layout;
  if (layout.functions) {
    return fail(
        "a sum type with functions inside is not supported where values are chosen at "
        "run time: " +
        show(h));
  }
  std::vector<std::optional<Atom>> slots(layout.leaves.slots.size());
  auto fill = [&](int constructor, const std::vector<V>& args) {
    for (size_t k = 0; k < args.size(); ++k) {
      if (std::holds_alternative<VAcc>(args[k]->node)) {
        fail("a sum type with an accumulator inside is not supported");
        return;
      }
      std::vector<Atom> a = atoms(materialise(args[k]));
      const auto& where = layout.leaves.payload[constructor][k];
      if (a.size() != where.size()) {
        broken("a constructor's payload does not fit its layout");
        return;
      }
      for (size_t i = 0; i < a.size(); ++i) {
        if (!slots[where[i]]) slots[where[i]] = a[i];
      }
    }
  };
  fill(c->index, c->args);
  // Slots of the other constructors: zeros, with the sizes that the type states.
  for (size_t k = 0; k < layout.constructors.size() && !failed(); ++k) {
    if (static_cast<int>(k) == c->index) continue;
    bool missing = false;
    for (const auto& p : layout.leaves.payload[k]) {
      for (int slot : p) missing = missing || !slots[slot];
    }
    if (!missing) continue;
    std::vector<V> args;
    for (const auto& a : sum.constructors[k].second) args.push_back(zero(sub(h, a)));
    fill(static_cast<int>(k), args);
  }
  VSum out{h, c->layout, {}};
  if (layout.tagged()) out.atoms.push_back(PrimValue::of_int(PrimType::kI8, c->index));
  for (auto& s : slots) out.atoms.push_back(s.value_or(ir::i64(0)));
  return make(std::move(out));
}

// ---- shapes

Lowerer::Message Lowerer::wrong_size(const std::vector<Atom>& have, const std::vector<Atom>& want) {
  Message m{shaped_name_.empty() ? "an array" : "the array \"" + shaped_name_ + "\""};
  auto shape = [&](const std::vector<Atom>& dims) {
    for (const Atom& d : dims) m.insert(m.end(), {"[", d, "]"});
  };
  m.emplace_back(" of shape ");
  shape(have);
  m.emplace_back(" does not have the size that its type states, ");
  shape(want);
  return m;
}

Atom Lowerer::reshape(const Atom& array, const std::vector<Atom>& dims, const Certs& certs) {
  if (array.is_const()) return array;
  ir::Type t = b_.type_of(array);
  if (t.dims == dims && certs.empty()) return array;
  Certs all = certs;
  if (certs.empty() && dims.size() == t.dims.size()) {
    // The checker says that these sizes are equal. Memory is not staked on that.
    Atom same = PrimValue::of_bool(true);
    for (size_t i = 0; i < dims.size(); ++i) same = b_.both(same, b_.eq(t.dims[i], dims[i]));
    check(same, wrong_size(t.dims, dims), all);
  }
  t.dims = dims;
  return b_.let(t, ir::EReshape{dims, array.var()}, "shaped", all);
}

Atom Lowerer::resize(const Atom& size, const Atom& wanted, const Certs& certs) {
  if (size == wanted && certs.empty()) return size;
  Certs all = certs;
  if (certs.empty()) {
    check(b_.eq(size, wanted), wrong_size({size}, {wanted}), all);
  }
  return all.empty() ? wanted : Atom(b_.let(b_.type_of(wanted), ir::EAtom{wanted}, "size", all));
}

bool Lowerer::conform_dims(const V& v, const Ty& t, bool compute, std::vector<Atom>& dims,
                           std::vector<std::vector<Atom>>& out) {
  Ty h = head(t);
  if (failed()) return false;
  auto stated = [&](const Leaf& l) {
    if (l.is_dim()) {
      out.push_back({static_cast<size_t>(l.dim) < dims.size() ? dims[l.dim] : l.atom});
      return !(out.back()[0] == l.atom);
    }
    const std::vector<Atom> actual = b_.type_of(l.atom).dims;
    std::vector<Atom> want = dims;
    for (size_t i = want.size(); i < actual.size(); ++i) want.push_back(actual[i]);
    bool differs = want != actual;
    out.push_back(std::move(want));
    return differs;
  };
  auto as_it_is = [&](const V& x) {  // no more is known about the type
    bool differs = false;
    std::vector<Atom> sizes = dims;
    std::vector<Leaf> rest;
    leaves(x, sizes, rest);
    for (const auto& l : rest) differs |= stated(l);
    return differs;
  };
  return std::visit(
      Overloaded{
          [&](const VLeaf& l) { return stated({l.atom}); },
          [&](const VArr& a) {
            const auto* at = std::get_if<core::TArray>(&h.type->node);
            if (at == nullptr) return as_it_is(v);
            // The name of an expression may be known here as what a value has, which depends on
            // more.
            std::optional<Atom> dim = compute ? computed_size(at->dim, h.env) : std::nullopt;
            if (!dim) dim = size_atom(at->dim, h.env, compute);
            dims.push_back(dim.value_or(a.dim));
            bool differs = conform_dims(a.elem, sub(h, at->elem), compute, dims, out);
            dims.pop_back();
            return differs;
          },
          [&](const VRec& r) {
            const auto* rt = std::get_if<core::TRecord>(&h.type->node);
            if (rt == nullptr || rt->fields.size() != r.fields.size() || r.fields.empty()) {
              return as_it_is(v);
            }
            bool differs = false;
            for (size_t i = 0; i < r.fields.size(); ++i) {
              differs |= conform_dims(r.fields[i].second, sub(h, rt->fields[i].second), compute,
                                      dims, out);
            }
            return differs;
          },
          [&](const VSum&) { return as_it_is(v); },
          [](const auto&) { return false; },
      },
      v->node);
}

V Lowerer::reshape_leaves(const V& v, const std::vector<std::vector<Atom>>& dims,
                          const Certs& certs) {
  std::vector<Atom> out;
  std::vector<Leaf> old = leaves(v);
  for (size_t i = 0; i < old.size() && i < dims.size(); ++i) {
    if (old[i].is_dim() && !dims[i].empty()) {
      out.push_back(resize(old[i].atom, dims[i][0], certs));
    } else {
      out.push_back(dims[i].empty() ? old[i].atom : reshape(old[i].atom, dims[i], certs));
    }
  }
  return rebuild(v, out);
}

V Lowerer::conform(const V& v, const Ty& t, bool compute, const Certs& certs) {
  if (failed() || t.type == nullptr) return v;
  if (is_function(v) || std::holds_alternative<VConstr>(v->node)) return v;
  if (const auto* r = std::get_if<VRec>(&v->node)) {
    // Field by field: some may be functions or constructors.
    Ty h = head(t);
    const auto* rt = h.type != nullptr ? std::get_if<core::TRecord>(&h.type->node) : nullptr;
    if (rt == nullptr || rt->fields.size() != r->fields.size()) return v;
    VRec out;
    bool same = true;
    for (size_t i = 0; i < r->fields.size(); ++i) {
      const V& old = r->fields[i].second;
      out.fields.emplace_back(r->fields[i].first,
                              conform(old, sub(h, rt->fields[i].second), compute, certs));
      same = same && out.fields.back().second == old;
    }
    return same ? v : make(std::move(out));
  }
  if (!std::holds_alternative<VArr>(v->node)) return v;
  std::vector<Atom> dims;
  std::vector<std::vector<Atom>> wanted;
  bool differs = conform_dims(v, t, compute, dims, wanted);
  if (failed() || (!differs && certs.empty())) return v;
  return reshape_leaves(v, wanted, certs);
}

V Lowerer::with_outer_dim(const V& v, const Atom& n, const Certs& certs) {
  const VArr& a = as_array(v);
  if (failed() || (a.dim == n && certs.empty())) return v;
  V elem = map_leaves(a.elem, [&](const Atom& x) {
    std::vector<Atom> dims = b_.type_of(x).dims;
    if (dims.empty()) return x;
    dims[0] = n;
    return reshape(x, dims, certs);
  });
  return make(VArr{n, elem});
}

V Lowerer::certify(const V& v, const Certs& certs) {
  if (certs.empty()) return v;
  return map_leaves(materialise(v), [&](const Atom& a) {
    return Atom(b_.let(b_.type_of(a), ir::EAtom{a}, "checked", certs));
  });
}

}  // namespace kenaz::lower
