#include "kernels/host_code/operands.h"

#include "kernels/host_code/launch.h"
#include "kernels/host_code/uneven.h"

namespace kenaz::host_code {

using body::Thread;
using kir::Value;
using kir::Values;

std::vector<HostArray> map_operands(HostArrays& host, const ir::Stm& s, const ir::ESeg& e,
                                    const SegParts& parts) {
  const std::vector<Operand> sizes = host.dims_of(ir::sizes_of(e.space.dims));
  SegParts all = parts;
  all.hands_on = false;
  std::vector<HostArray> operands;
  for (size_t n = 0; n < handed_by(e); n++) {
    operands.push_back(host.allocate(host.ir().type_of(e.body.results[n]).prim, sizes));
  }
  all.stored.insert(all.stored.begin(), operands.begin(), operands.end());
  if (const UnevenMap uneven(host, s, e, all); uneven.any()) {
    uneven.launch();
    return operands;
  }
  Thread t(host, host.kernel_name("map"), s.prov);
  const auto elem = point_function(host, t, e, {e.space.dims.size()}, all);
  launch_elements(host, t, elem, host.count(sizes).operand());
  return operands;
}

plan::Elements elements_from(Thread& t, const std::vector<HostArray>& operands,
                             const Operand& length) {
  Values bases;
  for (const auto& a : operands) bases.push_back(t.args.block(a.block));
  const Value n = t.args.operand(length);
  plan::Elements elements;
  elements.at = [operands, bases, n](kir::Builder& k, const plan::Place& at) {
    const Value index = k.add(k.mul(at.segment, n), at.position);
    Values out;
    for (size_t a = 0; a < bases.size(); a++) {
      out.push_back(k.load(operands[a].elem, bases[a], index));
    }
    return out;
  };
  return elements;
}

}  // namespace kenaz::host_code
