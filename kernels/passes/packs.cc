// Packings where no kernel packs: in lambdas they are a scan of counts and a scatter, which fusion,
// differentiation and threads know. At host level only scalars are packed: of larger rows their
// numbers are, and then the rows are gathered.
#include <algorithm>
#include <array>
#include <optional>

#include "kernels/ir/builder.h"
#include "kernels/ir/visit.h"
#include "kernels/passes/passes.h"

namespace kenaz::passes {
namespace {

using namespace ir;

const Type kI64Scalar{PrimType::kI64, {}};

class Packs {
 public:
  /// `all`: none stays.
  explicit Packs(Program& p, bool all) : p_(p), all_(all) {}

  void program() {
    visit_bodies(p_, [&](Body& b) { body(b, all_); });
  }

 private:
  void body(Body& b, bool in_lambda) {
    Body out;
    for (Stm& s : b.stms) {
      visit_bodies(s.exp, [&](Body& inner) { body(inner, in_lambda || has_lambdas(s.exp)); });
      auto* e = std::get_if<EPack>(&s.exp);
      if (e == nullptr) {
        out.stms.push_back(std::move(s));
      } else if (s.pat.size() == 1) {
        by_sum(s, *e, out);
      } else if (in_lambda || is_few(e->width)) {
        by_scan(s, std::move(*e), out);
      } else if (has_rows(*e)) {
        by_number(s, std::move(*e), out);
      } else {
        out.stms.push_back(std::move(s));
      }
    }
    b.stms = std::move(out.stms);
  }

  static bool has_lambdas(const Exp& exp) {
    bool any = std::holds_alternative<ESeg>(exp);
    visit_lambdas(exp, [&](const Lambda&) { any = true; });
    return any;
  }
  static bool is_few(const Atom& n) { return n.is_const() && n.constant().as_i64() <= kFewToMove; }
  static bool has_rows(const EPack& e) {
    return std::any_of(e.map.ret.begin(), e.map.ret.end(),
                       [](const Type& t) { return !t.is_scalar(); });
  }

  Builder builder(const Stm& s, Body& out) {
    Builder b(p_, out, s.prov);
    b.certs() = s.certs;
    return b;
  }

  /// Nothing but the counts.
  void by_sum(const Stm& s, EPack& e, Body& out) {
    Builder b = builder(s, out);
    ESoac sum{e.width, e.inputs, flagged(b, e), {}, {}};
    const auto classes = static_cast<size_t>(e.classes);
    sum.map.body.results.resize(classes);
    sum.map.ret.resize(classes);
    sum.reduces.assign(classes, {});
    for (Monoid& m : sum.reduces) m = addition(b);
    const auto counts = b.emit(std::move(sum), std::vector(classes, kI64Scalar), "count");
    b.last().attrs = s.attrs;
    b.emit_to({s.pat[0]}, EArrayLit{{counts.begin(), counts.end()}, kI64Scalar});
  }

  /// How many elements of each class stand before and at an element, by a scan of flags; then where
  /// each goes.
  void by_scan(const Stm& s, EPack e, Body& out) {
    Builder b = builder(s, out);
    const auto classes = static_cast<size_t>(e.classes);
    const std::vector<VarId> made = counted(b, s, e);
    std::vector<Atom> totals;
    for (size_t c = 0; c < classes; c++) {
      const Atom last = b.sub(e.width, i64(1));
      totals.emplace_back(b.if_(
          b.lt(i64(0), e.width),
          [&](Builder& in) {
            return std::vector<Atom>{in.index(made[c], std::array{last}, "total")};
          },
          [&](Builder&) { return std::vector<Atom>{i64(0)}; }, {kI64Scalar}, "total")[0]);
    }
    b.emit_to({s.pat[0]}, EArrayLit{totals, kI64Scalar});
    EScatter to{e.width, made, {}, {}};
    if (e.rest) to.inputs.push_back(b.iota(e.width));
    std::vector<Type> rows, ret;
    for (const VarId v : to.inputs) rows.push_back(row_type(p_.type_of(v)));
    for (size_t k = 1; k < s.pat.size(); k++) {
      to.dests.push_back({b.copy(made[2 * classes + k - 1]), 1});
      ret.push_back(kI64Scalar);
    }
    ret.insert(ret.end(), e.map.ret.begin() + 1, e.map.ret.end());
    to.map = b.lambda(
        rows,
        [&](Builder& in, const std::vector<VarId>& row) {
          std::vector<Atom> results(s.pat.size() - 1, place(in, e, totals, row));
          results.insert(results.end(), row.begin() + static_cast<std::ptrdiff_t>(2 * classes),
                         row.begin() + static_cast<std::ptrdiff_t>(made.size()));
          return results;
        },
        ret);
    b.emit_to({s.pat.begin() + 1, s.pat.end()}, std::move(to));
    b.last().attrs = s.attrs;
  }

  /// Arrays: for each class how many elements there are up to each, and whether it is one; then the
  /// values.
  std::vector<VarId> counted(Builder& b, const Stm& s, const EPack& e) {
    ESoac count{e.width, e.inputs, flagged(b, e), {}, {}};
    const size_t flags = 2 * static_cast<size_t>(e.classes);
    for (int c = 0; c < e.classes; c++) count.scans.push_back(addition(b));
    // Values that are there already are not made again.
    for (size_t k = 1; k < e.map.ret.size(); k++) {
      if (input(e, e.map.body.results[k])) continue;
      count.map.body.results.push_back(e.map.body.results[k]);
      count.map.ret.push_back(e.map.ret[k]);
    }
    std::vector<Type> types;
    for (const Type& t : count.map.ret) types.push_back(array_of(e.width, t));
    const std::vector<VarId> made = b.emit(std::move(count), types, "counted");
    b.last().attrs = s.attrs;
    std::vector<VarId> out(made.begin(), made.begin() + static_cast<std::ptrdiff_t>(flags));
    auto next = made.begin() + static_cast<std::ptrdiff_t>(flags);
    for (size_t k = 1; k < e.map.ret.size(); k++) {
      const auto there = input(e, e.map.body.results[k]);
      out.push_back(there ? *there : *next++);
    }
    return out;
  }

