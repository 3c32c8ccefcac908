// Combinators at host level as segmented operations over one dim, without looking into them:
//
//   let r = soac (n; xs) map \x -> ..
//
// becomes
//
//   let r = seg map device (i < n) { let x = index xs[i] .. }
//
// A scan keeps the operands of reductions beside it as arrays, which a second operation reduces.
#include <algorithm>

#include "kernels/flatten/segments.h"
#include "kernels/ir/builder.h"
#include "kernels/ir/visit.h"

namespace kenaz::flatten {
namespace {

using namespace ir;

size_t values_of(const std::vector<Monoid>& monoids) {
  size_t n = 0;
  for (const Monoid& m : monoids) n += m.neutral.size();
  return n;
}

std::vector<SegMonoid> not_lifted(std::vector<Monoid> monoids) {
  std::vector<SegMonoid> out;
  for (Monoid& m : monoids) out.push_back({std::move(m), {}});
  return out;
}

class Segments {
 public:
  explicit Segments(Program& p) : p_(p) {}

  void body(Body& b) {
    std::vector<Stm> out;
    for (Stm& s : b.stms) {
      if (std::holds_alternative<EIf>(s.exp) || std::holds_alternative<ELoop>(s.exp)) {
        visit_bodies(s.exp, [&](Body& inner) { body(inner); });
      }
      if (auto* e = std::get_if<ESoac>(&s.exp)) {
        soac(s, std::move(*e), out);
      } else if (auto* e = std::get_if<EScatter>(&s.exp)) {
        scatter(s, std::move(*e));
      } else if (auto* e = std::get_if<EHist>(&s.exp)) {
        hist(s, std::move(*e));
      }
      out.push_back(std::move(s));
    }
    b.stms = std::move(out);
  }

 private:
  /// Over the width, with the lambda's body, which gets its rows by the index.
  ESeg over(const Stm& s, const Atom& width, const std::vector<VarId>& inputs, Lambda map) {
    ESeg seg;
    const VarId i = p_.new_var({PrimType::kI64, {}}, "i");
    seg.space.dims.push_back({i, width});
    Builder b(p_, seg.body, s.prov);
    for (size_t k = 0; k < inputs.size(); k++) {
      std::vector<Dim> dims = {DimFix{i}};
      for (const Atom& d : row_type(p_.type_of(inputs[k])).dims) {
        dims.emplace_back(DimRange{i64(0), d, i64(1)});
      }
      b.emit_to({map.params[k]}, EIndex{inputs[k], std::move(dims)});
    }
    for (Stm& inner : map.body.stms) seg.body.stms.push_back(std::move(inner));
    seg.body.results = std::move(map.body.results);
    return seg;
  }

  /// Leaves the statement's last part in `s`, after what it puts out.
  void soac(Stm& s, ESoac e, std::vector<Stm>& out) {
    ESeg seg = over(s, e.width, e.inputs, std::move(e.map));
    if (!e.scans.empty()) {
      seg.kind = SegKind::kScan;
      seg.monoids = not_lifted(std::move(e.scans));
    } else if (!e.reduces.empty()) {
      seg.kind = SegKind::kReduce;
      seg.monoids = not_lifted(std::move(e.reduces));
    }
    if (seg.kind != SegKind::kScan || e.reduces.empty()) {
      s.exp = std::move(seg);
      return;
    }
    // The reductions' operands in place of their results.
    const auto first = s.pat.begin() + static_cast<std::ptrdiff_t>(operands_of(seg));
    const auto end = first + static_cast<std::ptrdiff_t>(values_of(e.reduces));
    const std::vector<VarId> reduced(first, end);
    std::vector<VarId> operands;
    for (const VarId v : reduced) {
      operands.push_back(p_.new_var(array_of(e.width, p_.type_of(v)), p_.vars[v.index].name));
    }
    Stm scan = s;
    std::copy(operands.begin(), operands.end(), scan.pat.begin() + (first - s.pat.begin()));
    scan.exp = std::move(seg);
    out.push_back(std::move(scan));
    Lambda rows;
    for (const VarId v : reduced) {
      rows.params.push_back(p_.new_var(p_.type_of(v), p_.vars[v.index].name));
      rows.body.results.emplace_back(rows.params.back());
    }
    s.pat = reduced;
    ESeg reduce = over(s, e.width, operands, std::move(rows));
    reduce.kind = SegKind::kReduce;
    reduce.monoids = not_lifted(std::move(e.reduces));
    s.exp = std::move(reduce);
  }

  /// All index components, then all values: each write gets its own.
  void add_write(ESeg& seg, const std::vector<Atom>& results, size_t& index_at, size_t& value_at,
                 SegWrite w) {
    const auto take = [&](size_t& at, size_t n) {
      for (size_t k = 0; k < n; k++) seg.body.results.push_back(results[at++]);
    };
    take(index_at, static_cast<size_t>(w.index_rank));
    take(value_at, w.dests.size());
    seg.writes.push_back(std::move(w));
  }

  void scatter(Stm& s, EScatter e) {
    ESeg seg = over(s, e.width, e.inputs, std::move(e.map));
    const std::vector<Atom> results = std::move(seg.body.results);
    seg.body.results.clear();
    size_t index_at = 0, value_at = 0;
    for (const auto& d : e.dests) value_at += static_cast<size_t>(d.index_rank);
    for (const auto& d : e.dests) {
      add_write(seg, results, index_at, value_at, {{d.array}, d.index_rank, 0, {}});
    }
    s.exp = std::move(seg);
  }

  void hist(Stm& s, EHist e) {
    ESeg seg = over(s, e.width, e.inputs, std::move(e.map));
    const std::vector<Atom> results = std::move(seg.body.results);
    seg.body.results.clear();
    size_t index_at = 0, value_at = 0;
    for (const auto& op : e.ops) value_at += static_cast<size_t>(op.index_rank);
    for (auto& op : e.ops) {
      add_write(seg, results, index_at, value_at,
                {op.dests, op.index_rank, 0, SegMonoid{std::move(op.monoid), {}}});
    }
    s.exp = std::move(seg);
  }

  Program& p_;
};

}  // namespace

void segments(Program& p) {
  Segments pass(p);
  pass.body(p.constants);
  for (Function& f : p.functions) pass.body(f.body);
  p.stage = Stage::kSeg;
}

}  // namespace kenaz::flatten
