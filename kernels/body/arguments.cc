#include "kernels/body/arguments.h"

#include <fmt/format.h>

#include "kernels/kir/visit.h"

namespace kenaz::body {

using kir::Value;

Value Arguments::operand(const Operand& o) {
  if (const auto* c = std::get_if<PrimValue>(&o)) return *c;
  const ScalarReg r = std::get<ScalarReg>(o);
  const auto [it, fresh] = scalars_.emplace(r.index, Value());
  if (fresh) {
    it->second = k_.arg("", host_.reg_type(r));
    note({program::Arg::kScalar, program::Arg::kRead, r, {}});
  }
  return it->second;
}

void Arguments::set(const Operand& o, const Value& value) {
  if (const auto* r = std::get_if<ScalarReg>(&o)) scalars_[r->index] = value;
}

Value Arguments::block(BlockReg b) {
  const auto [it, fresh] = blocks_.emplace(b.index, Value());
  if (fresh) {
    it->second = k_.block_arg("");
    note({program::Arg::kBlock, program::Arg::kReadWrite, {}, b});
  }
  return it->second;
}

Value Arguments::scalar(const HostScalar& s) {
  if (const auto* known = std::get_if<Operand>(&s.at)) return operand(*known);
  const auto& d = std::get<DeviceScalar>(s.at);
  const Value offset = k_.convert(operand(d.offset), PrimType::kU64);
  return k_.load(s.type, k_.add(block(d.block), offset), kir::i64(0));
}

KernelArray Arguments::array(const HostArray& a) {
  KernelArray k;
  k.elem = a.elem;
  k.kind = a.kind;
  for (const auto& d : a.layout.dims) k.layout.dims.push_back(operand(d));
  switch (a.kind) {
    case ArrayKind::kIota:
      k.start = operand(a.start);
      k.stride = operand(a.stride);
      return k;
    case ArrayKind::kReplicate: k.value = scalar(a.value); return k;
    case ArrayKind::kMemory: break;
  }
  k.layout.offset = operand(a.layout.offset);
  k.layout.dense = a.layout.dense;
  k.layout.unit = operand(a.layout.unit);
  for (const auto& s : a.layout.strides) k.layout.strides.push_back(operand(s));
  k.base = block(a.block);
  const auto [it, fresh] = block_memory_.emplace(a.block.index, memories_);
  if (fresh) memories_++;
  k.memory = it->second;
  imports_.emplace_back(k, a);
  return k;
}

std::optional<HostArray> Arguments::as_import(const KernelArray& a) const {
  for (const auto& [kernel, host] : imports_) {
    if (identical(kernel, a)) return host;
  }
  return std::nullopt;
}

std::vector<program::Arg> Arguments::finish(kir::Kernel& kernel,
                                            const std::map<size_t, program::Arg>& others) {
  std::vector<bool> used(kernel.vals.size());
  const auto use = [&](const Value& v) {
    if (!v.is_const()) used[v.id().index] = true;
  };
  kir::for_each_inst_of(kernel, [&](const kir::Inst& inst) {
    kir::visit_operands(inst.op, use);
    kir::visit_end_operands(inst.op, use);
  });
  for (const auto& f : kernel.functions) {
    for (const Value& r : f.results) use(r);
  }
  std::vector<kir::Arg> args;
  std::vector<program::Arg> sources;
  for (size_t n = 0; n < kernel.args.size(); n++) {
    kir::Arg& arg = kernel.args[n];
    if (!used[arg.val.index]) continue;
    const auto it = others.find(n);
    sources.push_back(it != others.end() ? it->second : sources_.at(n));
    if (arg.is_block) arg.name = host_.name_of(sources.back().block);
    // By place, so that equal kernels are equal texts.
    if (arg.name.empty()) arg.name = fmt::format("{}{}", arg.is_block ? "b" : "s", args.size());
    args.push_back(std::move(arg));
  }
  kernel.args = std::move(args);
  return sources;
}

}  // namespace kenaz::body
