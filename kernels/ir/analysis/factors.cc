#include "kernels/ir/analysis/factors.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/visit.h"

namespace kenaz::ir {

namespace {

// So many statements: a kernel has those of a factor some eight times, those of the rest as often
// as a thread has elements at a time.
constexpr size_t kMostOfFactor = 24, kMostOfJoin = 8;

constexpr unsigned kPosition = 1, kColumn = 2, kRow = 4;

bool all_statements(const Body& b, const std::function<bool(const Exp&)>& holds) {
  return std::all_of(b.stms.begin(), b.stms.end(), [&](const Stm& s) {
    if (!holds(s.exp)) return false;
    bool inside = true;
    visit_bodies(s.exp, [&](const Body& inner) { inside &= all_statements(inner, holds); });
    return inside;
  });
}

bool is_arithmetic(const Exp& e) {
  return std::holds_alternative<EAtom>(e) || std::holds_alternative<EPrim>(e) ||
         std::holds_alternative<EIf>(e);
}

bool is_arithmetic_or_read(const Exp& e) {
  return is_arithmetic(e) || std::holds_alternative<EIndex>(e) ||
         std::holds_alternative<ERearrange>(e);
}

class Splitter {
 public:
  Splitter(const Program& p, const ESeg& e, GridDims grid) : p_(p), e_(e) {
    const auto& dims = e.space.dims;
    out_.dims = grid;
    depends_[dims.back().index] = kPosition;
    for (size_t d = grid.column; d < grid.end; d++) depends_[dims[d].index] = kColumn;
    for (size_t d = grid.row; d < grid.row_end; d++) depends_[dims[d].index] = kRow;
  }

  std::optional<Factors> run() {
    for (const Stm& s : e_.body.stms) {
      unsigned on = 0;
      for_each_use(p_, s, [&](VarId v) { on |= depends_on(v); });
      for (const VarId v : s.pat) depends_[v] = on;
      if ((on & kRow) != 0 && (on & kColumn) != 0) {
        out_.join.stms.push_back(s);
        continue;
      }
      // What depends on neither is made on both sides; only what is used stays.
      if ((on & kColumn) == 0) add(left_, out_.left, s, kRow);
      if ((on & kRow) == 0) add(right_, out_.right, s, kColumn);
    }
    out_.join.results = e_.body.results;
    if ((!out_.left.reads && !out_.right.reads) || !is_good()) return std::nullopt;
    return hand_over() ? std::optional(std::move(out_)) : std::nullopt;
  }

 private:
  struct Reads {
    int along = 0, across = 0;
  };

  unsigned depends_on(VarId v) const {
    const auto it = depends_.find(v);
    return it == depends_.end() ? 0 : it->second;
  }
  unsigned depends_on(const Atom& a) const { return a.is_const() ? 0 : depends_on(a.var()); }

  void add(Reads& reads, Factors::Side& side, const Stm& s, unsigned own) {
    side.body.stms.push_back(s);
    const auto* index = std::get_if<EIndex>(&s.exp);
    if (index == nullptr || (depends_on(s.pat[0]) & kPosition) == 0) return;
    side.reads = side.reads || (depends_on(s.pat[0]) & own) != 0;
    const auto* last = std::get_if<DimFix>(&index->dims.back());
    if (last == nullptr) return;
    const unsigned on = depends_on(last->index);
    if (on == kPosition) reads.along++;
    if (on == own) reads.across++;
    side.along = reads.along > reads.across;
  }

  bool is_good() const {
    return out_.join.stms.size() <= kMostOfJoin && out_.left.body.stms.size() <= kMostOfFactor &&
           out_.right.body.stms.size() <= kMostOfFactor &&
           all_statements(out_.join, is_arithmetic) &&
           all_statements(out_.left.body, is_arithmetic_or_read) &&
           all_statements(out_.right.body, is_arithmetic_or_read);
  }

  /// The values that the join needs become results of the sides; false: one of them is an array.
  bool hand_over() {
    VarSet needed = free_vars(p_, out_.join);
    std::vector<VarId> all;
    for (const auto& [v, on] : depends_) {
      if (needed.contains(v)) all.push_back(v);
    }
    std::sort(all.begin(), all.end());
    for (const VarId v : all) {
      if (!p_.type_of(v).is_scalar()) return false;
      Factors::Side& side = (depends_on(v) & kColumn) != 0 ? out_.right : out_.left;
      side.values.push_back(v);
      side.body.results.emplace_back(v);
    }
    return !out_.left.values.empty() && !out_.right.values.empty();
  }

  const Program& p_;
  const ESeg& e_;
  std::unordered_map<VarId, unsigned> depends_;
  Reads left_, right_;
  Factors out_;
};

/// All ways to take neighbouring dims for rows and for columns; those with no matrices between
/// them, few dims of columns and many of rows come first.
std::vector<GridDims> all_grids(const ESeg& e) {
  const size_t end = last_dims(e).end;
  std::vector<GridDims> out;
  for (size_t column = end - 1; column > 0; column--) {
    for (size_t row = 0; row < column; row++) out.push_back({row, column, column, end});
  }
  for (size_t column = end - 1; column > 1; column--) {
    for (size_t row_end = column - 1; row_end > 0; row_end--) {
      for (size_t row = 0; row < row_end; row++) out.push_back({row, column, row_end, end});
    }
  }
  return out;
}

bool both_read(const std::optional<Factors>& f) { return f && f->left.reads && f->right.reads; }

}  // namespace

GridDims last_dims(const ESeg& e) {
  const size_t end = e.space.dims.size() - 1;
  const size_t column = end > 0 ? end - 1 : 0;
  return {end > 1 ? end - 2 : 0, column, column, end};
}

bool is_product(const Program& p, const ESeg& e) { return both_read(factors_of(p, e)); }

std::optional<Factors> factors_of(const Program& p, const ESeg& e) {
  const bool reduces = e.kind == SegKind::kReduce && e.level == SegLevel::kDevice;
  const bool scalars = std::all_of(e.monoids.begin(), e.monoids.end(),
                                   [](const SegMonoid& m) { return m.lifted.empty(); });
  if (!reduces || !scalars || !e.writes.empty() || e.space.dims.size() < 3 ||
      e.body.results.size() != operands_of(e)) {
    return std::nullopt;
  }
  // Most products have one dim of each, whose indices take no divisions.
  if (auto factors = Splitter(p, e, last_dims(e)).run(); both_read(factors)) return factors;
  std::optional<Factors> found;
  for (const GridDims& grid : all_grids(e)) {
    auto factors = Splitter(p, e, grid).run();
    if (both_read(factors)) return factors;
    if (!found && grid.row_end == grid.column) found = std::move(factors);
  }
  return found;
}

}  // namespace kenaz::ir
