// Loops. Sizes of the loop's values are taken to be the same in every iteration until the body
// shows otherwise; then the loop is lowered again with those sizes as parameters of their own.
#include <algorithm>
#include <map>

#include "kernels/futhark/lower/lowerer.h"

namespace kenaz::lower {

using ir::Atom;

/// Which dims of the loop's values are the same: each dim of each leaf belongs to a group.
struct Lowerer::LoopShape {
  struct Group {
    Atom init;
    bool varies = false;
  };
  std::vector<Group> groups;
  std::vector<std::vector<int>> group_of;  // by leaf, by dim
};

namespace {

/// Splits groups whose members got different sizes from the body. True if nothing changed.
template <class Shape>
bool refine(Shape& shape, const std::vector<std::vector<Atom>>& results) {
  std::vector<std::vector<std::pair<Atom, int>>> split(shape.groups.size());
  bool stable = true;
  const size_t count = shape.groups.size();
  for (size_t k = 0; k < shape.group_of.size(); ++k) {
    for (size_t d = 0; d < shape.group_of[k].size(); ++d) {
      const size_t g = static_cast<size_t>(shape.group_of[k][d]);
      if (g >= count) continue;
      const Atom& r = results[k][d];
      if (!shape.groups[g].varies && r == shape.groups[g].init) continue;
      if (shape.groups[g].varies && split[g].empty()) {
        split[g].emplace_back(r, static_cast<int>(g));
        continue;
      }
      int to = -1;
      for (const auto& [atom, group] : split[g]) {
        if (atom == r) to = group;
      }
      if (to < 0) {
        to = static_cast<int>(shape.groups.size());
        shape.groups.push_back({shape.groups[g].init, true});
        split[g].emplace_back(r, to);
      }
      if (to != shape.group_of[k][d]) {
        shape.group_of[k][d] = to;
        stable = false;
      }
    }
  }
  return stable;
}

}  // namespace

V Lowerer::eval_loop(const core::Exp&, const core::ELoop& l, const Env& env) {
  if (b_.depth() > kMaxBodyDepth) return fail("the program nests its control flow too deeply");
  V init = eval(l.init, env);
  if (failed()) return unit();
  // Sizes that vary are rebound in each iteration; everything else in the type must fit already.
  init = materialise(conform(init, Ty{l.pat->type, env}));
  V bound;
  if (l.form != core::ELoop::kWhile) bound = eval(l.bound, env);
  if (failed()) return unit();

  LoopShape shape;
  for (const auto& x : leaves(init)) {
    std::vector<int> dims;
    for (const Atom& d : b_.type_of(x.atom).dims) {
      int g = 0;
      while (g < static_cast<int>(shape.groups.size()) && !(shape.groups[g].init == d)) ++g;
      if (g == static_cast<int>(shape.groups.size())) shape.groups.push_back({d, false});
      dims.push_back(g);
    }
    shape.group_of.push_back(std::move(dims));
  }
  for (int attempt = 0; attempt < 20 && !failed(); ++attempt) {
    bool stable = false;
    V result = loop_once(l, env, init, bound, shape, stable);
    if (stable || failed()) return result;
  }
  return broken("the sizes of a loop's values do not settle");
}

V Lowerer::loop_once(const core::ELoop& l, const Env& env, const V& init, const V& bound,
                     LoopShape& shape, bool& stable) {
  const std::vector<Leaf> start = leaves(init);
  const LoopShape used = shape;
  const PrimType i64 = PrimType::kI64;
  ir::ELoop loop;
  std::vector<ir::VarId> pat;

  // What the loop binds outside: [cond], sizes, leaves. The dims of either refer to its own sizes.
  auto make_vars = [&](std::vector<ir::VarId>& vars, const std::string& name) {
    std::vector<Atom> dim_of;
    for (const auto& g : used.groups) {
      if (!g.varies) {
        dim_of.push_back(g.init);
      } else {
        vars.push_back(b_.var({i64, {}}, "size"));
        dim_of.push_back(vars.back());
      }
    }
    std::vector<Atom> out;
    for (size_t k = 0; k < start.size(); ++k) {
      ir::Type t{b_.type_of(start[k].atom).prim, {}};
      for (int g : used.group_of[k]) t.dims.push_back(dim_of[g]);
      vars.push_back(b_.var(t, name));
      out.push_back(vars.back());
    }
    return out;
  };

  Atom first_cond;
  if (l.form == core::ELoop::kWhile) {
    first_cond = as_atom(eval(l.bound, bind_pattern(*l.pat, init, env)));
    if (failed()) return unit();
  }
  std::vector<ir::VarId> result_vars;
  ir::VarId result_cond;
  if (l.form == core::ELoop::kWhile) result_cond = b_.var({PrimType::kBool, {}}, "continue");
  std::vector<Atom> result_leaves = make_vars(result_vars, "loop");

  b_.open();
  std::vector<ir::VarId> param_vars;
  ir::VarId cond_param;
  if (l.form == core::ELoop::kWhile) cond_param = b_.var({PrimType::kBool, {}}, "continue");
  std::vector<Atom> params = make_vars(param_vars, "state");
  Env inner = bind_pattern(*l.pat, rebuild(init, params), env);
  if (l.form == core::ELoop::kWhile) {
    loop.form = ir::LoopWhile{cond_param};
  } else {
    const bool in = l.form == core::ELoop::kForIn;
    Atom n = in ? as_array(bound).dim : as_atom(bound);
    ir::VarId index = b_.var({b_.type_of(n).prim, {}}, in ? "i" : name_of(l.index));
    loop.form = ir::LoopFor{index, n};
    if (in) {
      inner = bind_pattern(*l.elem_pat, row(bound, index), inner);
    } else {
      inner = bind(inner, l.index, leaf(index));
    }
  }
  V result = eval(l.body, inner);
  result = materialise(conform(result, Ty{l.pat->type, env}));
  note_writes_of_loop(init, result);
  std::vector<Leaf> end = leaves(result);
  if (!failed() && end.size() != start.size()) broken("a loop's body of different structure");
  Atom next_cond;
  if (!failed() && l.form == core::ELoop::kWhile) {
    next_cond = as_atom(eval(l.bound, bind_pattern(*l.pat, result, env)));
  }
  loop.body.stms = b_.close();
  if (failed()) return unit();

  std::vector<std::vector<Atom>> dims;
  for (const auto& x : end) dims.push_back(b_.type_of(x.atom).dims);
  for (size_t k = 0; k < dims.size(); ++k) {
    if (dims[k].size() != used.group_of[k].size()) return broken("ranks of a loop's values");
  }
  stable = refine(shape, dims);
  if (!stable) return unit();

  if (l.form == core::ELoop::kWhile) {
    pat.push_back(result_cond);
    loop.params.push_back({cond_param, first_cond});
    loop.body.results.push_back(next_cond);
  }
  pat.insert(pat.end(), result_vars.begin(), result_vars.end());
  size_t p = 0;
  for (size_t g = 0; g < used.groups.size(); ++g) {
    if (!used.groups[g].varies) continue;
    Atom next = used.groups[g].init;
    for (size_t k = 0; k < dims.size(); ++k) {
      for (size_t d = 0; d < dims[k].size(); ++d) {
        if (used.group_of[k][d] == static_cast<int>(g)) next = dims[k][d];
      }
    }
    loop.params.push_back({param_vars[p++], used.groups[g].init});
    loop.body.results.push_back(next);
  }
  for (size_t k = 0; k < start.size(); ++k) {
    loop.params.push_back({param_vars[p++], start[k].atom});
    loop.body.results.push_back(end[k].atom);
  }
  b_.emit(std::move(pat), std::move(loop));
  return rebuild(init, result_leaves);
}

}  // namespace kenaz::lower
