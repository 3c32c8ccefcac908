#include "kernels/explain/recorder.h"

#include <algorithm>

#include "kernels/ir/analysis/places.h"
#include "kernels/ir/visit.h"
#include "kernels/plan/team.h"
#include "protocol/base/check.h"

namespace kenaz::explain {

using namespace ir;

namespace {

Kind kind_of(const ESeg& e) {
  if (e.level == SegLevel::kGroup) return Kind::kGroups;
  if (is_single(e)) return Kind::kOneThread;
  if (e.kind == SegKind::kReduce) return Kind::kReduce;
  if (e.kind == SegKind::kScan) return Kind::kScan;
  if (e.kind == SegKind::kPack) return Kind::kPack;
  if (e.kind == SegKind::kSort) return Kind::kSort;
  if (e.writes.empty()) return Kind::kMap;
  return e.writes[0].combine ? Kind::kHistogram : Kind::kScatter;
}

bool is_combinator(const Exp& e) {
  return std::holds_alternative<ESoac>(e) || std::holds_alternative<EScatter>(e) ||
         std::holds_alternative<EHist>(e);
}

template <class T>
std::optional<T> note_at(const Program& p, ProvId place) {
  for (const Note& n : p.notes) {
    const auto* what = std::get_if<T>(&n.what);
    if (what != nullptr && n.place == place) return *what;
  }
  return std::nullopt;
}

bool same(const SourceRange& a, const SourceRange& b) {
  return a.file == b.file && a.begin == b.begin && a.end == b.end;
}

}  // namespace

Recorder::Recorder(const Program& p, VersionNames names)
    : p_(p), sizes_(p), names_(std::move(names)) {}

void Recorder::begin_entry(const std::string& name) { report_.entries.push_back({name, {}}); }

void Recorder::enter(const Atom& cond, bool then) {
  std::optional<InVersion> in;
  if (!cond.is_const()) {
    if (const auto named = names_.find(cond.var()); named != names_.end()) {
      in = InVersion{then ? named->second.first : named->second.second, {}, {}, then};
      if (const auto test = sizes_.test(cond)) {
        in->param = p_.tunes[test->param.index].name;
        in->size = test->size;
      }
    }
  }
  around_.push_back(std::move(in));
}

void Recorder::leave() { around_.pop_back(); }

SourceRange Recorder::range(ProvId place) const { return ir::own_place(p_, place); }

std::vector<SourceRange> Recorder::fused_at(ProvId place) const {
  std::vector<SourceRange> out;
  std::vector<ProvId> ahead = {place};
  std::vector<ProvId> seen = ahead;
  while (!ahead.empty()) {
    const ProvId at = ahead.back();
    ahead.pop_back();
    for (const Note& n : p_.notes) {
      const auto* fused = std::get_if<Fused>(&n.what);
      if (fused == nullptr || n.place != at) continue;
      if (std::find(seen.begin(), seen.end(), fused->producer) != seen.end()) continue;
      seen.push_back(fused->producer);
      ahead.push_back(fused->producer);
      const SourceRange r = range(fused->producer);
      const bool known = same(r, range(place)) ||
                         std::any_of(out.begin(), out.end(), [&](auto& o) { return same(o, r); });
      if (!known) out.push_back(r);
    }
  }
  std::sort(out.begin(), out.end(), [](auto& a, auto& b) { return a.begin < b.begin; });
  return out;
}

std::vector<Inside> Recorder::inside_of(const Body& b) const {
  std::vector<Inside> out;
  for (const Stm& s : b.stms) {
    const auto stays = note_at<Stays>(p_, s.prov);
    if (is_combinator(s.exp) || stays) {
      out.push_back({range(s.prov), stays ? std::optional(stays->why) : std::nullopt});
      if (stays) continue;  // what is in it stays for this reason
    }
    visit_bodies(s.exp, [&](const Body& inner) {
      for (Inside& i : inside_of(inner)) out.push_back(std::move(i));
    });
  }
  return out;
}

Report Recorder::take() {
  for (const Note& n : p_.notes) {
    if (const auto* refused = std::get_if<OneVersion>(&n.what)) {
      report_.refused.push_back({range(n.place), refused->why});
    } else if (const auto* none = std::get_if<ir::NoGroups>(&n.what)) {
      report_.no_groups.push_back({range(n.place), none->why});
    }
  }
  return std::move(report_);
}

void Recorder::takes_map(ProvId map) {
  Operation& o = report_.entries.back().operations.back();
  std::vector<SourceRange> all = fused_at(map);
  all.push_back(range(map));
  for (const SourceRange& r : all) {
    const bool known = same(r, o.place) || std::any_of(o.fused.begin(), o.fused.end(),
                                                       [&](auto& f) { return same(f, r); });
    if (!known) o.fused.push_back(r);
  }
}

void Recorder::operation(const Stm& s, const ESeg& e) {
  CHECK(!report_.entries.empty());
  Operation o;
  o.kind = kind_of(e);
  o.place = range(s.prov);
  o.fused = fused_at(s.prov);
  for (const auto& in : around_) {
    if (in) o.versions.push_back(*in);
  }
  for (const SegDim& d : e.space.dims) o.space.push_back(sizes_.size(d.size));
  if (o.kind != Kind::kGroups) o.why_one = OneByOne::kElements;
  Traffic traffic = traffic_of(p_, sizes_, e);
  o.reads = std::move(traffic.reads);
  o.writes = std::move(traffic.writes);
  o.inside = inside_of(e.body);
  if (o.kind == Kind::kOneThread) {
    if (const auto note = note_at<OneThread>(p_, s.prov)) o.one_thread = note->why;
  }
  report_.entries.back().operations.push_back(std::move(o));
}

void Recorder::plans(const plan::Facts& facts, std::span<const plan::Choice> choices,
                     const program::Target& target) {
  Operation& o = report_.entries.back().operations.back();
  for (const plan::Choice& c : choices) o.plans.push_back({c.plan->name, c.when});
  o.group_size = plan::group_size_for(facts, target);
  o.width = facts.widest;
  if (facts.widest > 1) {
    o.why_one.reset();
  } else if (facts.across) {
    o.why_one = OneByOne::kAcross;
  }
}

void Recorder::takes_threads(ProvId combinator) {
  Operation& o = report_.entries.back().operations.back();
  std::erase_if(o.inside, [&](const Inside& i) { return same(i.place, range(combinator)); });
}

}  // namespace kenaz::explain
