#include "kernels/gpu/strip_mine.h"

#include <algorithm>

#include "kernels/body/analysis.h"
#include "kernels/flatten/device_scalars.h"
#include "kernels/flatten/lift.h"
#include "kernels/ir/builder.h"
#include "kernels/ir/visit.h"

namespace kenaz::gpu {
namespace {

using namespace ir;
using flatten::is_device_sequential;

/// A piece's turns, those of its inner loops included.
constexpr int64_t kTurns = 1 << 15;
/// Stands for a number of inner turns that is not known.
constexpr int64_t kUnknownTurns = 64;

int64_t times(int64_t a, int64_t b) { return std::min(kTurns, a * std::min(kTurns, b)); }

int64_t turns_of(const Atom& n) {
  return n.is_const() ? std::clamp<int64_t>(n.constant().as_i64(), 0, kTurns) : kUnknownTurns;
}
int64_t turns_of(const std::vector<Atom>& dims) {
  int64_t n = 1;
  for (const Atom& d : dims) n = times(n, turns_of(d));
  return n;
}

/// Arrays are made and copied element by element.
int64_t copied_elements(const Program& p, const Stm& s) {
  if (const auto* update = std::get_if<EUpdate>(&s.exp)) return turns_of(slice_dims(update->dims));
  if (std::holds_alternative<EReplicate>(s.exp) || std::holds_alternative<ECopy>(s.exp) ||
      std::holds_alternative<EConcat>(s.exp) || std::holds_alternative<EArrayLit>(s.exp)) {
    return turns_of(p.type_of(s.pat[0]).dims);
  }
  return 0;
}

/// The turns of the loops that one run of the body takes, about.
int64_t turns_in(const Program& p, const Body& b) {
  int64_t sum = 0;
  for (const Stm& s : b.stms) {
    int64_t each = 0;
    visit_bodies(s.exp, [&](const Body& inner) { each += turns_in(p, inner); });
    const auto loop = [&](const Atom& n) { sum += times(turns_of(n), 1 + each); };
    if (const auto* e = std::get_if<ESoac>(&s.exp)) {
      loop(e->width);
    } else if (const auto* e = std::get_if<EScatter>(&s.exp)) {
      loop(e->width);
    } else if (const auto* e = std::get_if<EHist>(&s.exp)) {
      loop(e->width);
    } else if (const auto* e = std::get_if<ELoop>(&s.exp)) {
      const auto* counted = std::get_if<LoopFor>(&e->form);
      sum += times(counted != nullptr ? turns_of(counted->bound) : kUnknownTurns, 1 + each);
    } else {
      sum += each + copied_elements(p, s);
    }
    sum = std::min(sum, kTurns);
  }
  return sum;
}

class StripMine {
 public:
  explicit StripMine(Program& p) : p_(p), replicates_(flatten::find_replicates(p)) {}

  void body(Body& b) {
    std::vector<Stm> out;
    for (Stm& s : b.stms) {
      if (auto* loop = std::get_if<ELoop>(&s.exp); loop && is_device_sequential(p_, s)) {
        cut_loop(std::move(s), out);
        continue;
      }
      if (!is_device_sequential(p_, s) &&
          (std::holds_alternative<EIf>(s.exp) || std::holds_alternative<ELoop>(s.exp))) {
        visit_bodies(s.exp, [&](Body& inner) { body(inner); });
      }
      if (flatten::lifts_all(p_, replicates_, s.exp)) {
        out.push_back(std::move(s));
      } else if (std::holds_alternative<EHist>(s.exp)) {
        cut_hist(std::move(s), out);
      } else if (is_sequential_reduction(s)) {
        cut_reduction(std::move(s), out);
      } else {
        out.push_back(std::move(s));
      }
    }
    b.stms = std::move(out);
  }

 private:
  bool is_sequential_reduction(const Stm& s) const {
    const auto* e = std::get_if<ESoac>(&s.exp);
    if (e == nullptr || !e->scans.empty() || e->reduces.empty()) return false;
    size_t values = 0;
    bool arrays = false;
    for (const Monoid& m : e->reduces) {
      values += m.neutral.size();
      for (const Atom& n : m.neutral) arrays |= !p_.type_of(n).is_scalar();
    }
    return arrays && values == s.pat.size();  // no rows beside the reductions
  }

  /// A host loop `let s.pat = loop params = inits for c < pieces do ..`; `piece` makes the body
  /// from the first turn and the number of turns, and returns its results.
  template <class F>
  void pieces(const Stm& s, const Atom& turns, int64_t per_piece, std::vector<ELoop::Param> params,
              std::vector<Stm>& out, F&& piece) {
    Body around;
    Builder b(p_, around, s.prov);
    b.certs() = s.certs;
    const Atom whole = b.max(turns, i64(0)), size = i64(per_piece);
    const Atom count = b.add(b.quot(whole, size), b.min(b.rem(whole, size), i64(1)));
    ELoop loop;
    loop.params = std::move(params);
    const VarId c = p_.new_var({PrimType::kI64, {}}, "piece");
    loop.form = LoopFor{c, count};
    Builder inside(p_, loop.body, s.prov);
    inside.certs() = s.certs;
    const Atom first = inside.mul(c, i64(per_piece));
    const Atom n = inside.min(i64(per_piece), inside.sub(turns, first));
    loop.body.results = piece(inside, first, n);
    around.stms.push_back(Stm{s.pat, std::move(loop), s.certs, s.prov, {flatten::kHostLoop}});
    for (Stm& made : around.stms) out.push_back(std::move(made));
  }

