#include "kernels/flatten/group.h"

#include <algorithm>

#include "kernels/flatten/attributes.h"
#include "kernels/ir/analysis/group.h"
#include "kernels/ir/analysis/rename.h"
#include "kernels/ir/builder.h"
#include "kernels/ir/visit.h"
#include "kernels/scalar/quick.h"

namespace kenaz::flatten {

using namespace ir;

namespace {

using Stms = std::vector<Stm>;

bool is_map(const Exp& e) {
  const auto* soac = std::get_if<ESoac>(&e);
  return soac != nullptr && soac->scans.empty() && soac->reduces.empty();
}

class Grouping {
 public:
  Grouping(Program& p, const ProgramFacts& facts, const Parallelism& parallelism)
      : p_(p), facts_(facts), parallelism_(parallelism) {}

  /// `around`: null at host level.
  struct Around {
    const Nest& nest;
    PointValues& values;
  };
  std::optional<Grouped> run(const Stm& s, const Around* around, NoGroups::Why& why) {
    if (!is_map(s.exp) || has_sorts(s)) {
      why = NoGroups::Why::kOperation;
      return {};
    }
    seg_.level = SegLevel::kGroup;
    level(s, std::get<ESoac>(s.exp));
    if (asks_one_thread_) {
      why = NoGroups::Why::kAttribute;
      return {};
    }
    if (around != nullptr) {
      SegSpace space;
      seg_.body = around->values.body_at_point(around->nest, seg_.body.stms,
                                               std::move(seg_.body.results), space);
      seg_.space.dims.insert(seg_.space.dims.begin(), space.dims.begin(), space.dims.end());
    }
    Body all;
    all.stms = take_out();
    std::vector<VarId> pat;
    for (const Type& t : seg_types(p_, seg_)) {
      pat.push_back(p_.new_var(t, p_.vars[s.pat[pat.size()].index].name));
    }
    all.stms.push_back(Stm{pat, std::move(seg_), s.certs, s.prov, {}});
    // Other versions bind the same.
    all = copy_renamed(p_, all);
    Grouped out;
    out.seg = std::move(all.stms.back());
    all.stms.pop_back();
    out.before = std::move(all.stms);
    const auto& seg = std::get<ESeg>(out.seg.exp);
    if (const auto refused = group_body(p_, seg).refused) {
      why = *refused;
      return {};
    }
    for_each_bound(seg.body, [&](VarId v) { inside_.insert(v); });
    for (const SegDim& d : seg.space.dims) inside_.insert(d.index);
    look(seg.body, false, out);
    return out;
  }

 private:
  /// A map becomes a dim of the space; so does one inside of it, if that is all there is and has
  /// something parallel in it.
  void level(const Stm& s, const ESoac& e) {
    const VarId i = p_.new_var({PrimType::kI64, {}}, "i");
    seg_.space.dims.push_back({i, e.width});
    Stms& out = seg_.body.stms;
    for (size_t k = 0; k < e.inputs.size(); k++) {
      EIndex row{e.inputs[k], row_dims(p_.type_of(e.inputs[k]), {i})};
      out.push_back(Stm{{e.map.params[k]}, std::move(row), {}, s.prov, {}});
    }
    const Body& b = e.map.body;
    if (is_perfect(b)) {
      for (size_t k = 0; k + 1 < b.stms.size(); k++) out.push_back(b.stms[k]);
      level(b.stms.back(), std::get<ESoac>(b.stms.back().exp));
      return;
    }
    Body copy = b;
    body(copy);
    for (Stm& made : copy.stms) out.push_back(std::move(made));
    seg_.body.results = std::move(copy.results);
  }

  bool is_perfect(const Body& b) const {
    if (b.stms.empty()) return false;
    const Stm& last = b.stms.back();
    if (!is_map(last.exp) || !last.certs.empty() || !last.attrs.empty()) return false;
    const auto& e = std::get<ESoac>(last.exp);
    return !parallelism_.varies(e.width) && parallelism_.any_worth_spreading(e.map.body) &&
           std::equal(b.results.begin(), b.results.end(), last.pat.begin(), last.pat.end(),
                      [](const Atom& r, VarId v) { return r == Atom(v); }) &&
           std::all_of(b.stms.begin(), b.stms.end() - 1, [](const Stm& s) {
             return std::holds_alternative<EIndex>(s.exp) || std::holds_alternative<EPrim>(s.exp) ||
                    std::holds_alternative<EAtom>(s.exp) ||
                    std::holds_alternative<ERearrange>(s.exp);
           });
  }

