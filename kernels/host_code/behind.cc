#include "kernels/host_code/behind.h"

#include <algorithm>

#include "kernels/host_code/neighbours.h"
#include "kernels/host_code/seg_element.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/visit.h"

namespace kenaz::host_code {

using body::Thread;
using ir::VarId;
using kir::Value;
using kir::Values;

namespace {

/// Statements of such a map: its code stands wherever a plan stores.
constexpr size_t kMaxStatements = 32;

bool is_arithmetic(const ir::Body& b, size_t& statements) {
  return std::all_of(b.stms.begin(), b.stms.end(), [&](const ir::Stm& s) {
    if (++statements > kMaxStatements) return false;
    if (const auto* e = std::get_if<ir::EIf>(&s.exp)) {
      return is_arithmetic(e->then_body, statements) && is_arithmetic(e->else_body, statements);
    }
    if (const auto* e = std::get_if<ir::EIndex>(&s.exp)) {
      return std::all_of(e->dims.begin(), e->dims.end(),
                         [](const ir::Dim& d) { return std::holds_alternative<ir::DimFix>(d); });
    }
    return std::holds_alternative<ir::EPrim>(s.exp) || std::holds_alternative<ir::EAtom>(s.exp);
  });
}

/// The number of what the statement makes that is loaded, if that is at the map's own point.
std::optional<size_t> own_load(const std::vector<VarId>& made, const ir::ESeg& map,
                               const ir::Stm& s) {
  const auto* load = std::get_if<ir::EIndex>(&s.exp);
  if (load == nullptr) return std::nullopt;
  const auto at = std::find(made.begin(), made.end(), load->array);
  if (at == made.end() || load->dims.size() != map.space.dims.size()) return std::nullopt;
  for (size_t d = 0; d < load->dims.size(); d++) {
    const auto* fix = std::get_if<ir::DimFix>(&load->dims[d]);
    if (fix == nullptr || fix->index != ir::Atom(map.space.dims[d].index)) return std::nullopt;
  }
  return static_cast<size_t>(at - made.begin());
}

int own_loads(const std::vector<VarId>& made, const ir::ESeg& map, const ir::Body& b) {
  int n = 0;
  for (const ir::Stm& s : b.stms) {
    n += static_cast<int>(own_load(made, map, s).has_value());
    visit_bodies(s.exp, [&](const ir::Body& inner) { n += own_loads(made, map, inner); });
  }
  return n;
}

std::vector<VarId> operands_made(const ir::Stm& s, const ir::ESeg& e) {
  return {s.pat.begin(), s.pat.begin() + static_cast<std::ptrdiff_t>(operands_of(e))};
}

/// The dims of what the statement makes.
size_t rank_of(const ir::ESeg& e) {
  return e.space.dims.size() - static_cast<size_t>(e.kind == ir::SegKind::kReduce);
}

bool is_plain_map(const ir::Program& p, const ir::Stm& s) {
  const auto* e = std::get_if<ir::ESeg>(&s.exp);
  size_t statements = 0;
  return e != nullptr && e->kind == ir::SegKind::kMap && e->level == ir::SegLevel::kDevice &&
         !is_single(*e) && e->writes.empty() && s.attrs.empty() &&
         is_arithmetic(e->body, statements) &&
         std::all_of(s.pat.begin(), s.pat.end(), [&](VarId v) {
           return p.type_of(v).dims.size() == e->space.dims.size() && !p.vars[v.index].place;
         });
}

/// Whether the map's space is that of what `e` makes.
bool is_same_space(const ir::ESeg& e, const ir::ESeg& map) {
  if (map.space.dims.size() != rank_of(e)) return false;
  for (size_t d = 0; d < map.space.dims.size(); d++) {
    if (map.space.dims[d].size != e.space.dims[d].size) return false;
  }
  return true;
}

}  // namespace

std::optional<size_t> map_behind(const HostArrays& host, const std::vector<int>& uses,
                                 const ir::Body& b, size_t n) {
  const ir::Program& p = host.ir();
  const ir::Stm& s = b.stms[n];
  const auto* e = std::get_if<ir::ESeg>(&s.exp);
  if (e == nullptr || e->level != ir::SegLevel::kDevice || is_single(*e)) return std::nullopt;
  const bool collects = e->kind == ir::SegKind::kScan || e->kind == ir::SegKind::kReduce;
  // One scalar is no array; and plans that read ahead store what they find as it is.
  const bool flat = e->space.dims.size() == 1;
  if (!collects || (flat && (e->kind == ir::SegKind::kReduce || host.target().reads_ahead))) {
    return std::nullopt;
  }
  const std::vector<VarId> made = operands_made(s, *e);
  int wanted = 0;
  for (const VarId v : made) {
    if (p.vars[v.index].place || p.type_of(v).is_scalar()) return std::nullopt;
    wanted += uses[v.index];
  }
  const ir::VarSet of_it(s.pat.begin(), s.pat.end());
  ir::VarSet later;
  for (size_t c = n + 1; c < b.stms.size(); c++) {
    const ir::Stm& t = b.stms[c];
    const ir::VarSet needed = free_vars(p, t);
    const bool takes =
        std::any_of(made.begin(), made.end(), [&](VarId v) { return needed.contains(v); });
    if (!takes) {
      later.insert(t.pat.begin(), t.pat.end());
      continue;
    }
    if (!is_plain_map(p, t)) return std::nullopt;
    const auto& map = std::get<ir::ESeg>(t.exp);
    if (!is_same_space(*e, map) || own_loads(made, map, map.body) != wanted) return std::nullopt;
    const auto is_made = [&](VarId v) {
      return std::find(made.begin(), made.end(), v) != made.end();
    };
    const bool ready = std::all_of(needed.begin(), needed.end(), [&](VarId v) {
      return !later.contains(v) && (is_made(v) || !of_it.contains(v));
    });
    return ready ? std::optional(c) : std::nullopt;
  }
  return std::nullopt;
}

Behind::Behind(HostArrays& host, const ir::Stm& s, const ir::Stm& behind)
    : host_(host), map_(std::get<ir::ESeg>(behind.exp)), body_(map_.body) {
  const auto& e = std::get<ir::ESeg>(s.exp);
  const std::vector<VarId> made = operands_made(s, e);
  leading_ = e.space.dims.size() - 1;
  for (const VarId v : made) types_.push_back(host.ir().type_of(v).prim);
  const std::function<void(ir::Body&)> take = [&](ir::Body& b) {
    std::erase_if(b.stms, [&](const ir::Stm& t) {
      const auto k = own_load(made, map_, t);
      if (k) loaded_.emplace_back(t.pat[0], *k);
      return k.has_value();
    });
    for (ir::Stm& t : b.stms) visit_bodies(t.exp, take);
  };
  take(body_);
  for (const VarId v : behind.pat) arrays_.push_back(host.make_and_bind(v));
}

kir::FunctionId Behind::point(Thread& t) const {
  std::vector<kir::Type> params(2, kir::Type{PrimType::kI64});
  for (const PrimType type : types_) params.push_back({type});
  return body::function(t, "behind", params, [&](const Values& args) {
    const auto split = map_.space.dims.begin() + static_cast<std::ptrdiff_t>(leading_);
    bind_indices(host_, t, {map_.space.dims.begin(), split}, args[0]);
    bind_indices(host_, t, {split, map_.space.dims.end()}, args[1]);
    for (const auto& [v, k] : loaded_) t.env.bind_param(v, args[2 + k]);
    Values out;
    for (const body::KernelValue& r : body::translate(t, body_)) out.push_back(std::get<Value>(r));
    return out;
  });
}

plan::Sink Behind::sink(Thread& t, const Value& length) const {
  const kir::FunctionId f = point(t);
  Values bases;
  for (const HostArray& a : arrays_) bases.push_back(t.args.block(a.block));
  const bool along = map_.space.dims.size() > leading_;
  const auto values_at = [f, count = types_.size()](kir::Builder& k, const plan::Place& at,
                                                    const Values& x) {
    Values args{at.segment, at.position};
    args.insert(args.end(), x.begin(), x.begin() + static_cast<std::ptrdiff_t>(count));
    return k.call(f, std::move(args));
  };
  const auto index_of = [length, along](kir::Builder& k, const plan::Place& at) {
    return along ? k.add(k.mul(at.segment, length), at.position) : at.segment;
  };
  plan::Sink sink;
  sink.put = [=](kir::Builder& k, const plan::Place& at, const Values& x) {
    const Values results = values_at(k, at, x);
    const Value index = index_of(k, at);
    for (size_t n = 0; n < bases.size(); n++) k.store(bases[n], index, results[n]);
  };
  sink.put_many = [=](kir::Builder& k, const plan::Place& first, const std::vector<Values>& all) {
    std::vector<Values> results;
    for (size_t j = 0; j < all.size(); j++) {
      plan::Place at = first;
      Value& moving = along ? at.position : at.segment;
      moving = k.add(moving, static_cast<int64_t>(j));
      results.push_back(values_at(k, at, all[j]));
    }
    for (size_t n = 0; n < bases.size(); n++) {
      Values values;
      for (const Values& x : results) values.push_back(x[n]);
      store_neighbours(k, bases[n], index_of(k, first), values);
    }
  };
  return sink;
}

}  // namespace kenaz::host_code
