#include "kernels/host_code/strip_mine.h"

#include <functional>
#include <optional>

#include "kernels/body/analysis.h"
#include "kernels/flatten/device_scalars.h"
#include "kernels/flatten/lift.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/builder.h"
#include "kernels/ir/visit.h"

namespace kenaz::host_code {
namespace {

using namespace ir;
using flatten::is_device_sequential;

/// A piece's turns, those of its inner loops included.
constexpr int64_t kTurns = 1 << 15;
/// Stands for a number of inner turns that is not known.
constexpr int64_t kUnknownTurns = 64;

/// Counts turns, for one statement of host level: its code is appended to the builder, where sizes
/// are known as it runs only. What is bound inside of the statement is not known there.
class Turns {
 public:
  Turns(Builder& b, const Stm& s) : b_(b) {
    for_each_bound(s, [&](VarId v) { inside_.insert(v); });
  }

  /// The turns of the loops that one run of the body takes, about; kTurns at most.
  Atom in(const Body& body) {
    Atom sum = i64(0);
    for (const Stm& s : body.stms) {
      Atom each = i64(0);
      visit_bodies(s.exp, [&](const Body& inner) { each = plus(each, in(inner)); });
      const auto width = count_of(s.exp);
      sum = plus(sum, width ? times(*width, plus(i64(1), each)) : plus(each, copied(s)));
    }
    return sum;
  }
  /// Elements of an array of these sizes.
  Atom of(const std::vector<Atom>& dims) {
    Atom n = i64(1);
    for (const Atom& d : dims) n = times(n, of(d));
    return n;
  }
  Atom plus(const Atom& x, const Atom& y) { return b_.min(b_.add(x, y), i64(kTurns)); }

 private:
  Atom of(const Atom& n) {
    if (!n.is_const() && inside_.contains(n.var())) return i64(kUnknownTurns);
    return b_.min(b_.max(b_.convert(n, PrimType::kI64), i64(0)), i64(kTurns));
  }
  Atom times(const Atom& x, const Atom& y) { return b_.min(b_.mul(x, y), i64(kTurns)); }

  /// How often the bodies of an expression run, if that is a loop.
  std::optional<Atom> count_of(const Exp& exp) {
    if (const auto* e = std::get_if<ESoac>(&exp)) return of(e->width);
    if (const auto* e = std::get_if<EScatter>(&exp)) return of(e->width);
    if (const auto* e = std::get_if<EHist>(&exp)) return of(e->width);
    const auto* e = std::get_if<ELoop>(&exp);
    if (e == nullptr) return std::nullopt;
    const auto* counted = std::get_if<LoopFor>(&e->form);
    return counted != nullptr ? of(counted->bound) : i64(kUnknownTurns);
  }
  /// Arrays are made and copied element by element.
  Atom copied(const Stm& s) {
    if (const auto* update = std::get_if<EUpdate>(&s.exp)) return of(slice_dims(update->dims));
    const bool makes =
        std::holds_alternative<EReplicate>(s.exp) || std::holds_alternative<ECopy>(s.exp) ||
        std::holds_alternative<EConcat>(s.exp) || std::holds_alternative<EArrayLit>(s.exp);
    return makes ? of(b_.program().type_of(s.pat[0]).dims) : i64(0);
  }

  Builder& b_;
  VarSet inside_;
};

class StripMine {
 public:
  explicit StripMine(Program& p) : p_(p), replicates_(flatten::find_replicates(p)) {}

  void body(Body& b) {
    std::vector<Stm> out;
    for (Stm& s : b.stms) {
      if (std::holds_alternative<ELoop>(s.exp) && is_device_sequential(p_, s)) {
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
        cut_hist(s, out);
      } else if (std::holds_alternative<ESoac>(s.exp)) {
        cut_soac(s, out);
      } else {
        out.push_back(std::move(s));
      }
    }
    b.stms = std::move(out);
  }