  /// A lambda that says of each class whether an element is of it: as numbers (i64), then as bools.
  static Lambda flagged(Builder& b, const EPack& e) {
    Lambda map = e.map;
    Builder in = b.nested(map.body);
    std::vector<Atom> numbers, is;
    for (int c = 0; c < e.classes; c++) {
      is.push_back(in.eq(e.map.body.results[0], PrimValue::i32(c)));
      numbers.push_back(in.convert(is.back(), PrimType::kI64));
    }
    map.body.results = numbers;
    map.body.results.insert(map.body.results.end(), is.begin(), is.end());
    map.ret.assign(numbers.size(), kI64Scalar);
    map.ret.insert(map.ret.end(), is.size(), {PrimType::kBool, {}});
    return map;
  }

  static Monoid addition(Builder& b) {
    const auto add = [](Builder& in, const std::vector<VarId>& x) {
      return std::vector<Atom>{in.add(x[0], x[1])};
    };
    return {b.lambda({kI64Scalar, kI64Scalar}, add, {kI64Scalar}), {i64(0)}, true};
  }

  /// `row`: the counts, the flags, the values, the element's number if the rest is wanted.
  static Atom place(Builder& b, const EPack& e, const std::vector<Atom>& totals,
                    const std::vector<VarId>& row) {
    const auto classes = static_cast<size_t>(e.classes);
    Atom at = i64(-1);
    if (e.rest) {
      // The element's number among the rest.
      at = row.back();
      for (size_t c = 0; c < classes; c++) at = b.sub(at, row[c]);
      at = b.add(at, b.sum(totals));
    }
    for (size_t c = classes; c-- > 0;) {
      const Atom first = b.sum(std::span(totals).first(c));
      const Atom there = b.sub(b.add(first, row[c]), i64(1));
      at = b.select(row[classes + c], there, at);
    }
    return at;
  }

  /// The rows that stand behind those that are packed are copies of the first one.
  void by_number(const Stm& s, EPack e, Body& out) {
    Builder b = builder(s, out);
    const Atom width = e.width;
    EPack numbers{width, {}, {}, e.classes, e.rest};
    std::vector<VarId> pat = {s.pat[0]};
    std::vector<std::pair<VarId, VarId>> rows;  // what is bound, of what array
    const std::vector<VarId> made = elements(b, e);
    numbers.inputs = {made[0]};
    for (size_t k = 1; k < s.pat.size(); k++) {
      if (!e.map.ret[k].is_scalar()) {
        rows.emplace_back(s.pat[k], made[k]);
        continue;
      }
      pat.push_back(s.pat[k]);
      numbers.inputs.push_back(made[k]);
    }
    const VarId number = p_.new_var(array_of(width, kI64Scalar), "number");
    pat.push_back(number);
    const VarId all = b.iota(width);
    numbers.inputs.push_back(all);
    std::vector<Type> types;
    for (const VarId v : numbers.inputs) types.push_back(row_type(p_.type_of(v)));
    numbers.map = b.lambda(
        types,
        [](Builder&, const std::vector<VarId>& x) { return std::vector<Atom>(x.begin(), x.end()); },
        types);
    b.emit_to(pat, std::move(numbers));
    b.last().attrs = s.attrs;
    std::vector<Atom> counts;
    for (int c = 0; c < e.classes; c++)
      counts.push_back(b.index(s.pat[0], std::array{i64(c)}, "count"));
    const Atom total = e.rest ? width : b.sum(counts);
    for (const auto& [bound, array] : rows) {
      const Type row = row_type(p_.type_of(array));
      Lambda gather = b.lambda({kI64Scalar, kI64Scalar},
                               [&, array = array](Builder& in, const std::vector<VarId>& x) {
                                 const Atom from = in.select(in.lt(x[1], total), x[0], i64(0));
                                 return std::vector<Atom>{in.index(array, std::array{from}, "row")};
                               },
                               {row});
      b.emit_to({bound}, ESoac{width, {number, all}, std::move(gather), {}, {}});
      b.last().attrs = s.attrs;
    }
  }

  /// Arrays of the classes and the values.
  std::vector<VarId> elements(Builder& b, const EPack& e) {
    const bool are_inputs = e.map.body.stms.empty() &&
                            std::all_of(e.map.body.results.begin(), e.map.body.results.end(),
                                        [&](const Atom& r) { return input(e, r).has_value(); });
    if (!are_inputs) return b.map(e.width, e.inputs, e.map, "made");
    std::vector<VarId> out;
    for (const Atom& r : e.map.body.results) out.push_back(*input(e, r));
    return out;
  }
  static std::optional<VarId> input(const EPack& e, const Atom& result) {
    for (size_t k = 0; k < e.inputs.size(); k++) {
      if (result == Atom(e.map.params[k])) return e.inputs[k];
    }
    return std::nullopt;
  }

  Program& p_;
  bool all_;
};

}  // namespace

void packs(Program& p) { Packs(p, false).program(); }

void packs_by_scans(Program& p) {
  Packs(p, true).program();
  fuse(p);
  simplify(p);
  remove_dead_code(p);
}

}  // namespace kenaz::passes
