#include "kernels/host_code/abreast_map.h"

#include "kernels/host_code/indices.h"
#include "kernels/host_code/launch.h"
#include "kernels/ir/analysis/plain.h"

namespace kenaz::host_code {

using body::Thread;
using kir::Value;
using kir::Values;

namespace {

/// Bytes go by words, and words by 16 bytes.
constexpr int64_t kPoints = 4;
constexpr size_t kMostStatements = 200;

}  // namespace

AbreastMap::AbreastMap(HostArrays& host, const ir::Stm& s, const ir::ESeg& e)
    : host_(host),
      s_(s),
      scalars_(e.kind == ir::SegKind::kMap && e.writes.empty() && !e.space.dims.empty()
                   ? scalar_results(host.ir(), e)
                   : std::nullopt) {
  if (!scalars_) return;
  const ir::Body& b = scalars_->seg.body;
  if (b.stms.size() > kMostStatements || !ir::is_plain(host.ir(), b)) return;
  const auto offsets = ir::offsets_of(host.ir(), scalars_->seg);
  if (ir::neighbours_share(host.ir(), scalars_->seg, offsets, kPoints)) {
    abreast_.emplace(host, scalars_->seg, kPoints, Abreast::Rows::kWhole);
  }
}

/// The space's sizes, of which the last is how many threads it takes.
std::vector<Operand> AbreastMap::strips() const {
  std::vector<Operand> out = host_.dims_of(ir::sizes_of(scalars_->seg.space.dims));
  out.back() = abreast_->threads();
  return out;
}

Operand AbreastMap::worthwhile() const {
  const Operand threads = host_.konst(host_.target().threads);
  const Operand fills = host_.emit_op(ScalarOp::kLe, PrimType::kI64, PrimType::kBool,
                                      {threads, host_.count(strips()).operand()});
  return host_.emit_op(ScalarOp::kAnd, PrimType::kBool, PrimType::kBool, {fills, abreast_->fits()});
}

void AbreastMap::launch(const SegParts& parts) const {
  const std::vector<Operand> sizes = strips();
  Thread t(host_, host_.kernel_name("abreast"), s_.prov);
  kir::Builder& k = t.k;
  Abreast abreast = *abreast_;
  const auto elem = body::function(t, "abreast", {{PrimType::kI64}}, [&](const Values& args) {
    const auto& dims = scalars_->seg.space.dims;
    const Values at = indices_of(host_, t, sizes, args[0]);
    for (size_t d = 0; d + 1 < dims.size(); d++) t.env.bind_param(dims[d].index, at[d]);
    const Value first = k.mul(at.back(), kPoints), place = k.mul(args[0], kPoints);
    abreast.points(t, first, [&](const Value& column, int64_t count) {
      std::vector<Values> made;
      for (int64_t n = 0; n < count && !host_.failed(); n++) {
        abreast.bind(t, column, n);
        body::forget(t, scalars_->seg.body);
        abreast.translate(t, scalars_->seg.body);
        if (!host_.failed()) made.push_back(t.env.scalars(scalars_->seg.body.results));
      }
      if (host_.failed()) return;
      t.k.set_prov(t.kernel.prov);
      store_points(t, *scalars_, parts, k.add(place, k.sub(column, first)), made);
    });
    return Values{};
  });
  launch_elements(host_, t, elem, host_.count(sizes).operand());
}

}  // namespace kenaz::host_code
