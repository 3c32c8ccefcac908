#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "kernels/flatten/attributes.h"
#include "kernels/flatten/distribute.h"
#include "kernels/flatten/group.h"
#include "kernels/flatten/segments.h"
#include "kernels/ir/analysis/factors.h"
#include "kernels/ir/analysis/rename.h"
#include "kernels/ir/builder.h"
#include "kernels/ir/visit.h"

namespace kenaz::flatten {

using namespace ir;

namespace {

class Segments final : public GroupChoice {
 public:
  explicit Segments(Program& p) : p_(p), facts_(p) {}

  void function(const std::string& name, Body& b) {
    name_ = name;
    body(b);
  }

  void choose(const Stm& s, Grouped group, Distributed all, const std::vector<VarId>& pat,
              std::vector<Stm>& out) override {
    Body before;
    Builder b(p_, before, s.prov);
    EVersions choice;
    add_group(b, choice, std::move(group), all, std::nullopt);
    choice.versions.push_back({"all", PrimValue::of_bool(true), as_body(std::move(all))});
    b.emit_to(pat, std::move(choice));
    for (Stm& made : before.stms) out.push_back(std::move(made));
  }
  void mark() override { mark_ = {p_.tunes.size(), thresholds_}; }
  void back_to_mark() override {
    p_.tunes.resize(mark_.tunes);
    thresholds_ = mark_.thresholds;
  }

 private:
  using Stms = std::vector<Stm>;

  void body(Body& b) {
    Stms out;
    for (Stm& s : b.stms) {
      if (is_combinator(s.exp)) {
        combinator(s, out);
        continue;
      }
      if (std::holds_alternative<EIf>(s.exp) || std::holds_alternative<ELoop>(s.exp)) {
        visit_bodies(s.exp, [&](Body& inner) { body(inner); });
      }
      out.push_back(std::move(s));
    }
    b.stms = std::move(out);
  }

  void combinator(const Stm& s, Stms& out) {
    if (asks_for_groups(s)) {
      if (auto group = group_of(s)) {
        alone(s, *std::move(group), out);
        return;
      }
    }
    Distributed all =
        distribute(p_, facts_, s, Depth::kAll, are_groups_offered(s) ? this : nullptr);
    if (all.pieces > 1 && beside(s, all, out)) return;
    for (Stm& made : all.stms) out.push_back(std::move(made));
    for (size_t k = 0; k < s.pat.size(); k++) {
      out.push_back(Stm{{s.pat[k]}, EAtom{Atom(all.results[k])}, {}, s.prov, {}});
    }
  }

  // With other versions beside it; false if there are none, and then a note says why.
  bool beside(const Stm& s, Distributed& all, Stms& out) {
    const bool product = is_product_with_maps(all);
    std::optional<OneVersion::Why> none;
    std::optional<Distributed> maps;
    if (asks_for_all_levels(s)) {
      none = OneVersion::Why::kAttribute;
    } else if (has_sorts(s)) {
      none = OneVersion::Why::kSort;
    } else if (product) {
      none = OneVersion::Why::kProduct;
    } else {
      maps = distribute(p_, facts_, s, Depth::kMaps);
      if (maps->pieces >= all.pieces) {
        none = OneVersion::Why::kNothingSaved;
        maps.reset();
      }
    }
    std::optional<Grouped> group;
    if (may_have_groups(s) && !product) group = group_of(s);
    if (maps || group) {
      versions(s, std::move(maps), std::move(group), std::move(all), out);
      return true;
    }
    add_note(p_.notes, {s.prov, OneVersion{*none}});
    return false;
  }

  std::optional<Grouped> group_of(const Stm& s) {
    NoGroups::Why why{};
    auto group = group_version(p_, facts_, s, why);
    if (!group) add_note(p_.notes, {s.prov, NoGroups{why}});
    return group;
  }

  static void alone(const Stm& s, Grouped group, Stms& out) {
    for (Stm& made : group.before) out.push_back(std::move(made));
    const std::vector<VarId> made = group.seg.pat;
    out.push_back(std::move(group.seg));
    for (size_t k = 0; k < s.pat.size(); k++) {
      out.push_back(Stm{{s.pat[k]}, EAtom{Atom(made[k])}, {}, s.prov, {}});
    }
  }