 private:
  /// A host loop `let s.pat = loop params = inits for c < pieces do ..`, in place of a statement of
  /// so many turns. `each` counts what one of them takes, `params` makes the params; `piece` makes
  /// the body from the first turn and the number of turns, and returns its results.
  struct Cut {
    Atom turns;
    std::function<Atom(Turns&)> each;
    std::function<std::vector<ELoop::Param>(Builder&)> params;
    std::function<std::vector<Atom>(Builder&, const std::vector<ELoop::Param>&, const Atom& first,
                                    const Atom& n)>
        piece;
    std::vector<VarId> pat;  // what the loop binds
  };
  void pieces(Stm s, const Cut& cut, std::vector<Stm>& out) {
    Body around;
    Builder b(p_, around, s.prov);
    b.certs() = s.certs;
    Turns turns(b, s);
    const Atom size = b.max(i64(1), b.quot(i64(kTurns), turns.plus(i64(1), cut.each(turns))));
    if (is_short(cut.turns, size)) {
      out.push_back(std::move(s));
      return;
    }
    const Atom whole = b.max(cut.turns, i64(0));
    const Atom count = b.add(b.quot(whole, size), b.min(b.rem(whole, size), i64(1)));
    ELoop loop;
    loop.params = cut.params(b);
    const VarId c = p_.new_var({PrimType::kI64, {}}, "piece");
    loop.form = LoopFor{c, count};
    Builder inside(p_, loop.body, s.prov);
    inside.certs() = s.certs;
    const Atom first = inside.mul(c, size);
    const Atom n = inside.min(size, inside.sub(cut.turns, first));
    loop.body.results = cut.piece(inside, loop.params, first, n);
    around.stms.push_back(Stm{cut.pat, std::move(loop), s.certs, s.prov, {flatten::kHostLoop}});
    for (Stm& made : around.stms) out.push_back(std::move(made));
  }

  /// So many rows of an array, from the first on.
  std::vector<Dim> rows(VarId array, const Atom& first, const Atom& n) {
    std::vector<Dim> dims = row_dims(p_.type_of(array), {});
    dims[0] = DimRange{first, n, i64(1)};
    return dims;
  }
  VarId like(VarId v) { return p_.new_var(p_.type_of(v), p_.vars[v.index].name); }

  static bool is_short(const Atom& n, const Atom& size) {
    return n.is_const() && size.is_const() && n.constant().as_i64() <= size.constant().as_i64();
  }

  /// The turns of an operator, and of keeping what it gives.
  static Atom turns_of(Turns& turns, const Program& p, const Monoid& m) {
    Atom sum = turns.in(m.op.body);
    for (const Atom& n : m.neutral) sum = turns.plus(sum, turns.of(p.type_of(n).dims));
    return sum;
  }

  void cut_hist(const Stm& s, std::vector<Stm>& out) {
    const auto& e = std::get<EHist>(s.exp);
    Cut cut;
    cut.turns = e.width;
    cut.pat = s.pat;
    cut.each = [&](Turns& turns) {
      Atom sum = turns.in(e.map.body);
      for (const auto& op : e.ops) sum = turns.plus(sum, turns_of(turns, p_, op.monoid));
      return sum;
    };
    cut.params = [&](Builder&) {
      std::vector<ELoop::Param> params;
      for (const auto& op : e.ops) {
        for (const VarId d : op.dests) params.push_back({like(d), d});
      }
      return params;
    };
    cut.piece = [&](Builder& b, const std::vector<ELoop::Param>& params, const Atom& first,
                    const Atom& n) {
      EHist piece = e;
      piece.width = n;
      size_t at = 0;
      for (auto& op : piece.ops) {
        for (VarId& d : op.dests) d = params[at++].var;
      }
      for (VarId& in : piece.inputs) in = b.slice(in, rows(in, first, n));
      return emit(b, s, std::move(piece));
    };
    pieces(s, cut, out);
  }