  VarId slice_rows(Builder& b, VarId array, const Atom& first, const Atom& n) {
    std::vector<Dim> dims = {DimRange{first, n, i64(1)}};
    const Type& t = p_.type_of(array);
    for (size_t d = 1; d < t.dims.size(); d++) {
      dims.emplace_back(DimRange{i64(0), t.dims[d], i64(1)});
    }
    return b.slice(array, std::move(dims));
  }

  VarId like(VarId v) { return p_.new_var(p_.type_of(v), p_.vars[v.index].name); }

  static bool is_short(const Atom& n, int64_t per_piece) {
    return n.is_const() && n.constant().as_i64() <= per_piece;
  }

  void cut_hist(Stm s, std::vector<Stm>& out) {
    const auto& e = std::get<EHist>(s.exp);
    int64_t each = 1 + turns_in(p_, e.map.body);
    for (const auto& op : e.ops) {
      each += turns_in(p_, op.monoid.op.body);
      for (const Atom& n : op.monoid.neutral) each += turns_of(p_.type_of(n).dims);
    }
    const int64_t per_piece = std::max<int64_t>(1, kTurns / each);
    if (is_short(e.width, per_piece)) {
      out.push_back(std::move(s));
      return;
    }
    std::vector<ELoop::Param> params;
    for (const auto& op : e.ops) {
      for (const VarId d : op.dests) params.push_back({like(d), d});
    }
    pieces(s, e.width, per_piece, params, out, [&](Builder& b, const Atom& first, const Atom& n) {
      EHist piece = e;
      piece.width = n;
      size_t at = 0;
      for (auto& op : piece.ops) {
        for (VarId& d : op.dests) d = params[at++].var;
      }
      for (VarId& in : piece.inputs) in = slice_rows(b, in, first, n);
      return emit(b, s, std::move(piece));
    });
  }

  void cut_reduction(Stm s, std::vector<Stm>& out) {
    const auto& e = std::get<ESoac>(s.exp);
    int64_t each = 1 + turns_in(p_, e.map.body);
    for (const Monoid& m : e.reduces) {
      each += turns_in(p_, m.op.body);
      for (const Atom& n : m.neutral) each += turns_of(p_.type_of(n).dims);
    }
    const int64_t per_piece = std::max<int64_t>(1, kTurns / each);
    if (is_short(e.width, per_piece)) {
      out.push_back(std::move(s));
      return;
    }
    std::vector<ELoop::Param> params;
    for (const Monoid& m : e.reduces) {
      for (const Atom& n : m.neutral) {
        params.push_back({p_.new_var(p_.type_of(n), "acc"), n});
      }
    }
    pieces(s, e.width, per_piece, params, out, [&](Builder& b, const Atom& first, const Atom& n) {
      // What is reduced so far is the piece's neutral element.
      ESoac piece = e;
      piece.width = n;
      size_t at = 0;
      for (Monoid& m : piece.reduces) {
        for (Atom& neutral : m.neutral) neutral = params[at++].var;
      }
      for (VarId& in : piece.inputs) in = slice_rows(b, in, first, n);
      return emit(b, s, std::move(piece));
    });
  }

  void cut_loop(Stm s, std::vector<Stm>& out) {
    auto& e = std::get<ELoop>(s.exp);
    const auto* counted = std::get_if<LoopFor>(&e.form);
    const int64_t per_piece = std::max<int64_t>(1, kTurns / (1 + turns_in(p_, e.body)));
    if (counted == nullptr || p_.type_of(counted->index).prim != PrimType::kI64 ||
        is_short(counted->bound, per_piece) || has_moving_sizes(e)) {
      out.push_back(std::move(s));
      return;
    }
    std::vector<ELoop::Param> params;
    for (const auto& p : e.params) params.push_back({like(p.var), p.init});
    pieces(s, counted->bound, per_piece, params, out,
           [&](Builder& b, const Atom& first, const Atom& n) {
             ELoop piece = std::move(e);
             const VarId index = std::get<LoopFor>(piece.form).index;
             const VarId turn = p_.new_var({PrimType::kI64, {}}, "turn");
             piece.form = LoopFor{turn, n};
             for (size_t k = 0; k < params.size(); k++) piece.params[k].init = params[k].var;
             Stm count{{index},
                       EPrim{ScalarOp::kAdd, PrimType::kI64, PrimType::kI64, {first, turn}},
                       {},
                       s.prov,
                       {}};
             piece.body.stms.insert(piece.body.stms.begin(), std::move(count));
             return emit(b, s, std::move(piece));
           });
  }

  /// Whether the size of a parameter is another parameter.
  bool has_moving_sizes(const ELoop& e) const {
    for (const auto& array : e.params) {
      for (const Atom& d : p_.type_of(array.var).dims) {
        for (const auto& size : e.params) {
          if (d == Atom(size.var)) return true;
        }
      }
    }
    return false;
  }

  std::vector<Atom> emit(Builder& b, const Stm& like_stm, Exp exp) {
    std::vector<VarId> pat;
    for (const VarId v : like_stm.pat) pat.push_back(like(v));
    std::vector<Atom> results(pat.begin(), pat.end());
    b.emit_to(std::move(pat), std::move(exp));
    return results;
  }

  Program& p_;
  const flatten::Replicates replicates_;
};

}  // namespace

void strip_mine(Program& p) {
  StripMine pass(p);
  pass.body(p.constants);
  for (Function& f : p.functions) pass.body(f.body);
}

}  // namespace kenaz::gpu
