#include "kernels/host_code/neighbours.h"

#include <algorithm>
#include <map>

#include "kernels/ir/analysis/plain.h"
#include "kernels/ir/visit.h"

namespace kenaz::host_code {

using body::KernelArray;
using body::Thread;
using kir::Value;
using kir::Values;

namespace {

constexpr int kVectorBytes = 16;
constexpr size_t kSmall = 24;  // statements: kernels repeat them

bool is_simple(const ir::Program& p, const ir::Body& b) {
  return std::all_of(b.stms.begin(), b.stms.end(), [&](const ir::Stm& s) {
    const bool scalars = ir::binds_scalars(p, s);
    if (const auto* branch = std::get_if<ir::EIf>(&s.exp)) {
      return scalars && is_simple(p, branch->then_body) && is_simple(p, branch->else_body);
    }
    return scalars &&
           (std::holds_alternative<ir::EAtom>(s.exp) || std::holds_alternative<ir::EPrim>(s.exp) ||
            std::holds_alternative<ir::EIndex>(s.exp));
  });
}

bool is_short(ScalarOp op) {
  switch (op) {
    case ScalarOp::kDiv:
    case ScalarOp::kMod:
    case ScalarOp::kQuot:
    case ScalarOp::kRem:
    case ScalarOp::kPow:
    case ScalarOp::kFma:
    case ScalarOp::kNextafter:
    case ScalarOp::kLdexp: return false;
    default: return op < ScalarOp::kSqrt || op > ScalarOp::kErfc;
  }
}

uint8_t lanes_for(PrimType type, size_t n) {
  return static_cast<uint8_t>(
      std::min<size_t>(n, static_cast<size_t>(kVectorBytes / prim_size(type))));
}

Values load_neighbours(kir::Builder& k, const KernelArray& a, const Value& first, int n) {
  Values out;
  const uint8_t lanes = lanes_for(a.elem, static_cast<size_t>(n));
  for (int j = 0; j < n; j += lanes) {
    const Value v = k.load({a.elem, lanes}, {a.base, k.add(first, j)});
    for (int lane = 0; lane < lanes; lane++) out.push_back(k.extract(v, lane));
  }
  return out;
}

}  // namespace

Neighbours::Neighbours(HostArrays& host, const ir::ESeg& e, Dims dims)
    : host_(host), handed_(handed_by(e)), rest_(e) {
  const ir::Program& p = host.ir();
  const bool plain_scalars =
      std::all_of(e.body.results.begin(), e.body.results.end(),
                  [&](const ir::Atom& r) { return p.type_of(r).is_scalar(); });
  const size_t rank = e.space.dims.size();
  const bool fits = dims == Dims::kAny ? rank > 0 : rank == 1;
  possible_ = fits && e.writes.empty() && plain_scalars && e.body.stms.size() <= kSmall &&
              is_simple(p, e.body);
  if (!possible_) return;
  rest_.body.stms.clear();
  for (const ir::Stm& s : e.body.stms) {
    (is_side_by_side(s) ? loads_ : rest_.body.stms).push_back(s);
  }
}

bool Neighbours::is_at_own_indices(const ir::EIndex& index) const {
  const auto& dims = rest_.space.dims;
  const size_t rank = index.dims.size();
  if (rank != 1 && rank != dims.size()) return false;
  const auto& sizes = host_.ir().type_of(index.array).dims;
  for (size_t d = 0; d < rank; d++) {
    const ir::SegDim& of = dims[dims.size() - rank + d];
    const auto* fix = std::get_if<ir::DimFix>(&index.dims[d]);
    if (fix == nullptr || fix->index != ir::Atom(of.index)) return false;
    if (d > 0 && sizes[d] != of.size) return false;  // rows that are longer
  }
  return true;
}

bool Neighbours::is_side_by_side(const ir::Stm& s) const {
  const auto* index = std::get_if<ir::EIndex>(&s.exp);
  // What its certificates stand for the host has asserted: there is no assertion in the body.
  if (index == nullptr || !is_at_own_indices(*index)) return false;
  if (!host_.is_bound(index->array)) return false;
  const auto* a = std::get_if<HostArray>(&host_.value(index->array));
  if (a == nullptr || a->kind != ArrayKind::kMemory) return false;
  if (index->dims.size() > 1 && !a->layout.dense) return false;
  const Operand& stride = a->layout.dense ? a->layout.unit : a->layout.strides[0];
  return host_.as_const(a->layout.offset) == 0 && host_.as_const(stride) == 1;
}

int Neighbours::count(bool stores) const {
  const bool stores_any = stores || rest_.body.results.size() > handed_;
  if (!possible_ || (loads_.empty() && !stores_any)) return 1;
  const ir::Program& p = host_.ir();
  const auto is_wide = [&](const ir::Type& t) { return prim_size(t.prim) > 4; };
  const bool wide =
      std::any_of(loads_.begin(), loads_.end(),
                  [&](const ir::Stm& s) { return is_wide(p.type_of(s.pat[0])); }) ||
      (stores_any && std::any_of(rest_.body.results.begin(), rest_.body.results.end(),
                                 [&](const ir::Atom& r) { return is_wide(p.type_of(r)); }));
  return wide ? 2 : 4;
}

kir::FunctionId Neighbours::function(Thread& t, int n, const SegParts& parts, Plain plain) const {
  const auto& dims = rest_.space.dims;
  const std::vector<kir::Type> params(has_segments() ? 2 : 1, {PrimType::kI64});
  return body::function(t, "neighbours", params, [&](const Values& args) {
    const Value& first = args.back();
    Value place = first;  // in all of the space
    if (has_segments()) {
      bind_indices(host_, t, {dims.begin(), dims.end() - 1}, args[0]);
      const Value length = t.args.operand(host_.scalar(dims.back().size));
      place = t.k.add(t.k.mul(args[0], length), first);
    }
    std::vector<Values> loaded;
    for (const ir::Stm& s : loads_) {
      const auto& index = std::get<ir::EIndex>(s.exp);
      const Value& at = index.dims.size() == dims.size() ? place : first;
      loaded.push_back(load_neighbours(t.k, t.env.array(index.array), at, n));
    }
    Values out;
    const size_t handed = plain == Plain::kHandedOn ? rest_.body.results.size() : handed_;
    std::vector<Values> rest(rest_.body.results.size() - handed);
    for (size_t j = 0; j < static_cast<size_t>(n) && !host_.failed(); j++) {
      t.env.bind_param(dims.back().index, t.k.add(first, static_cast<int64_t>(j)));
      for (size_t l = 0; l < loads_.size(); l++) t.env.bind(loads_[l].pat[0], loaded[l][j]);
      body::forget(t, rest_.body);
      const auto results = body::translate(t, rest_.body);
      for (size_t r = 0; r < results.size(); r++) {
        const Value& x = std::get<Value>(results[r]);
        (r < handed ? out : rest[r - handed]).push_back(x);
      }
    }
    for (size_t r = 0; r < rest.size() && plain == Plain::kStored && !host_.failed(); r++) {
      store_neighbours(t.k, t.args.block(parts.stored[r].block), place, rest[r]);
    }
    return out;
  });
}

std::function<std::vector<Values>(kir::Builder&, const plan::Place&, int)> Neighbours::many(
    Thread& t, const SegParts& parts, Plain plain) const {
  const auto functions = std::make_shared<std::map<int, kir::FunctionId>>();  // by number
  return [this, &t, parts, plain, functions](kir::Builder& k, const plan::Place& first, int n) {
    auto it = functions->find(n);
    if (it == functions->end()) it = functions->emplace(n, function(t, n, parts, plain)).first;
    const Values all = k.call(it->second, has_segments() ? Values{first.segment, first.position}
                                                         : Values{first.position});
    const auto each = static_cast<std::ptrdiff_t>(all.size()) / n;
    std::vector<Values> out;
    for (auto from = all.begin(); from != all.end(); from += each) {
      out.emplace_back(from, from + each);
    }
    return out;
  };
}

kir::FunctionId Neighbours::point(Thread& t) const {
  std::vector<kir::Type> params = {{PrimType::kI64}};
  for (const ir::Stm& s : loads_) params.push_back({host_.ir().type_of(s.pat[0]).prim});
  return body::function(t, "point", params, [&](const Values& args) {
    t.env.bind_param(rest_.space.dims[0].index, args[0]);
    for (size_t l = 0; l < loads_.size(); l++) t.env.bind(loads_[l].pat[0], args[l + 1]);
    body::forget(t, rest_.body);
    Values out;
    for (const auto& r : body::translate(t, rest_.body)) out.push_back(std::get<Value>(r));
    return out;
  });
}

std::optional<int> short_statements(const ir::Body& body) {
  int count = 0;
  for (const ir::Stm& s : body.stms) {
    const auto* prim = std::get_if<ir::EPrim>(&s.exp);
    const auto* branch = std::get_if<ir::EIf>(&s.exp);
    count++;
    if (branch != nullptr) {
      const auto a = short_statements(branch->then_body), b = short_statements(branch->else_body);
      if (!a || !b) return {};
      count += *a + *b;
    } else if (!std::holds_alternative<ir::EAtom>(s.exp) &&
               (prim == nullptr || !is_short(prim->op))) {
      return {};
    }
  }
  return count;
}

void store_neighbours(kir::Builder& k, const Value& base, const Value& first,
                      const Values& values) {
  const uint8_t lanes = lanes_for(values[0].type.prim, values.size());
  for (size_t j = 0; j < values.size(); j += lanes) {
    const auto from = values.begin() + static_cast<std::ptrdiff_t>(j);
    k.store(base, k.add(first, static_cast<int64_t>(j)), k.compose(Values(from, from + lanes)));
  }
}

}  // namespace kenaz::host_code
