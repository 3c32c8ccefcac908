#include "kernels/body/testing.h"

#include <fmt/format.h>

#include <cstring>

#include "kernels/ir/parse.h"
#include "kernels/ir/validate.h"
#include "kernels/kir/passes/passes.h"
#include "kernels/kir/print.h"
#include "kernels/kir/validate.h"
#include "protocol/base/check.h"

namespace kenaz::body {

// ---- TestHost

PrimValue TestHost::value_of(const Operand& o) const {
  if (const auto* c = std::get_if<PrimValue>(&o)) return *c;
  return registers[std::get<ScalarReg>(o).index];
}

Operand TestHost::register_of(PrimValue v) {
  registers.push_back(v);
  return ScalarReg{static_cast<uint32_t>(registers.size() - 1)};
}

ScalarReg TestHost::new_scalar(PrimType t) { return std::get<ScalarReg>(register_of({t, 0})); }

BlockReg TestHost::new_block() {
  blocks.push_back(0);
  return BlockReg{static_cast<uint32_t>(blocks.size() - 1)};
}

Operand TestHost::scalar(const ir::Atom& a) {
  if (a.is_const()) return a.constant();
  return std::get<Operand>(std::get<HostScalar>(value(a.var())).at);
}

Operand TestHost::emit_op(ScalarOp op, PrimType type, PrimType to, std::vector<Operand> args) {
  std::vector<PrimValue> values;
  bool constant = true;
  for (const auto& a : args) {
    values.push_back(value_of(a));
    constant &= std::holds_alternative<PrimValue>(a);
  }
  const PrimValue result = eval_scalar(op, type, to, values);
  return constant ? Operand(result) : register_of(result);
}

int TestHost::add_failure(program::KernelFailure f) {
  failures.push_back(std::move(f));
  return static_cast<int>(failures.size()) - 1;
}

// ---- BodyTest

namespace {

ir::Program parsed(const std::string& text) {
  auto program = ir::parse(text);
  if (!program) UNREACHABLE(program.error().text().c_str());
  if (const auto valid = ir::validate(*program); !valid) UNREACHABLE(valid.error().text().c_str());
  return std::move(*program);
}

ir::eval::Evaluator evaluator_of(const ir::Program& program) {
  auto evaluator = ir::eval::Evaluator::make(program);
  CHECK(evaluator.has_value());
  return std::move(*evaluator);
}

int64_t elements_of(const std::vector<int64_t>& shape) {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return n;
}

std::vector<Operand> constants(const std::vector<int64_t>& dims) {
  std::vector<Operand> out;
  for (int64_t d : dims) out.emplace_back(PrimValue::i64(d));
  return out;
}

/// Dense, at the start of its block.
HostArray dense(PrimType elem, BlockReg block, std::vector<Operand> dims) {
  HostArray a;
  a.elem = elem;
  a.block = block;
  a.layout.dims = std::move(dims);
  a.layout.offset = PrimValue::i64(0);
  a.layout.unit = PrimValue::i64(1);
  return a;
}

}  // namespace

BodyTest::BodyTest(const std::string& text)
    : host(parsed(text)), evaluator_(evaluator_of(host.ir())) {}

void BodyTest::array(const std::vector<int64_t>& shape, const std::vector<int64_t>& elements) {
  CHECK(elements_of(shape) == static_cast<int64_t>(elements.size()));
  auto a = evaluator_.allocate(PrimType::kI64, shape);
  CHECK(a.has_value());
  std::memcpy(a->buffer->data.get(), elements.data(), elements.size() * sizeof(int64_t));
  ir::Type type{PrimType::kI64, std::vector<ir::Atom>(shape.size())};
  args_.push_back({std::move(type), 0, std::move(*a)});
}

BlockReg BodyTest::block_of(size_t bytes, const std::byte* data) {
  const BlockReg b = host.new_block();
  host.blocks[b.index] =
      data == nullptr ? memory_.allocate(bytes) : memory_.allocate(std::span(data, bytes));
  return b;
}

void BodyTest::bind_arguments() {
  for (size_t k = 0; k < args_.size(); k++) {
    const ir::eval::Value& v = args_[k];
    const ir::VarId param = function().params[k + 1];
    if (v.type.is_scalar()) {
      const PrimType t = v.type.prim;
      host.bind(param, HostScalar{t, host.register_of({t, v.bits})});
    }
  }
  for (size_t k = 0; k < args_.size(); k++) {
    const ir::eval::Value& v = args_[k];
    if (v.type.is_scalar()) continue;
    const ir::VarId param = function().params[k + 1];
    std::vector<Operand> dims;
    for (size_t d = 0; d < v.array.shape.size(); d++) {
      const ir::Atom& size = host.ir().type_of(param).dims[d];
      if (!size.is_const() && !host.is_bound(size.var())) {
        const Operand n = host.register_of(PrimValue::i64(v.array.shape[d]));
        host.bind(size.var(), HostScalar{PrimType::kI64, n});
      }
      dims.push_back(host.scalar(size));
    }
    const auto bytes = static_cast<size_t>(elements_of(v.array.shape)) * sizeof(int64_t);
    host.bind(param, dense(v.type.prim, block_of(bytes, v.array.buffer->data.get()), dims));
  }
}

HostArray BodyTest::room_for(const ir::eval::Value& result) {
  std::vector<int64_t> dims = result.array.shape;
  if (result.type.is_scalar()) dims.clear();
  dims.insert(dims.begin(), width);
  const PrimType t = result.type.prim;
  const auto bytes = static_cast<size_t>(elements_of(dims) * prim_size(t));
  return dense(t, block_of(bytes, nullptr), constants(dims));
}

void BodyTest::build(Thread& t, const std::vector<HostArray>& out) {
  const auto elem = body::function(t, "elem", {{PrimType::kI64}}, [&](const kir::Values& args) {
    t.env.bind_param(function().params[0], args[0]);
    std::vector<KernelArray> rows;
    std::vector<std::optional<KernelArray>> dests;
    for (const HostArray& a : out) {
      rows.push_back(row_place(t, t.args.array(a), args[0]));
      dests.push_back(rows.back().layout.dims.empty() ? std::nullopt : std::optional(rows.back()));
    }
    const auto results = translate(t, function().body, dests);
    for (size_t k = 0; k < rows.size() && !host.failed(); k++) place(t, results[k], rows[k]);
    return kir::Values{};
  });
  const kir::Value n = t.args.operand(PrimValue::i64(width));
  t.k.for_(t.k.global(), n, t.k.threads(), [&](const kir::Value& i) { t.k.call(elem, {i}); });
}

std::string BodyTest::run(Thread& t) {
  constexpr int kGroupSize = 4, kGroups = 2;
  const int group_size = single_thread ? 1 : kGroupSize, groups = single_thread ? 1 : kGroups;
  const auto threads = static_cast<size_t>(group_size * groups);
  const auto allocate = [&](BlockReg b, size_t bytes) {
    host.blocks[b.index] = memory_.allocate(bytes);
  };
  if (t.private_memory.used()) {
    const auto bytes = static_cast<size_t>(host.value_of(t.private_memory.bytes).as_i64());
    allocate(t.private_memory.block, bytes * threads);
  }
  if (t.heap.used()) {
    host.registers[t.heap.capacity().index] = PrimValue::i64(heap_bytes);
    allocate(t.heap.block(), static_cast<size_t>(heap_bytes) * threads);
    const uint32_t none = 0;
    const auto zero = std::as_bytes(std::span(&none, 1));
    host.blocks[t.heap.flag().index] = memory_.allocate(zero);
  }
  t.kernel.group_size = {group_size};
  if (const Status valid = kir::validate(t.kernel); !valid) return valid.error().text();
  kir::optimise(t.kernel);
  std::vector<PrimValue> args;
  for (const program::Arg& a : t.args.finish(t.kernel)) {
    if (a.kind == program::Arg::kScalar) {
      args.push_back(host.value_of(a.scalar));
    } else {
      args.push_back({PrimType::kU64, host.blocks[a.block.index]});
    }
  }
  arguments = args.size();
  kernel_ = t.kernel;
  if (const Status valid = kir::validate(t.kernel); !valid) return valid.error().text();
  kir::RunOptions options;
  options.seed = 7;
  const auto result = kir::run(t.kernel, memory_, args, groups, options);
  if (!result) return result.error().text();
  failure = result->failure;
  if (t.heap.used()) {
    heap_was_too_small = memory_.bytes(host.blocks[t.heap.flag().index])[0] != std::byte{0};
  }
  return "";
}

std::string BodyTest::compare(const std::vector<Row>& rows, const std::vector<HostArray>& out) {
  for (size_t i = 0; i < rows.size(); i++) {
    for (size_t k = 0; k < out.size(); k++) {
      const ir::eval::Value& v = rows[i][k];
      const bool scalar = v.type.is_scalar();
      const int64_t n = (scalar ? 1 : elements_of(v.array.shape)) * prim_size(v.type.prim);
      const auto* bits = reinterpret_cast<const std::byte*>(&v.bits);
      const auto* want =
          scalar ? bits : v.array.buffer->data.get() + v.array.offset * prim_size(v.type.prim);
      const auto got = memory_.bytes(host.blocks[out[k].block.index]);
      if (std::memcmp(want, got.data() + static_cast<int64_t>(i) * n, static_cast<size_t>(n))) {
        return fmt::format("result {} of element {} differs", k, i);
      }
    }
  }
  return "";
}

std::string BodyTest::difference() {
  std::vector<Row> rows;
  std::string error;
  for (int64_t i = 0; i < width && error.empty(); i++) {
    Row args = args_;
    args.insert(args.begin(), {{PrimType::kI64, {}}, static_cast<uint64_t>(i), {}});
    auto row = evaluator_.call(ir::FunId{0}, std::move(args));
    if (row) {
      rows.push_back(std::move(*row));
    } else {
      error = row.error().message;
    }
  }
  for (const int64_t bytes : {8192, 64, 0}) {
    host.bytes_of_local_arrays = bytes;
    host.failures.clear();
    if (std::string wrong = difference_from(rows, error); !wrong.empty()) {
      return fmt::format("with {} B for local arrays: {}", bytes, wrong);
    }
  }
  return "";
}

std::string BodyTest::difference_from(const std::vector<Row>& rows, const std::string& error) {
  bind_arguments();
  std::vector<HostArray> out;
  for (const auto& v : rows.at(0)) out.push_back(room_for(v));
  Thread t(host, "test", {}, single_thread);
  build(t, out);
  if (host.failed()) return "refused: " + host.refused;
  uses_private_memory = t.private_memory.used();
  uses_heap = t.heap.used();
  local_arrays = std::max(local_arrays, t.kernel.locals.size());
  spills = spills || (t.private_memory.used() && host.bytes_of_local_arrays == 8192);
  if (std::string wrong = run(t); !wrong.empty()) return wrong;
  if (failure.has_value() == error.empty()) return "one of them fails: " + error;
  if (failure || heap_was_too_small) return "";
  return compare(rows, out);
}

std::string BodyTest::text() const { return kir::print(kernel_); }

}  // namespace kenaz::body