  /// What is scanned and reduced so far is the piece's neutral element; the arrays of scans and of
  /// plain results get the piece's rows.
  void cut_soac(const Stm& s, std::vector<Stm>& out) {
    const auto& e = std::get<ESoac>(s.exp);
    const auto count = [](const std::vector<Monoid>& ms) {
      size_t n = 0;
      for (const Monoid& m : ms) n += m.neutral.size();
      return n;
    };
    const size_t scanned = count(e.scans), reduced = count(e.reduces);
    const auto is_array = [=](size_t k) { return k < scanned || k >= scanned + reduced; };
    Cut cut;
    cut.turns = e.width;
    cut.each = [&](Turns& turns) {
      Atom sum = turns.in(e.map.body);
      for (const Monoid& m : e.scans) sum = turns.plus(sum, turns_of(turns, p_, m));
      for (const Monoid& m : e.reduces) sum = turns.plus(sum, turns_of(turns, p_, m));
      for (size_t k = 0; k < s.pat.size(); k++) {
        if (is_array(k)) sum = turns.plus(sum, turns.of(row_type(p_.type_of(s.pat[k])).dims));
      }
      return sum;
    };
    // What is accumulated, in the order of its monoids, then the arrays.
    cut.params = [&](Builder& b) {
      std::vector<ELoop::Param> params;
      for (const auto* monoids : {&e.scans, &e.reduces}) {
        for (const Monoid& m : *monoids) {
          for (const Atom& n : m.neutral) params.push_back({p_.new_var(p_.type_of(n), "acc"), n});
        }
      }
      for (size_t k = 0; k < s.pat.size(); k++) {
        if (!is_array(k)) continue;
        const Type t = p_.type_of(s.pat[k]);
        params.push_back({like(s.pat[k]), b.emit(EScratch{t.prim, t.dims}, t, "rows")});
      }
      return params;
    };
    cut.piece = [&](Builder& b, const std::vector<ELoop::Param>& params, const Atom& first,
                    const Atom& n) {
      ESoac piece = e;
      piece.width = n;
      size_t at = 0;
      for (auto* monoids : {&piece.scans, &piece.reduces}) {
        for (Monoid& m : *monoids) {
          for (Atom& neutral : m.neutral) neutral = params[at++].var;
        }
      }
      for (VarId& in : piece.inputs) in = b.slice(in, rows(in, first, n));
      std::vector<Type> types;
      for (size_t k = 0; k < s.pat.size(); k++) {
        const Type t = p_.type_of(s.pat[k]);
        types.push_back(is_array(k) ? array_of(n, row_type(t)) : t);
      }
      const std::vector<VarId> made = b.emit(std::move(piece), types, "piece");
      std::vector<Atom> results;
      for (size_t k = 0; k < scanned; k++) {
        results.push_back(b.index(made[k], std::vector<Atom>{b.sub(n, i64(1))}));
      }
      for (size_t k = scanned; k < scanned + reduced; k++) results.emplace_back(made[k]);
      for (size_t k = 0; k < s.pat.size(); k++) {
        if (!is_array(k)) continue;
        const VarId to = params[at++].var;
        results.emplace_back(b.update(to, rows(to, first, n), made[k]));
      }
      return results;
    };
    for (size_t k = 0; k < scanned; k++) {
      cut.pat.push_back(p_.new_var(row_type(p_.type_of(s.pat[k])), "acc"));
    }
    for (size_t k = scanned; k < scanned + reduced; k++) cut.pat.push_back(s.pat[k]);
    for (size_t k = 0; k < s.pat.size(); k++) {
      if (is_array(k)) cut.pat.push_back(s.pat[k]);
    }
    pieces(s, cut, out);
  }

  void cut_loop(Stm s, std::vector<Stm>& out) {
    const ELoop e = std::get<ELoop>(s.exp);
    const auto* counted = std::get_if<LoopFor>(&e.form);
    if (counted == nullptr || p_.type_of(counted->index).prim != PrimType::kI64 ||
        has_moving_sizes(e)) {
      out.push_back(std::move(s));
      return;
    }
    Cut cut;
    cut.turns = counted->bound;
    cut.pat = s.pat;
    cut.each = [&](Turns& turns) { return turns.in(e.body); };
    cut.params = [&](Builder&) {
      std::vector<ELoop::Param> params;
      for (const auto& p : e.params) params.push_back({like(p.var), p.init});
      return params;
    };
    cut.piece = [&](Builder& b, const std::vector<ELoop::Param>& params, const Atom& first,
                    const Atom& n) {
      ELoop piece = e;
      const VarId turn = p_.new_var({PrimType::kI64, {}}, "turn");
      piece.form = LoopFor{turn, n};
      for (size_t k = 0; k < params.size(); k++) piece.params[k].init = params[k].var;
      Stm count{{counted->index},
                EPrim{ScalarOp::kAdd, PrimType::kI64, PrimType::kI64, {first, turn}},
                {},
                s.prov,
                {}};
      piece.body.stms.insert(piece.body.stms.begin(), std::move(count));
      return emit(b, s, std::move(piece));
    };
    pieces(s, cut, out);
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
  visit_bodies(p, [&](Body& b) { pass.body(b); });
}

}  // namespace kenaz::host_code