  /// As flattening treats what is at host level.
  void body(Body& b) {
    Stms out;
    for (Stm& s : b.stms) {
      if (is_combinator(s.exp)) {
        asks_one_thread_ = asks_one_thread_ || asks_for_one_thread(s);
        Distributed all = distribute(p_, facts_, s, Depth::kAll);
        for (Stm& made : all.stms) {
          in_group(made);
          out.push_back(std::move(made));
        }
        for (size_t k = 0; k < s.pat.size(); k++) {
          out.push_back(Stm{{s.pat[k]}, EAtom{Atom(all.results[k])}, {}, s.prov, {}});
        }
        continue;
      }
      if (std::holds_alternative<EIf>(s.exp) || std::holds_alternative<ELoop>(s.exp)) {
        visit_bodies(s.exp, [&](Body& inner) { body(inner); });
      }
      out.push_back(std::move(s));
    }
    b.stms = std::move(out);
  }

  static void in_group(Stm& s) {
    if (auto* seg = std::get_if<ESeg>(&s.exp)) {
      seg->level = SegLevel::kInGroup;
    } else if (std::holds_alternative<EIf>(s.exp) || std::holds_alternative<ELoop>(s.exp)) {
      visit_bodies(s.exp, [](Body& inner) {
        for (Stm& t : inner.stms) in_group(t);
      });
    }
  }

  /// Scalars that are the same for all groups: their sizes may depend on them.
  Stms take_out() {
    Stms taken, stay;
    VarSet inside;
    for_each_bound(seg_.body, [&](VarId v) { inside.insert(v); });
    for (const SegDim& d : seg_.space.dims) inside.insert(d.index);
    for (Stm& s : seg_.body.stms) {
      const VarSet used = free_vars(p_, s);
      const auto* prim = std::get_if<EPrim>(&s.exp);
      const bool moves =
          prim != nullptr && scalar_op_is_quick(prim->op) &&
          std::none_of(used.begin(), used.end(), [&](VarId v) { return inside.contains(v); });
      if (moves) inside.erase(s.pat[0]);
      (moves ? taken : stay).push_back(std::move(s));
    }
    seg_.body.stms = std::move(stay);
    return taken;
  }

  static bool has_loops(const Body& b) {
    return std::any_of(b.stms.begin(), b.stms.end(), [](const Stm& s) {
      bool found = std::holds_alternative<ELoop>(s.exp) || is_combinator(s.exp);
      visit_bodies(s.exp, [&](const Body& inner) { found = found || has_loops(inner); });
      return found;
    });
  }

  void look(const Body& b, bool in_loop, Grouped& out) const {
    for (const Stm& s : b.stms) {
      const auto* seg = std::get_if<ESeg>(&s.exp);
      if (seg == nullptr) {
        const bool loop = in_loop || std::holds_alternative<ELoop>(s.exp);
        visit_bodies(s.exp, [&](const Body& inner) { look(inner, loop, out); });
        continue;
      }
      out.has_loops = out.has_loops || in_loop;
      out.is_heavy = out.is_heavy || has_loops(seg->body);
      std::vector<Atom> sizes;
      for (const SegDim& d : seg->space.dims) {
        if (d.size.is_const() || !inside_.contains(d.size.var())) sizes.push_back(d.size);
      }
      if (std::find(out.spaces.begin(), out.spaces.end(), sizes) == out.spaces.end()) {
        out.spaces.push_back(std::move(sizes));
      }
    }
  }

  Program& p_;
  const ProgramFacts& facts_;
  Parallelism parallelism_;
  ESeg seg_;
  VarSet inside_;
  bool asks_one_thread_ = false;
};

}  // namespace

std::optional<Grouped> group_version(Program& p, const ProgramFacts& facts, const Stm& s,
                                     NoGroups::Why& why) {
  return Grouping(p, facts, Parallelism(p, facts, s, Depth::kAll)).run(s, nullptr, why);
}

std::optional<Grouped> group_version(Program& p, const ProgramFacts& facts, const Stm& s,
                                     const Nest& nest, const Parallelism& parallelism,
                                     PointValues& values) {
  NoGroups::Why why{};
  const Grouping::Around around{nest, values};
  return Grouping(p, facts, parallelism).run(s, &around, why);
}

}  // namespace kenaz::flatten