  // A product of matrices and elementwise maps around it. To pass a matrix through memory takes
  // much less than the loads that rows and columns of the product share.
  bool is_product_with_maps(const Distributed& d) const {
    size_t results = 0;  // dims of the product
    for (const Stm& s : d.stms) {
      const auto* seg = std::get_if<ESeg>(&s.exp);
      if (seg == nullptr) continue;
      if (seg->kind == SegKind::kMap) continue;
      if (results > 0 || !is_product(p_, *seg)) return false;
      results = seg->space.dims.size() - 1;
    }
    return results > 0 && std::all_of(d.stms.begin(), d.stms.end(), [&](const Stm& s) {
             const auto* seg = std::get_if<ESeg>(&s.exp);
             if (seg == nullptr) return is_scalar_arithmetic(s);
             return seg->kind != SegKind::kMap ||
                    (seg->writes.empty() && seg->space.dims.size() == results &&
                     is_elementwise(*seg));
           });
  }

  bool is_scalar_arithmetic(const Stm& s) const {
    return (std::holds_alternative<EPrim>(s.exp) || std::holds_alternative<EAtom>(s.exp)) &&
           p_.type_of(s.pat[0]).is_scalar();
  }

  bool is_elementwise(const ESeg& seg) const {
    return std::all_of(seg.body.results.begin(), seg.body.results.end(),
                       [&](const Atom& r) { return p_.type_of(r).is_scalar(); }) &&
           std::all_of(seg.body.stms.begin(), seg.body.stms.end(), [](const Stm& s) {
             bool has_bodies = false;
             visit_bodies(s.exp, [&](const Body&) { has_bodies = true; });
             return !has_bodies || std::holds_alternative<EIf>(s.exp);
           });
  }

  void versions(const Stm& s, std::optional<Distributed> maps, std::optional<Grouped> group,
                Distributed all, Stms& out) {
    Body before;
    Builder b(p_, before, s.prov);
    EVersions choice;
    std::optional<Atom> enough;
    if (maps) {
      const Atom there = threads(b, *maps);
      enough = threshold(b, "outer", std::nullopt);
      const Atom fills = b.le(*enough, there);
      choice.versions.push_back({"maps", fills, copy_renamed(p_, as_body(*std::move(maps)))});
    }
    if (group) add_group(b, choice, *std::move(group), all, enough);
    choice.versions.push_back({"all", PrimValue::of_bool(true), as_body(std::move(all))});
    b.emit_to(s.pat, std::move(choice));
    for (Stm& made : before.stms) out.push_back(std::move(made));
  }

  void add_group(Builder& b, EVersions& choice, Grouped group, const Distributed& all,
                 std::optional<Atom> enough) {
    for (Stm& made : group.before) b.body().stms.push_back(std::move(made));
    const Atom fits = fits_groups(b, group, all, enough);
    Body body;
    body.results.assign(group.seg.pat.begin(), group.seg.pat.end());
    body.stms.push_back(std::move(group.seg));
    choice.versions.push_back({"group", fits, std::move(body)});
  }

  // Whether rows or columns of a product are the same at many points of the nest's `outer` levels:
  // its tiles load them once for many of these, and each workgroup would load them all.
  bool shares_factors(const Stms& stms, size_t outer) const {
    return std::any_of(stms.begin(), stms.end(), [&](const Stm& s) {
      const auto* seg = std::get_if<ESeg>(&s.exp);
      if (seg == nullptr) {
        bool inside = false;
        visit_bodies(s.exp,
                     [&](const Body& b) { inside = inside || shares_factors(b.stms, outer); });
        return inside;
      }
      const auto factors = seg->kind == SegKind::kReduce ? factors_of(p_, *seg) : std::nullopt;
      if (!factors) return false;
      const auto misses_level = [&](const Factors::Side& side) {
        const VarSet used = free_vars(p_, side.body);
        return std::any_of(seg->space.dims.begin(),
                           seg->space.dims.begin() +
                               static_cast<ptrdiff_t>(std::min(outer, seg->space.dims.size())),
                           [&](const SegDim& d) { return !used.contains(d.index); });
      };
      return misses_level(factors->left) || misses_level(factors->right);
    });
  }

