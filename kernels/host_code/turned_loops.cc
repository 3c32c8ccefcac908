#include "kernels/host_code/turned_loops.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "kernels/host_code/interleaved.h"
#include "kernels/host_code/turned.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/visit.h"

namespace kenaz::host_code {

namespace {

using namespace ir;

/// Whether all uses of an array of rows, in a loop's body, are loads in kernels whose neighbouring
/// threads read of neighbouring rows, or all of the same.
class Loads {
 public:
  Loads(const Program& p, VarId array, size_t outer) : p_(p), array_(array), outer_(outer) {}

  bool are_fine(const Body& b) {
    host_level(b);
    return fine_;
  }

 private:
  void host_level(const Body& b) {
    for (const Stm& s : b.stms) {
      visit_operands(s.exp, [&](const auto& a) { fine_ = fine_ && Atom(a) != Atom(array_); });
      const auto* e = std::get_if<ESeg>(&s.exp);
      if (e == nullptr) {
        visit_bodies(s.exp, [&](const Body& inner) { host_level(inner); });
        continue;
      }
      moving_.clear();
      if (!e->space.dims.empty()) moving_.insert(e->space.dims.back().index);
      in_kernel(e->body);
      visit_lambdas(s.exp, [&](const Lambda& l) { in_kernel(l.body); });
    }
    for (const Atom& r : b.results) fine_ = fine_ && r != Atom(array_);
  }

  bool is_moving(const Atom& a) const { return !a.is_const() && moving_.contains(a.var()); }

  void in_kernel(const Body& b) {
    for (const Stm& s : b.stms) {
      const auto* load = std::get_if<EIndex>(&s.exp);
      if (load != nullptr && load->array == array_) {
        look_at(*load);
      } else {
        visit_operands(s.exp, [&](const auto& a) { fine_ = fine_ && Atom(a) != Atom(array_); });
      }
      bool moves = false, binders_move = false;
      for_each_use(p_, s, [&](VarId v) { moves = moves || moving_.contains(v); });
      visit_operands(s.exp, [&](const auto& a) { binders_move = binders_move || is_moving(a); });
      if (binders_move) visit_binders(s.exp, [&](VarId v) { moving_.insert(v); });
      visit_bodies(s.exp, [&](const Body& inner) { in_kernel(inner); });
      if (moves) moving_.insert(s.pat.begin(), s.pat.end());
    }
    for (const Atom& r : b.results) fine_ = fine_ && r != Atom(array_);
  }

  void look_at(const EIndex& load) {
    for (size_t d = 0; d < load.dims.size(); d++) {
      const auto* fix = std::get_if<DimFix>(&load.dims[d]);
      fine_ = fine_ && (fix != nullptr ? d < outer_ || !is_moving(fix->index) : d >= outer_);
    }
  }

  const Program& p_;
  VarId array_;
  size_t outer_;
  VarSet moving_;  // what differs between neighbouring threads
  bool fine_ = true;
};

class TurnLoops {
 public:
  explicit TurnLoops(Program& p) : p_(p), uses_(count_uses(p)) {}

  void body(Body& b) {
    std::vector<Stm> out;
    for (Stm& s : b.stms) {
      if (std::holds_alternative<ESeg>(s.exp)) {
        out.push_back(std::move(s));
        continue;
      }
      visit_bodies(s.exp, [&](Body& inner) { body(inner); });
      std::vector<Stm> behind;
      if (auto* loop = std::get_if<ELoop>(&s.exp); loop != nullptr && is_long(*loop)) {
        for (size_t n = 0; n < loop->params.size(); n++) {
          if (const size_t outer = rows_of(*loop, n); outer > 0) turn(s, n, outer, out, behind);
        }
      }
      out.push_back(std::move(s));
      for (Stm& view : behind) out.push_back(std::move(view));
    }
    b.stms = std::move(out);
  }

 private:
  /// So that moving all rows twice is worth it.
  static bool is_long(const ELoop& e) {
    constexpr int64_t kLeastTurns = 4;
    const auto* counted = std::get_if<LoopFor>(&e.form);
    return counted == nullptr || !counted->bound.is_const() ||
           counted->bound.constant().as_i64() >= kLeastTurns;
  }

  /// How many dims of the param's type are those of the map that makes its rows; 0: it is not such
  /// a param.
  size_t rows_of(const ELoop& e, size_t n) const {
    const Atom& result = e.body.results[n];
    if (p_.type_of(e.params[n].var).is_scalar() || result.is_const() ||
        uses_[result.var().index] != 1) {
      return 0;
    }
    for (const Stm& s : e.body.stms) {
      const auto made = std::find(s.pat.begin(), s.pat.end(), result.var());
      if (made == s.pat.end()) continue;
      const auto* map = std::get_if<ESeg>(&s.exp);
      const size_t outer = map == nullptr ? 0 : dims_of_rows(*map);
      if (outer == 0) return 0;
      const auto k = static_cast<size_t>(made - s.pat.begin());
      if (!is_short_row(p_, map->body.results[k])) return 0;
      return Loads(p_, e.params[n].var, outer).are_fine(e.body) ? outer : 0;
    }
    return 0;
  }

  void turn(Stm& s, size_t n, size_t outer, std::vector<Stm>& before, std::vector<Stm>& behind) {
    auto& e = std::get<ELoop>(s.exp);
    const Type& type = p_.type_of(e.params[n].var);
    const std::vector<int> there = points_last(type.dims.size(), outer),
                           back = points_last(type.dims.size(), type.dims.size() - outer);
    Type turned{type.prim, {}};
    for (const int d : there) turned.dims.push_back(type.dims[static_cast<size_t>(d)]);
    const auto view = [&](VarId to, const std::vector<int>& perm, VarId of) {
      return Stm{{to}, ERearrange{perm, of}, {}, s.prov, {}};
    };
    const auto new_var = [&](VarId like) { return p_.new_var(turned, p_.vars[like.index].name); };
    const VarId first = new_var(e.params[n].var), state = new_var(e.params[n].var),
                next = new_var(e.body.results[n].var()), last = new_var(s.pat[n]);
    // What another loop leaves is there already.
    const VarId init = e.params[n].init.var();
    const auto known = turned_.find({init, outer});
    if (known == turned_.end()) before.push_back(view(first, there, init));
    e.body.stms.insert(e.body.stms.begin(), view(e.params[n].var, back, state));
    e.params[n].var = state;
    e.params[n].init = known == turned_.end() ? first : known->second;
    e.body.stms.push_back(view(next, there, e.body.results[n].var()));
    e.body.results[n] = next;
    behind.push_back(view(s.pat[n], back, last));
    turned_[{s.pat[n], outer}] = last;
    s.pat[n] = last;
  }

  Program& p_;
  const std::vector<int> uses_;
  std::map<std::pair<VarId, size_t>, VarId> turned_;  // of arrays, with so many dims last
};

}  // namespace

void turn_loops(Program& p) {
  TurnLoops loops(p);
  visit_bodies(p, [&](Body& b) { loops.body(b); });
}

}  // namespace kenaz::host_code
