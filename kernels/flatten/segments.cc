#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "kernels/flatten/attributes.h"
#include "kernels/flatten/distribute.h"
#include "kernels/flatten/segments.h"
#include "kernels/ir/analysis/factors.h"
#include "kernels/ir/analysis/rename.h"
#include "kernels/ir/builder.h"
#include "kernels/ir/visit.h"

namespace kenaz::flatten {

using namespace ir;

namespace {

bool is_combinator(const Exp& e) {
  return std::holds_alternative<ESoac>(e) || std::holds_alternative<EScatter>(e) ||
         std::holds_alternative<EHist>(e) || std::holds_alternative<EPack>(e) ||
         std::holds_alternative<ESort>(e);
}

class Segments {
 public:
  explicit Segments(Program& p) : p_(p), facts_(p) {}

  void function(const std::string& name, Body& b) {
    name_ = name;
    body(b);
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
    Distributed all = distribute(p_, facts_, s, Depth::kAll);
    if (all.pieces > 1 && asks_for_all_levels(s)) {
      add_note(p_.notes, {s.prov, OneVersion{OneVersion::Why::kAttribute}});
    } else if (all.pieces > 1 && is_product_with_maps(all)) {
      add_note(p_.notes, {s.prov, OneVersion{OneVersion::Why::kProduct}});
    } else if (all.pieces > 1) {
      Distributed maps = distribute(p_, facts_, s, Depth::kMaps);
      if (maps.pieces < all.pieces) {
        versions(s, std::move(maps), std::move(all), out);
        return;
      }
      add_note(p_.notes, {s.prov, OneVersion{OneVersion::Why::kNothingSaved}});
    }
    for (Stm& made : all.stms) out.push_back(std::move(made));
    for (size_t k = 0; k < s.pat.size(); k++) {
      out.push_back(Stm{{s.pat[k]}, EAtom{Atom(all.results[k])}, {}, s.prov, {}});
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
      if (results > 0 || !factors_of(p_, *seg)) return false;
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

  void versions(const Stm& s, Distributed maps, Distributed all, Stms& out) {
    Body before;
    Builder b(p_, before, s.prov);
    const Atom there = threads(b, maps);
    const Atom enough = b.le(threshold(b), there);
    EVersions choice;
    choice.versions.push_back({"maps", enough, copy_renamed(p_, as_body(std::move(maps)))});
    choice.versions.push_back({"all", PrimValue::of_bool(true), as_body(std::move(all))});
    b.emit_to(s.pat, std::move(choice));
    for (Stm& made : before.stms) out.push_back(std::move(made));
  }

  static Body as_body(Distributed d) {
    Body b;
    b.stms = std::move(d.stms);
    b.results.assign(d.results.begin(), d.results.end());
    return b;
  }

  Atom threshold(Builder& b) {
    const TuneId id{static_cast<uint32_t>(p_.tunes.size())};
    p_.tunes.push_back({fmt::format("{}.enough_outer_par_{}", name_, thresholds_++),
                        TuneClass::kThreshold,
                        std::nullopt,
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
  int thresholds_ = 0;
};

}  // namespace

void segments(Program& p) {
  Segments pass(p);
  pass.function("constants", p.constants);
  for (Function& f : p.functions) pass.function(f.name, f.body);
  p.stage = Stage::kSeg;
}

}  // namespace kenaz::flatten
