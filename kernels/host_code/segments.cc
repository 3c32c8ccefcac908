#include "kernels/host_code/segments.h"

#include <algorithm>

#include "kernels/host_code/collectives.h"
#include "kernels/host_code/group.h"
#include "kernels/host_code/maps.h"
#include "kernels/host_code/packs.h"
#include "kernels/host_code/single.h"

namespace kenaz::host_code {

namespace {

bool is_scalar(const ir::Program& p, const ir::SegMonoid& m) {
  return m.lifted.empty() &&
         std::all_of(m.op.neutral.begin(), m.op.neutral.end(),
                     [&](const ir::Atom& n) { return p.type_of(n).is_scalar(); });
}

}  // namespace

bool is_supported(const ir::Program& p, const ir::ESeg& e) {
  const bool scalars = std::all_of(e.monoids.begin(), e.monoids.end(),
                                   [&](const ir::SegMonoid& m) { return is_scalar(p, m); });
  if (e.level != ir::SegLevel::kDevice || !scalars) return false;
  const bool combines = std::any_of(e.writes.begin(), e.writes.end(),
                                    [](const ir::SegWrite& w) { return w.combine.has_value(); });
  if (!combines) return e.kind == ir::SegKind::kMap || e.writes.empty();
  return e.kind == ir::SegKind::kMap && e.writes.size() == 1 && is_scalar(p, *e.writes[0].combine);
}

void segment(HostArrays& host, const ir::Stm& s, const ir::ESeg& e, const ir::Stm* behind) {
  if (e.level == ir::SegLevel::kGroup) {
    group_segment(host, s, e);
  } else if (is_single(e)) {
    single(host, s, e);
  } else if (!is_supported(host.ir(), e)) {
    host.refuse(s.prov, "a segmented operation of this form");
  } else if (e.kind == ir::SegKind::kPack) {
    pack(host, s, e);
  } else if (e.kind == ir::SegKind::kSort) {
    sort(host, s, e);
  } else if (e.kind != ir::SegKind::kMap) {
    collective(host, s, e, behind);
  } else if (!e.writes.empty() && e.writes[0].combine) {
    histogram(host, s, e);
  } else {
    map(host, s, e);
  }
}

}  // namespace kenaz::host_code