  // Whether a workgroup has enough to do at each point, and not too much. Without loops, all levels
  // are a few launches, too: they are worse only where these have little to do. (LocVolCalib of
  // futhark-benchmarks, a step with two tridiagonal solvers on an H200: of 131,072 points 73 us by
  // groups and 110 us by all levels, of 2^24 points 4.5 ms and 2.5 ms.) If all levels have a
  // product that shares what it loads, they are better unless there is less to do still.
  Atom fits_groups(Builder& b, const Grouped& group, const Distributed& all,
                   std::optional<Atom> enough) {
    constexpr int64_t kOfProduct = 16;  // lengths of sums that are worth a tile
    constexpr int64_t kLeast = 32, kLeastInLoops = 8;
    constexpr int64_t kMost = 4096, kMostHeavy = 256;
    std::optional<Atom> widest;
    for (const std::vector<Atom>& sizes : group.spaces) {
      const Atom size = b.product(sizes);
      widest = widest ? b.max(*widest, size) : size;
    }
    const Atom least = threshold(b, "inner", group.has_loops ? kLeastInLoops : kLeast);
    const Atom few = b.le(*widest, i64(group.is_heavy ? kMostHeavy : kMost));
    const Atom fits = b.logical_and(b.le(least, *widest), few);
    std::vector<Atom> points = sizes_of(std::get<ESeg>(group.seg.exp).space.dims);
    const bool shares = shares_factors(all.stms, points.size());
    if (group.has_loops && !shares) return fits;
    points.push_back(*widest);
    if (shares) points.push_back(i64(kOfProduct));
    if (!enough) enough = threshold(b, "group", std::nullopt);
    // As comparisons of thresholds are, so that they can be tuned.
    const Atom large = b.le(*enough, b.product(points));
    return b.logical_and(fits, b.prim(ScalarOp::kNot, {large}));
  }

  static Body as_body(Distributed d) {
    Body b;
    b.stms = std::move(d.stms);
    b.results.assign(d.results.begin(), d.results.end());
    return b;
  }

  Atom threshold(Builder& b, const char* of, std::optional<int64_t> fallback) {
    const TuneId id{static_cast<uint32_t>(p_.tunes.size())};
    p_.tunes.push_back({fmt::format("{}.enough_{}_par_{}", name_, of, thresholds_[of]++),
                        TuneClass::kThreshold,
                        fallback,
                        {}});
    return b.emit(ETune{id}, Type{PrimType::kI64, {}}, "threshold");
  }

  // How many threads the last ESeg has, as far as its sizes are known before.
  Atom threads(Builder& b, const Distributed& d) const {
    std::set<VarId> inside;
    const ESeg* last = nullptr;
    for (const Stm& s : d.stms) {
      inside.insert(s.pat.begin(), s.pat.end());
      if (const auto* seg = std::get_if<ESeg>(&s.exp)) last = seg;
    }
    std::vector<Atom> sizes;
    if (last != nullptr) {
      for (const SegDim& dim : last->space.dims) {
        if (dim.size.is_const() || inside.count(dim.size.var()) == 0) sizes.push_back(dim.size);
      }
    }
    return b.product(sizes);
  }

  Program& p_;
  ProgramFacts facts_;
  std::string name_;
  std::map<std::string, int> thresholds_;  // by what they are about
  struct {
    size_t tunes = 0;
    std::map<std::string, int> thresholds;
  } mark_;
};

}  // namespace

void segments(Program& p) {
  Segments pass(p);
  pass.function("constants", p.constants);
  for (Function& f : p.functions) pass.function(f.name, f.body);
  p.stage = Stage::kSeg;
}

namespace {

void offer_in(Body& b) {
  for (Stm& s : b.stms) {
    if (is_combinator(s.exp)) {
      s.attrs.emplace_back(kGroupsOffered);
    } else if (std::holds_alternative<EIf>(s.exp) || std::holds_alternative<ELoop>(s.exp)) {
      visit_bodies(s.exp, [](Body& inner) { offer_in(inner); });
    }
  }
}

}  // namespace

void offer_groups(Program& p) {
  visit_bodies(p, [&](Body& b) { offer_in(b); });
}

}  // namespace kenaz::flatten
