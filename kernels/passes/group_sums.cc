// Sums of what a map's point reads in several rows of an array become sums of sums of rows:
//
//   a[i-1, j-1] + 2 a[i-1, j] + a[i-1, j+1] + 2 a[i, j-1] + 4 a[i, j] + ..
//     = (a[i-1, j-1] + a[i-1, j+1] + 2 a[i-1, j]) + 2 (a[i, j-1] + a[i, j+1] + 2 a[i, j]) + ..
//
// Then there is less to multiply, and neighbouring points have sums of rows in common. Integers
// only, whose sums may be made in any order.
#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/builder.h"
#include "kernels/passes/passes.h"

namespace kenaz::passes {
namespace {

using namespace ir;

/// Where a summand is an element of: the row, and the place in it. Of each index what it is.
struct PlaceOfRow {
  using Part = std::pair<uint64_t, uint64_t>;
  std::vector<Part> row, in_row;
};

PlaceOfRow::Part part(const Atom& a) {
  if (!a.is_const()) return {1, a.var().index};
  return {0, a.constant().bits};
}

int64_t times(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

/// A summand: a value and how often it is added.
struct SumTerm {
  VarId value;
  int64_t factor = 1;
  std::vector<PlaceOfRow::Part> in_row;
};

struct Sum {
  PrimType type;
  std::vector<SumTerm> terms;
  uint64_t constant = 0;
  std::vector<VarId> certs;
  std::vector<size_t> absorbed;  // statements whose results nothing else uses

  int64_t wrapped(uint64_t n) const {
    return PrimValue::of_int(type, static_cast<int64_t>(n)).as_i64();
  }
};

class GroupSums {
 public:
  GroupSums(Program& p, ESeg& e) : p_(p), body_(e.body) {
    const auto use = [&](VarId v) { uses_[v]++; };
    for (size_t n = 0; n < body_.stms.size(); n++) {
      for (const VarId v : body_.stms[n].pat) at_[v] = n;
      for_each_use(p, body_.stms[n], use);
    }
    for (const Atom& a : body_.results) {
      if (!a.is_const()) use(a.var());
    }
    along_.insert(e.space.dims.back().index);
    for (const Stm& s : body_.stms) {
      bool depends = false;
      for_each_use(p, s, [&](VarId v) { depends = depends || along_.contains(v); });
      if (depends) along_.insert(s.pat.begin(), s.pat.end());
    }
  }

  void run() {
    std::vector<bool> is_part(body_.stms.size());
    std::map<size_t, Body> instead;  // by the statement that makes the whole sum
    for (size_t n = body_.stms.size(); n-- > 0;) {
      if (is_part[n] || !is_sum(body_.stms[n])) continue;
      const Sum sum = sum_of(body_.stms[n]);
      for (const size_t k : sum.absorbed) is_part[k] = true;
      Body made = by_rows(body_.stms[n], sum);
      if (!made.stms.empty()) instead.emplace(n, std::move(made));
    }
    if (instead.empty()) return;
    std::vector<Stm> stms;
    for (size_t n = 0; n < body_.stms.size(); n++) {
      const auto it = instead.find(n);
      if (it == instead.end()) {
        stms.push_back(std::move(body_.stms[n]));
      } else {
        for (Stm& s : it->second.stms) stms.push_back(std::move(s));
      }
    }
    body_.stms = std::move(stms);
  }

 private:
  static bool is_sum(const Stm& s) {
    const auto* e = std::get_if<EPrim>(&s.exp);
    return e != nullptr && is_integer(e->type) &&
           (e->op == ScalarOp::kAdd || e->op == ScalarOp::kSub);
  }
  static bool is_multiple(const Stm& s) {
    const auto* e = std::get_if<EPrim>(&s.exp);
    return e != nullptr && is_integer(e->type) && e->op == ScalarOp::kMul &&
           e->args[0].is_const() != e->args[1].is_const();
  }

  /// What the statement adds up. Of what only it uses the summands are taken.
  Sum sum_of(const Stm& s) const {
    Sum sum;
    sum.type = std::get<EPrim>(s.exp).type;
    std::unordered_map<VarId, size_t> numbers;
    std::vector<std::pair<Atom, int64_t>> due;
    const auto open = [&](const Stm& of, int64_t factor) {
      const auto& e = std::get<EPrim>(of.exp);
      sum.certs.insert(sum.certs.end(), of.certs.begin(), of.certs.end());
      if (e.op == ScalarOp::kMul) {
        const size_t constant = e.args[0].is_const() ? 0 : 1;
        due.emplace_back(e.args[1 - constant], times(factor, e.args[constant].constant().as_i64()));
        return;
      }
      due.emplace_back(e.args[1], e.op == ScalarOp::kSub ? times(factor, -1) : factor);
      due.emplace_back(e.args[0], factor);
    };
    open(s, 1);
    while (!due.empty()) {
      const auto [atom, factor] = due.back();
      due.pop_back();
      if (atom.is_const()) {
        sum.constant += static_cast<uint64_t>(times(atom.constant().as_i64(), factor));
        continue;
      }
      const VarId v = atom.var();
      const auto it = at_.find(v);
      if (it != at_.end() && uses_.at(v) == 1 &&
          (is_sum(body_.stms[it->second]) || is_multiple(body_.stms[it->second]))) {
        sum.absorbed.push_back(it->second);
        open(body_.stms[it->second], factor);
        continue;
      }
      const auto [number, is_new] = numbers.emplace(v, sum.terms.size());
      if (is_new) sum.terms.push_back({v, 0, {}});
      SumTerm& term = sum.terms[number->second];
      term.factor = sum.wrapped(static_cast<uint64_t>(term.factor) + static_cast<uint64_t>(factor));
    }
    return sum;
  }

  /// Of an element, also one that is converted; null if it is something else.
  std::optional<PlaceOfRow> place_of(VarId v) const {
    const auto it = at_.find(v);
    if (it == at_.end()) return {};
    const Stm& s = body_.stms[it->second];
    if (const auto* e = std::get_if<EPrim>(&s.exp)) {
      const bool converts = e->op == ScalarOp::kConvert && !e->args[0].is_const();
      return converts ? place_of(e->args[0].var()) : std::nullopt;
    }
    const auto* index = std::get_if<EIndex>(&s.exp);
    if (index == nullptr) return {};
    PlaceOfRow out;
    out.row.push_back(part(Atom(index->array)));
    for (const Dim& d : index->dims) {
      const auto* fix = std::get_if<DimFix>(&d);
      if (fix == nullptr) return {};
      const bool in_row = !fix->index.is_const() && along_.contains(fix->index.var());
      out.row.push_back(in_row ? PlaceOfRow::Part{2, 0} : part(fix->index));
      if (in_row) out.in_row.push_back(part(fix->index));
    }
    return out;
  }

  /// The statements that make the sum row by row; none if there are no rows of several summands.
  Body by_rows(const Stm& s, const Sum& sum) {
    std::map<std::vector<PlaceOfRow::Part>, size_t> numbers;
    std::vector<std::vector<SumTerm>> rows;
    std::vector<SumTerm> terms;
    for (SumTerm term : sum.terms) {
      auto place = place_of(term.value);
      if (!place) {
        terms.push_back(std::move(term));
        continue;
      }
      term.in_row = std::move(place->in_row);
      const auto [number, is_new] = numbers.emplace(std::move(place->row), rows.size());
      if (is_new) rows.emplace_back();
      rows[number->second].push_back(std::move(term));
    }
    Body out;
    if (rows.size() < 2 || sum.terms.size() - terms.size() < 2 * rows.size()) return out;
    Builder b(p_, out, s.prov);
    b.certs() = sum.certs;
    std::sort(b.certs().begin(), b.certs().end());
    b.certs().erase(std::unique(b.certs().begin(), b.certs().end()), b.certs().end());
    for (auto& row : rows) terms.push_back(sum_of_row(b, sum.type, std::move(row)));
    Atom all = weighted(b, sum.type, std::move(terms));
    const Atom constant = PrimValue::of_int(sum.type, static_cast<int64_t>(sum.constant));
    if (!constant.is_int(0)) all = b.add(all, constant);
    b.emit_to(s.pat, EAtom{all});
    return out;
  }

  /// What divides all factors, and has the sign of the first.
  static int64_t divisor(const std::vector<SumTerm>& terms) {
    int64_t common = 0;
    for (const SumTerm& t : terms) {
      if (t.factor == INT64_MIN) return 1;  // -1 does not divide it
      common = std::gcd(common, t.factor);
    }
    if (common == 0) return 1;  // they cancel out
    return terms[0].factor < 0 ? -common : common;
  }

  /// A row's sum, but for what divides all its factors: without that it may be another row's, too.
  static SumTerm sum_of_row(Builder& b, PrimType type, std::vector<SumTerm> terms) {
    std::sort(terms.begin(), terms.end(),
              [](const SumTerm& x, const SumTerm& y) { return x.in_row < y.in_row; });
    const int64_t common = divisor(terms);
    for (SumTerm& t : terms) t.factor /= common;
    const Atom sum = weighted(b, type, std::move(terms));
    return {sum.is_const() ? b.emit(EAtom{sum}, Type{type, {}}) : sum.var(), common, {}};
  }

  /// Their sum; those of the same factor are added up first.
  static Atom weighted(Builder& b, PrimType type, std::vector<SumTerm> terms) {
    std::stable_sort(terms.begin(), terms.end(),
                     [](const SumTerm& x, const SumTerm& y) { return x.factor < y.factor; });
    Atom all = PrimValue::of_int(type, 0);
    for (size_t from = 0; from < terms.size();) {
      Atom part = PrimValue::of_int(type, 0);
      const int64_t factor = terms[from].factor;
      for (; from < terms.size() && terms[from].factor == factor; from++) {
        part = b.add(part, terms[from].value);
      }
      all = b.add(all, b.mul(part, PrimValue::of_int(type, factor)));
    }
    return all;
  }

  Program& p_;
  Body& body_;
  std::unordered_map<VarId, size_t> at_;  // the statements that bind variables
  std::unordered_map<VarId, int> uses_;
  VarSet along_;  // what depends on the place along rows
};

}  // namespace

void group_sums(Program& p) {
  visit_segs(p, [&](ESeg& e) {
    if (e.kind == SegKind::kMap && e.level == SegLevel::kDevice && e.space.dims.size() > 1) {
      GroupSums(p, e).run();
    }
  });
}

}  // namespace kenaz::passes
