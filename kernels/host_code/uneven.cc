#include "kernels/host_code/uneven.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "kernels/flatten/attributes.h"
#include "kernels/host_code/body_facts.h"
#include "kernels/host_code/launch.h"
#include "kernels/host_code/monoids.h"
#include "kernels/primitives/uneven/plans.h"

namespace kenaz::host_code {

using body::Thread;
using ir::VarId;
using kir::Value;
using kir::Values;

namespace {

const ir::ESoac& reduction_of(const ir::Uneven::Stage& stage) {
  return std::get<ir::ESoac>(stage.reduction->exp);
}

Monoids monoids_of(const ir::Uneven::Stage& stage) {
  Monoids out;
  for (const ir::Monoid& m : reduction_of(stage).reduces) out.push_back(&m);
  return out;
}

/// Binds scalars to values from `from` on.
void bind_all(Thread& t, const std::vector<VarId>& scalars, const Values& values, size_t from) {
  for (size_t n = 0; n < scalars.size(); n++) t.env.bind_param(scalars[n], values[from + n]);
}

Values scalars_of(const std::vector<body::KernelValue>& values) {
  Values out;
  for (const body::KernelValue& v : values) out.push_back(std::get<Value>(v));
  return out;
}

}  // namespace

UnevenMap::UnevenMap(HostArrays& host, const ir::Stm& s, const ir::ESeg& e, const SegParts& parts)
    : host_(host), s_(s), e_(e), parts_(parts) {
  // On CPUs barriers and shuffles cost more than waiting for the longest row.
  if (is_single(e) || !hides_latency_by_threads(host)) return;
  uneven_ = ir::uneven_of(host.ir(), e, flatten::asks_for_one_thread);
  if (!uneven_) return;
  last_ = e;
  last_.body = uneven_->leave;
  PlanRequest wanted = request();
  if (!needs_thread_memory(host, wanted)) request_ = std::move(wanted);
}

std::optional<Operand> UnevenMap::longest() const {
  std::optional<Operand> all;
  for (const ir::Uneven::Stage& stage : uneven_->stages) {
    const auto one = longest(reduction_of(stage).width);
    if (!one) return std::nullopt;
    all = all ? host_.max(*all, *one) : *one;
  }
  return all;
}

// Of an index of the space, and what is a constant behind one: as those of triangles are.
std::optional<Operand> UnevenMap::longest(const ir::Atom& length) const {
  if (length.is_const()) return Operand(length.constant());
  for (const ir::SegDim& d : e_.space.dims) {
    if (length == ir::Atom(d.index)) return host_.add(host_.scalar(d.size), host_.konst(-1));
  }
  for (const ir::Stm& s : e_.body.stms) {
    const auto* sum = std::get_if<ir::EPrim>(&s.exp);
    if (sum == nullptr || length != ir::Atom(s.pat[0])) continue;
    if (sum->op != ScalarOp::kAdd || !sum->args[1].is_const()) return std::nullopt;
    const auto most = longest(sum->args[0]);
    if (!most) return std::nullopt;
    return host_.add(*most, sum->args[1].constant());
  }
  return std::nullopt;
}

void UnevenMap::launch() const {
  launch_plans(host_, primitives::uneven_plans(), *request_);
  if (host_.recorder() == nullptr) return;
  for (const auto& stage : uneven_->stages) host_.recorder()->takes_threads(stage.reduction->prov);
}

std::vector<kir::Type> UnevenMap::types_of(const std::vector<VarId>& scalars) const {
  std::vector<kir::Type> out;
  for (const VarId v : scalars) out.push_back({host_.ir().type_of(v).prim});
  return out;
}

PlanRequest UnevenMap::request() const {
  PlanRequest r;
  plan::Facts& f = r.facts;
  f.name = host_.kernel_name(e_.writes.empty() ? "map" : "scatter");
  f.prov = s_.prov;
  f.segments = plan::HostExpr::size(0);
  Monoids all;
  std::map<PrimType, size_t> most;
  for (const ir::Uneven::Stage& stage : uneven_->stages) {
    const ir::Body& element = reduction_of(stage).map.body;
    f.slow = f.slow || is_slow(element);
    f.fails = f.fails || may_stop(element);
    for (const ir::Monoid* m : monoids_of(stage)) {
      f.slow = f.slow || is_slow(m->op.body);
      f.fails = f.fails || may_stop(m->op.body);
      all.push_back(m);
    }
    // The places of one stage are those of the next: of each type as many as any of them has.
    std::map<PrimType, size_t> shared;
    for (const kir::Type& t : types_of(stage.shared)) shared[t.prim]++;
    for (const auto& [type, number] : shared) most[type] = std::max(most[type], number);
  }
  for (const auto& [type, number] : most) f.carried.insert(f.carried.end(), number, type);
  f.op = joined_facts(host_.ir(), all);
  r.sizes = {host_.count(host_.dims_of(ir::sizes_of(e_.space.dims))).operand()};
  r.prepares = e_.kind != ir::SegKind::kMap || handed_by(e_) > 0;
  r.bind = [this](Thread& t, plan::Asks) { return bind(t); };
  return r;
}

plan::Problem UnevenMap::bind(Thread& t) const {
  plan::Problem problem;
  size_t operators = 0;
  for (size_t n = 0; n < uneven_->stages.size(); n++) {
    problem.uneven.stages.push_back(stage(t, n, operators));
    operators += monoids_of(uneven_->stages[n]).size();
  }
  const kir::FunctionId f = leave(t);
  problem.uneven.leave = [f](kir::Builder& k, const Value& segment, const Values& before) {
    Values args = {segment};
    args.insert(args.end(), before.begin(), before.end());
    k.call(f, std::move(args));
  };
  return problem;
}

plan::Uneven::Stage UnevenMap::stage(Thread& t, size_t number, size_t first_operator) const {
  const ir::Uneven::Stage& of = uneven_->stages[number];
  plan::Uneven::Stage out;
  out.op = joined_operator(t, monoids_of(of), first_operator);
  const kir::FunctionId entering = enter(t, number), at = element(t, number);
  out.enter = [entering, shared = of.shared.size()](kir::Builder& k, const Value& segment,
                                                    const Values& before) {
    Values args = {segment};
    args.insert(args.end(), before.begin(), before.end());
    const Values all = k.call(entering, std::move(args));
    const auto kept = all.begin() + 1 + static_cast<std::ptrdiff_t>(shared);
    return plan::Uneven::Entered{all[0], {all.begin() + 1, kept}, {kept, all.end()}};
  };
  out.read = [](kir::Builder&, const Values&, const Value&) { return Values{}; };
  if (reads_scalars(number)) {
    const kir::FunctionId reading = read(t, number);
    out.read = [reading](kir::Builder& k, Values shared, const Value& position) {
      shared.push_back(position);
      return k.call(reading, std::move(shared));
    };
  }
  out.at = [at](kir::Builder& k, Values shared, const Value& position, const Values& read) {
    shared.push_back(position);
    shared.insert(shared.end(), read.begin(), read.end());
    return k.call(at, std::move(shared));
  };
  return out;
}

// Both see the segment's number, then what is known of it.
kir::FunctionId UnevenMap::enter(Thread& t, size_t number) const {
  const std::vector<VarId> known = uneven_->known(number);
  std::vector<kir::Type> params = types_of(known);
  params.insert(params.begin(), kir::Type{PrimType::kI64});
  return body::function(t, fmt::format("enter{}", number), params, [&](const Values& args) {
    bind_indices(host_, t, e_.space.dims, args[0]);
    bind_all(t, known, args, 1);
    return scalars_of(body::translate(t, uneven_->stages[number].enter));
  });
}

kir::FunctionId UnevenMap::leave(Thread& t) const {
  const std::vector<VarId> known = uneven_->known(uneven_->stages.size());
  std::vector<kir::Type> params = types_of(known);
  params.insert(params.begin(), kir::Type{PrimType::kI64});
  return body::function(t, "leave", params, [&](const Values& args) {
    bind_indices(host_, t, e_.space.dims, args[0]);
    bind_all(t, known, args, 1);
    return run_point(host_, t, last_, parts_);
  });
}

bool UnevenMap::reads_scalars(size_t number) const {
  const std::vector<VarId>& params = reduction_of(uneven_->stages[number]).map.params;
  return std::all_of(params.begin(), params.end(),
                     [&](VarId v) { return host_.ir().type_of(v).is_scalar(); });
}

// Sees what is shared, then the position, then scalars of `more`.
kir::FunctionId UnevenMap::of_element(Thread& t, const std::string& name, size_t number,
                                      const std::vector<VarId>& more,
                                      const std::function<Values(const Value&)>& body) const {
  const ir::Uneven::Stage& stage = uneven_->stages[number];
  std::vector<kir::Type> params = types_of(stage.shared);
  params.push_back({PrimType::kI64});
  for (const kir::Type& type : types_of(more)) params.push_back(type);
  return body::function(t, fmt::format("{}{}", name, number), params, [&](const Values& args) {
    bind_all(t, stage.shared, args, 0);
    bind_all(t, more, args, stage.shared.size() + 1);
    for (const ir::Stm& s : stage.views) body::translate(t, s);
    t.k.set_prov(stage.reduction->prov);
    return body(args[stage.shared.size()]);
  });
}

kir::FunctionId UnevenMap::read(Thread& t, size_t number) const {
  const ir::ESoac& reduction = reduction_of(uneven_->stages[number]);
  return of_element(t, "read", number, {}, [&](const Value& position) {
    body::bind_rows(t, reduction.map.params, reduction.inputs, position);
    Values out;
    for (const VarId v : reduction.map.params) out.push_back(t.env.scalar(ir::Atom(v)));
    return out;
  });
}

kir::FunctionId UnevenMap::element(Thread& t, size_t number) const {
  const ir::ESoac& reduction = reduction_of(uneven_->stages[number]);
  const bool is_read = reads_scalars(number);
  return of_element(t, "elem", number, is_read ? reduction.map.params : std::vector<VarId>{},
                    [&](const Value& position) {
                      if (!is_read) {
                        body::bind_rows(t, reduction.map.params, reduction.inputs, position);
                      }
                      return scalars_of(body::translate(t, reduction.map.body));
                    });
}

}  // namespace kenaz::host_code
