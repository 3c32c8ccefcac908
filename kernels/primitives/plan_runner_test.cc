#include "kernels/primitives/plan_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "kernels/kir/needs.h"
#include "kernels/kir/validate.h"

namespace kenaz::primitives::testing {

using kir::Builder;
using kir::Value;
using kir::Values;

std::vector<Device> made_up_devices() {
  std::vector<Device> out;
  program::Target least;  // 128 threads, no subgroups
  least.threads = 64;
  out.push_back({"least", least, 1});
  program::Target cpu = least;  // as lavapipe
  cpu.subgroup_size = 8;
  cpu.subgroup_arithmetic = true;
  cpu.max_group_size = 1024;
  cpu.i64_atomics = cpu.shared_i64_atomics = true;
  cpu.max_turns = 4000;
  cpu.reads_ahead = true;
  cpu.f32_atomic_add = cpu.shared_f32_atomic_add = true;
  out.push_back({"cpu", cpu, 8});
  program::Target mobile = least;  // small subgroups, no 64-bit atomics
  mobile.subgroup_size = 4;
  mobile.subgroup_arithmetic = mobile.forward_progress = true;
  out.push_back({"mobile", mobile, 4});
  program::Target desktop = cpu;
  desktop.subgroup_size = 32;
  desktop.max_turns = 0;
  desktop.reads_ahead = false;
  desktop.shared_bytes = 49152;
  desktop.forward_progress = desktop.f64 = true;
  desktop.f64_atomic_add = desktop.shared_f64_atomic_add = true;
  out.push_back({"desktop", desktop, 32});
  program::Target fixed = desktop;
  fixed.fixed_subgroups = fixed.starts_in_order = true;
  out.push_back({"fixed", fixed, 32});
  program::Target wide = desktop;
  wide.subgroup_size = 64;
  wide.fixed_subgroups = true;
  wide.f32_atomic_add = wide.shared_f32_atomic_add = false;
  out.push_back({"wide", wide, 64});
  program::Target plain = desktop;  // proceeds, but has no subgroup arithmetic
  plain.subgroup_arithmetic = false;
  out.push_back({"plain", plain, 32});
  // The driver's subgroups may be smaller than the target says.
  out.push_back({"single", desktop, 1});
  return out;
}

namespace {

// What use_device has set.
struct Chosen {
  std::vector<Device> devices;
  Launch launch;
};
Chosen& chosen() {
  static Chosen c;
  return c;
}

bool interpret(const kir::Kernel& kernel, kir::Memory& memory, const std::vector<PrimValue>& args,
               int64_t groups, const kir::RunOptions& options) {
  const auto r = kir::run(kernel, memory, args, groups, options);
  EXPECT_TRUE(r) << kernel.name << ": " << r.error().text();
  return r && r->failure.has_value();
}

PrimValue sample_of(PrimType type, uint64_t random) {
  if (type == PrimType::kBool) return PrimValue::of_bool(random % 5 != 0);
  // Small whole numbers: sums of floats are exact in any order.
  if (is_float(type)) return PrimValue::of_float(type, static_cast<double>(random % 17) - 8);
  return PrimValue::of_int(type, static_cast<int64_t>(random));
}

TestOperator custom(std::string name, std::vector<PrimType> types, bool commutative, Values neutral,
                    std::function<Values(Builder&, const Values&, const Values&)> combine) {
  TestOperator t;
  t.name = std::move(name);
  t.facts.types = std::move(types);
  t.facts.commutative = commutative;
  t.facts.known.assign(t.facts.types.size(), nullptr);
  t.make = [facts = t.facts, neutral = std::move(neutral), combine = std::move(combine)](Builder&) {
    return plan::Operator{facts, neutral, combine};
  };
  t.sample = [types = t.facts.types](size_t n, uint64_t r) { return sample_of(types[n], r); };
  return t;
}

}  // namespace

void use_device(const Device& device, Launch launch) { chosen() = {{device}, std::move(launch)}; }

TestOperator known_test_operator(ScalarOp op, PrimType type) {
  const op::Known* row = op::known(op, type);
  TestOperator t;
  t.name = fmt::format("{} {}", scalar_op_name(op), prim_name(type));
  t.facts = plan::known_operator(*row, type).facts;
  t.make = [row, type](Builder&) { return plan::known_operator(*row, type); };
  t.sample = [type, nans = is_float(type) && op != ScalarOp::kAdd](size_t, uint64_t r) {
    if (nans && r % 7 == 0) return PrimValue::of_float(type, __builtin_nan(""));
    return sample_of(type, r);
  };
  return t;
}

TestOperator affine_maps() {
  // x -> a x + b, then the other
  return custom("affine", {PrimType::kI32, PrimType::kI32}, false, {kir::i32(1), kir::i32(0)},
                [](Builder& k, const Values& a, const Values& b) {
                  return Values{k.mul(a[0], b[0]), k.add(k.mul(a[1], b[0]), b[1])};
                });
}

TestOperator matrices() {
  const auto word = [](uint32_t n) { return Value(PrimValue{PrimType::kU32, n}); };
  return custom(
      "matrix", std::vector(4, PrimType::kU32), false, {word(1), word(0), word(0), word(1)},
      [](Builder& k, const Values& a, const Values& b) {
        Values r;
        for (const size_t row : {0, 2}) {
          for (const size_t column : {0, 1}) {
            r.push_back(k.add(k.mul(a[row], b[column]), k.mul(a[row + 1], b[column + 2])));
          }
        }
        return r;
      });
}

TestOperator tuples() {
  const auto parts = [] {
    return std::vector{
        plan::known_operator(*op::known(ScalarOp::kAdd, PrimType::kI64), PrimType::kI64),
        plan::known_operator(*op::known(ScalarOp::kAnd, PrimType::kBool), PrimType::kBool),
        plan::known_operator(*op::known(ScalarOp::kMin, PrimType::kU8), PrimType::kU8)};
  };
  TestOperator t;
  t.name = "tuple";
  t.facts = plan::join(parts()).facts;
  t.make = [parts](Builder&) { return plan::join(parts()); };
  t.sample = [types = t.facts.types](size_t n, uint64_t r) { return sample_of(types[n], r); };
  return t;
}

std::vector<TestOperator> test_operators() {
  return {known_test_operator(ScalarOp::kAdd, PrimType::kI32),
          known_test_operator(ScalarOp::kAdd, PrimType::kI64),
          known_test_operator(ScalarOp::kAdd, PrimType::kF32),
          known_test_operator(ScalarOp::kMin, PrimType::kF32),
          known_test_operator(ScalarOp::kAdd, PrimType::kU8),
          known_test_operator(ScalarOp::kMax, PrimType::kI16),
          known_test_operator(ScalarOp::kXor, PrimType::kBool),
          affine_maps(),
          matrices(),
          tuples()};
}

std::vector<PrimValue> combine_on_host(const TestOperator& op, const std::vector<PrimValue>& a,
                                       const std::vector<PrimValue>& b) {
  // The builder folds constants, so the operator's code is its own oracle.
  kir::Kernel kernel;
  Builder k(kernel);
  const Values r = op.make(k).combine(k, Values(a.begin(), a.end()), Values(b.begin(), b.end()));
  std::vector<PrimValue> out;
  for (const Value& v : r) out.push_back(v.constant());
  return out;
}

std::vector<PrimValue> neutral_on_host(const TestOperator& op) {
  kir::Kernel kernel;
  Builder k(kernel);
  std::vector<PrimValue> out;
  for (const Value& v : op.make(k).neutral) out.push_back(v.constant());
  return out;
}

Rows random_rows(const TestOperator& op, int64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  Rows rows;
  for (int64_t i = 0; i < count; i++) {
    rows.emplace_back();
    for (size_t n = 0; n < op.facts.types.size(); n++) {
      rows.back().push_back(op.sample(n, random()));
    }
  }
  return rows;
}

Value Matrix::index(Builder& k, const plan::Place& at) const {
  return across ? k.add(k.mul(at.position, segments), at.segment)
                : k.add(k.mul(at.segment, length), at.position);
}

std::string Matrix::text() const {
  return fmt::format("{} x {}{}, widest {}", segments, length, across ? " across" : "", widest);
}

plan::Facts Matrix::facts(const std::string& name) const {
  plan::Facts f;
  f.name = name;
  f.segments = segments == 1 && !asked ? plan::HostExpr(1) : plan::HostExpr::size(0);
  f.length = plan::HostExpr::size(1);
  f.across = across;
  f.fails = !completes();
  f.widest = widest;
  f.items = 2 * widest;
  f.group_size = 64;
  if (columns > 0) f.grid = {rows, columns, rows > 1, true};
  return f;
}

plan::Elements Matrix::load(std::vector<PrimType> types, Values from) const {
  plan::Elements e;
  e.at = [m = *this, types, from](Builder& k, const plan::Place& at) {
    if (m.fails) {
      const Value here = k.eq(m.index(k, at), m.index(k, *m.fails));
      k.if_(here, [&] { k.fail(0, {}); });
    }
    Values x;
    for (size_t n = 0; n < from.size(); n++) {
      x.push_back(k.load(types[n], from[n], m.index(k, at)));
    }
    return x;
  };
  e.ahead.bases = [from] { return from; };
  e.ahead.element = [](Builder&, const Value&, const Values& read) { return read; };
  if (widest == 1) return e;
  e.many = [m = *this, types, from](Builder& k, const plan::Place& first, int n) {
    std::vector<Values> rows(static_cast<size_t>(n));
    for (size_t j = 0; j < from.size(); j++) {
      const kir::Type type{types[j], static_cast<uint8_t>(n)};
      const Value v = k.load(type, {from[j], m.index(k, first)});
      for (int i = 0; i < n; i++) rows[static_cast<size_t>(i)].push_back(k.extract(v, i));
    }
    return rows;
  };
  return e;
}

plan::Sink Matrix::store(Values to) const {
  plan::Sink sink;
  sink.put = [m = *this, to](Builder& k, const plan::Place& at, const Values& x) {
    for (size_t n = 0; n < to.size(); n++) k.store(to[n], m.index(k, at), x[n]);
  };
  sink.bases = to;
  if (widest == 1) return sink;
  sink.put_many = [m = *this, to](Builder& k, const plan::Place& first,
                                  const std::vector<Values>& rows) {
    for (size_t n = 0; n < to.size(); n++) {
      Values lanes;
      for (const Values& row : rows) lanes.push_back(row[n]);
      k.store(to[n], m.index(k, first), k.compose(lanes));
    }
  };
  return sink;
}

uint64_t Session::upload(const Rows& rows, size_t scalar, PrimType type) {
  std::vector<std::byte> bytes(rows.size() * static_cast<size_t>(prim_size(type)));
  for (size_t i = 0; i < rows.size(); i++) {
    std::memcpy(&bytes[i * static_cast<size_t>(prim_size(type))], &rows[i][scalar].bits,
                static_cast<size_t>(prim_size(type)));
  }
  return memory.allocate(bytes);
}

uint64_t Session::reserve(int64_t count, PrimType type) {
  return memory.allocate(static_cast<size_t>(count * prim_size(type)));
}

std::vector<PrimValue> Session::download_at(uint64_t block, uint64_t first, int64_t count,
                                            PrimType type) const {
  const auto size = static_cast<size_t>(prim_size(type));
  EXPECT_TRUE(memory.defined(first, static_cast<size_t>(count) * size));
  std::vector<PrimValue> out;
  const auto bytes = memory.bytes(block).subspan(first - block);
  for (size_t i = 0; i < static_cast<size_t>(count); i++) {
    PrimValue v{type, 0};
    std::memcpy(&v.bits, &bytes[i * size], size);
    out.push_back(v);
  }
  return out;
}

Values Session::blocks(Builder& k, const std::vector<uint64_t>& addresses) {
  Values out;
  for (const uint64_t a : addresses) {
    args_.back().push_back({PrimType::kU64, a});
    out.push_back(k.block_arg("caller"));
  }
  return out;
}

bool Session::run(const plan::Work& work, const std::vector<int64_t>& sizes, const Matrix& matrix,
                  const Device& device, const Options& options) {
  std::vector<int64_t> specs;
  for (const auto& s : work.specs) specs.push_back(s.fallback);
  if (options.group_size > 0) specs[0] = options.group_size;
  if (specs.size() > 1) specs[1] = std::min(specs[1], specs[0]);
  std::vector<uint64_t> blocks;
  std::vector<size_t> lengths;
  for (const auto& s : work.scratch) {
    lengths.push_back(static_cast<size_t>(s.bytes.evaluate(sizes, specs)));
    blocks.push_back(s.zero ? memory.allocate(std::vector<std::byte>(lengths.back()))
                            : memory.allocate(lengths.back()));
  }
  kir::RunOptions run_options;
  run_options.subgroup_size = device.lanes;
  run_options.seed = options.seed;
  run_options.concurrent_groups = options.concurrent_groups;
  run_options.starts_in_order = device.target.starts_in_order;
  run_options.max_steps = 20'000'000;
  // Who waits for a thread that has failed is stopped, too.
  run_options.stop_after = matrix.fails ? 5'000'000 : matrix.stop_after;
  for (const int64_t s : specs) run_options.specs.push_back(PrimValue::i32(static_cast<int>(s)));
  for (size_t n = 0; n < work.steps.size(); n++) {
    const plan::Step& step = work.steps[n];
    const auto valid = kir::validate(step.kernel);
    EXPECT_TRUE(valid) << step.kernel.name << ": " << valid.error().text();
    if (!valid) return false;
    EXPECT_EQ(kir::unmet(kir::needs_of(step.kernel, run_options.specs), device.target),
              std::nullopt);
    std::vector<PrimValue> args(step.kernel.args.size());
    size_t callers = 0, of_plan = 0;
    for (size_t a = 0; a < args.size(); a++) {
      if (of_plan == step.args.size() || step.args[of_plan].arg != a) {
        args[a] = args_[n][callers++];
        continue;
      }
      const auto& value = step.args[of_plan++].value;
      if (const auto* e = std::get_if<plan::HostExpr>(&value)) {
        args[a] = PrimValue::i64(e->evaluate(sizes, specs));
      } else {
        const auto id = static_cast<size_t>(std::get<plan::ScratchId>(value).number);
        args[a] = {PrimType::kU64, blocks[id]};
      }
    }
    const int64_t groups = step.groups.evaluate(sizes, specs);
    EXPECT_GE(groups, 0);
    if (groups == 0) continue;
    for (size_t b = 0; b < blocks.size() && options.clears; b++) {
      if (work.scratch[b].zero) memory.write(blocks[b], std::vector<std::byte>(lengths[b]));
    }
    const Launch launch = chosen().launch ? chosen().launch : interpret;
    const bool failed = launch(step.kernel, memory, args, groups, run_options);
    if (failed || ::testing::Test::HasFailure()) return failed;
    if (matrix.stop_after >= 0) run_options.stop_after = 0;  // the host has stopped the call
  }
  for (size_t s = 0; s < blocks.size() && matrix.completes(); s++) {
    if (!work.scratch[s].zero) continue;
    for (const std::byte b : memory.bytes(blocks[s])) EXPECT_EQ(b, std::byte{0}) << "scratch " << s;
  }
  return false;
}

std::vector<Trial> trials(std::span<const plan::Plan> table, const plan::Facts& facts) {
  std::vector<Trial> out;
  uint64_t seed = 0;
  const bool interpreted = chosen().devices.empty();
  for (const Device& d : interpreted ? made_up_devices() : chosen().devices) {
    for (const plan::Plan& p : table) {
      if (!p.applies(facts, d.target)) continue;
      const int least = std::max(d.target.subgroup_size, 4);
      // One thread after the other in one workgroup after the other, then interleaved.
      out.push_back({&p, d, {least, 0, 1}});
      if (!interpreted) continue;
      out.push_back({&p, d, {2 * least, ++seed, 3, true}});
      out.push_back({&p, d, {3 * least, ++seed, 2}});
    }
  }
  return out;
}

bool is_right(const plan::Plan& plan, const Matrix& m) {
  constexpr int64_t kLargestTile = 64;           // of those for the items that facts() says
  constexpr int64_t kSide = 8, kPositions = 32;  // of a block of ahead_tiles
  if (plan.name == std::string("one")) return m.segments == 1;
  if (plan.name == std::string("ahead_tiles")) {
    return m.rows * m.columns == m.segments && std::min(m.rows, m.columns) >= kSide &&
           m.length >= kPositions;
  }
  return plan.name != std::string("ahead") || m.length >= kLargestTile;
}

}  // namespace kenaz::primitives::testing
