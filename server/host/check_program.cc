#include "server/host/check_program.h"

#include <fmt/format.h>

namespace kenaz::host {

namespace {

using namespace program;

constexpr int kMaxNesting = 500;
constexpr int kMaxRegs = 1 << 24;

/// Checks one piece of host code against the sizes of its register files.
class CodeChecker {
 public:
  CodeChecker(const Program& program, int scalar_regs, int block_regs)
      : program_(program), scalar_regs_(scalar_regs), block_regs_(block_regs) {}

  Status check(const Code& code, int depth = 0) const {
    if (depth > kMaxNesting) return internal_error("host code is nested too deeply");
    for (const HostOp& op : code) {
      KENAZ_TRY(std::visit([&](const auto& o) { return op_ok(o, depth); }, op.op));
    }
    return {};
  }

  Status reg(ScalarReg r) const {
    if (static_cast<int64_t>(r.index) < scalar_regs_) return {};
    return internal_error(fmt::format("scalar register {} of {}", r.index, scalar_regs_));
  }
  Status reg(BlockReg r) const {
    if (static_cast<int64_t>(r.index) < block_regs_) return {};
    return internal_error(fmt::format("block register {} of {}", r.index, block_regs_));
  }
  static Status type(PrimType t) {
    if (static_cast<int>(t) < kPrimTypeCount) return {};
    return internal_error(fmt::format("primitive type {}", static_cast<int>(t)));
  }
  template <class Reg>
  Status regs(const std::vector<Reg>& list) const {
    for (const Reg r : list) KENAZ_TRY(reg(r));
    return {};
  }
  Status operand(const Operand& o) const {
    if (const auto* r = std::get_if<ScalarReg>(&o)) return reg(*r);
    return type(std::get<PrimValue>(o).type);
  }
  Status operands(const std::vector<Operand>& list) const {
    for (const Operand& o : list) KENAZ_TRY(operand(o));
    return {};
  }
  Status tuning(uint32_t param) const {
    if (param < program_.tuning.size()) return {};
    return internal_error(fmt::format("tuning parameter {} of {}", param, program_.tuning.size()));
  }

 private:
  Status op_ok(const OpScalar& o, int) const {
    KENAZ_TRY(reg(o.dst));
    KENAZ_TRY(type(o.type));
    KENAZ_TRY(type(o.to));
    if (scalar_op_name(o.op).empty() || !scalar_op_accepts(o.op, o.type) ||
        static_cast<int>(o.args.size()) != scalar_op_arity(o.op)) {
      return internal_error(
          fmt::format("scalar operation {} does not fit its operands", static_cast<int>(o.op)));
    }
    return operands(o.args);
  }
  Status op_ok(const OpMove& o, int) const {
    KENAZ_TRY(reg(o.dst));
    return operand(o.src);
  }
  Status op_ok(const OpAlloc& o, int) const {
    KENAZ_TRY(reg(o.dst));
    if (o.use > OpAlloc::kZeroes || o.number >= kMostZeroes) {
      return internal_error(fmt::format("use {} of a block, {}", int{o.use}, o.number));
    }
    return operand(o.bytes);
  }
  Status op_ok(const OpMoveBlock& o, int) const {
    KENAZ_TRY(reg(o.dst));
    return reg(o.src);
  }
  Status op_ok(const OpPart& o, int) const {
    KENAZ_TRY(reg(o.dst));
    KENAZ_TRY(reg(o.src));
    KENAZ_TRY(operand(o.offset));
    return operand(o.bytes);
  }
  Status op_ok(const OpRelease& o, int) const { return reg(o.block); }
  /// Whether they hang on scalar arguments of the launch.
  static Status check_turns(const Kernel& kernel, const OpLaunch& o) {
    for (const Term& term : kernel.turns) {
      for (const int n : term.factors) {
        const auto arg = static_cast<size_t>(n);
        if (n < kPerThread ||
            (n >= 0 && (arg >= o.args.size() || o.args[arg].kind != Arg::kScalar))) {
          return internal_error(fmt::format("turns by argument {}", n));
        }
      }
    }
    return {};
  }
  Status op_ok(const OpLaunch& o, int) const {
    KENAZ_TRY(operand(o.groups));
    if (o.kernel.index >= program_.kernels.size()) {
      return internal_error(
          fmt::format("kernel {} of {}", o.kernel.index, program_.kernels.size()));
    }
    const Kernel& kernel = program_.kernels[o.kernel.index];
    const int ordinary = slots_without_digits(kernel, o.args.size());
    if (kernel.slots != ordinary && kernel.slots != ordinary + kDigitSlots) {
      return internal_error(fmt::format("kernel {} takes {} slots; a launch has {}", kernel.name,
                                        kernel.slots, ordinary));
    }
    for (const Arg& arg : o.args) {
      KENAZ_TRY(arg.kind == Arg::kBlock ? reg(arg.block) : operand(arg.scalar));
    }
    return check_turns(kernel, o);
  }
  Status op_ok(const OpRead& o, int) const {
    KENAZ_TRY(reg(o.dst));
    KENAZ_TRY(reg(o.block));
    KENAZ_TRY(type(o.type));
    return operand(o.offset);
  }
  Status op_ok(const OpWrite& o, int) const {
    KENAZ_TRY(reg(o.block));
    KENAZ_TRY(type(o.type));
    KENAZ_TRY(operand(o.offset));
    return operands(o.values);
  }
  Status op_ok(const OpIf& o, int depth) const {
    KENAZ_TRY(operand(o.cond));
    KENAZ_TRY(check(o.then_code, depth + 1));
    return check(o.else_code, depth + 1);
  }
  Status op_ok(const OpWhile& o, int depth) const {
    KENAZ_TRY(operand(o.cond));
    KENAZ_TRY(check(o.head, depth + 1));
    return check(o.body, depth + 1);
  }
  Status op_ok(const OpTune& o, int) const {
    KENAZ_TRY(tuning(o.param));
    return reg(o.dst);
  }
  Status op_ok(const OpCompare& o, int) const {
    KENAZ_TRY(tuning(o.param));
    KENAZ_TRY(reg(o.dst));
    return operand(o.size);
  }
  Status op_ok(const OpAssert& o, int) const {
    KENAZ_TRY(operand(o.cond));
    for (const auto& part : o.message) {
      if (const auto* value = std::get_if<Operand>(&part)) KENAZ_TRY(operand(*value));
    }
    return {};
  }

  Status op_ok(const OpCall& o, int) const {
    if (o.function >= program_.functions.size()) {
      return internal_error(
          fmt::format("function {} of {}", o.function, program_.functions.size()));
    }
    const Function& f = program_.functions[o.function];
    if (o.scalars.size() != f.scalars.size() || o.blocks.size() != f.blocks.size() ||
        o.scalar_results.size() != f.scalar_results.size() ||
        o.block_results.size() != f.block_results.size()) {
      return internal_error(fmt::format("a call does not fit function {}", f.name));
    }
    KENAZ_TRY(operands(o.scalars));
    KENAZ_TRY(regs(o.blocks));
    KENAZ_TRY(regs(o.scalar_results));
    return regs(o.block_results);
  }

  const Program& program_;
  int64_t scalar_regs_, block_regs_;
};

Status check_leaf(const CodeChecker& code, const Leaf& leaf, bool param) {
  const auto slot = [&](const Operand& o) -> Status {
    if (param && !std::holds_alternative<ScalarReg>(o)) {
      return internal_error("a parameter's place is not a register");
    }
    return code.operand(o);
  };
  if (const auto* scalar = std::get_if<ScalarLeaf>(&leaf)) {
    KENAZ_TRY(code.type(scalar->type));
    return slot(scalar->value);
  }
  const auto& array = std::get<ArrayLeaf>(leaf);
  KENAZ_TRY(code.type(array.elem));
  KENAZ_TRY(code.reg(array.block));
  if (array.dims.empty()) return internal_error("an array leaf without dimensions");
  for (const Operand& dim : array.dims) KENAZ_TRY(code.operand(dim));
  return {};
}

/// Leaves must be what the type table says, since clients go by it.
Status check_leaves(const Program& program, const CodeChecker& code, const std::string& type,
                    const std::vector<Leaf>& leaves, bool param) {
  const auto found = program.types.find(type);
  if (found == program.types.end()) {
    return internal_error(fmt::format("type {} is not in the table", type));
  }
  const std::vector<LeafType>& expected = found->second.leaves;
  bool same = leaves.size() == expected.size();
  for (size_t i = 0; same && i < leaves.size(); ++i) {
    const LeafType& type = expected[i];
    if (const auto* scalar = std::get_if<ScalarLeaf>(&leaves[i])) {
      same = type.prim == scalar->type && type.rank == 0;
    } else {
      const auto& array = std::get<ArrayLeaf>(leaves[i]);
      same = type.prim == array.elem && type.rank == static_cast<int>(array.dims.size());
    }
  }
  if (!same) return internal_error(fmt::format("leaves do not fit type {}", type));
  for (const Leaf& leaf : leaves) KENAZ_TRY(check_leaf(code, leaf, param));
  return {};
}

Status check_register_files(int scalars, int blocks) {
  if (scalars >= 0 && scalars <= kMaxRegs && blocks >= 0 && blocks <= kMaxRegs) return {};
  return internal_error(fmt::format("register files of {} and {}", scalars, blocks));
}

Status check_entry(const Program& program, const Entry& entry) {
  KENAZ_TRY(check_register_files(entry.scalar_regs, entry.block_regs));
  if (entry.scalar_regs < program.constant_scalar_regs ||
      entry.block_regs < program.constant_block_regs) {
    return internal_error("fewer registers than the constants need");
  }
  const CodeChecker code(program, entry.scalar_regs, entry.block_regs);
  for (const Entry::Param& param : entry.params) {
    KENAZ_TRY(check_leaves(program, code, param.type, param.leaves, true));
  }
  for (const uint32_t param : entry.tuning) KENAZ_TRY(code.tuning(param));
  KENAZ_TRY(check_leaves(program, code, entry.result_type, entry.result, false));
  return code.check(entry.code);
}

Status check_function(const Program& program, const Function& f) {
  KENAZ_TRY(check_register_files(f.scalar_regs, f.block_regs));
  if (f.scalar_regs < program.constant_scalar_regs || f.block_regs < program.constant_block_regs) {
    return internal_error("fewer registers than the constants need");
  }
  const CodeChecker code(program, f.scalar_regs, f.block_regs);
  KENAZ_TRY(code.regs(f.scalars));
  KENAZ_TRY(code.regs(f.blocks));
  KENAZ_TRY(code.operands(f.scalar_results));
  KENAZ_TRY(code.regs(f.block_results));
  return code.check(f.code);
}

/// Of the kernel whose code `kernel` has.
Status check_code_of(const Program& program, const Kernel& kernel) {
  if (kernel.code_of.index >= static_cast<size_t>(&kernel - program.kernels.data())) {
    return internal_error(fmt::format("the code of kernel {}", kernel.code_of.index));
  }
  const Kernel& other = program.kernels[kernel.code_of.index];
  if (other.code_of.valid() || other.slots != kernel.slots ||
      other.skips_look != kernel.skips_look || other.says_end != kernel.says_end) {
    return internal_error("the code of a kernel that is another");
  }
  return {};
}

Status check_kernel(const Program& program, const Kernel& kernel) {
  const bool has_code = !kernel.glsl.empty() || !kernel.spirv.empty() || !kernel.kir.empty();
  if (has_code == kernel.code_of.valid()) {
    return internal_error(has_code ? "code of its own and of another" : "no code");
  }
  if (kernel.code_of.valid()) KENAZ_TRY(check_code_of(program, kernel));
  const Kernel& code = kernel.code_of.valid() ? program.kernels[kernel.code_of.index] : kernel;
  if (kernel.small_bytes != 0 && (code.glsl.empty() || !code.spirv.empty())) {
    return internal_error("a version for small launches, but no GLSL to make it from");
  }
  if (kernel.slots < 2 || kernel.slots > (1 << 12)) {
    return internal_error(fmt::format("{} slots", kernel.slots));
  }
  return {};
}

Status check_failure(const KernelFailure& failure) {
  if (failure.arg_types.size() > kMaxFailureArgs) return internal_error("too many arguments");
  for (PrimType t : failure.arg_types) KENAZ_TRY(CodeChecker::type(t));
  for (const auto& part : failure.message) {
    const auto* arg = std::get_if<int>(&part);
    if (arg && (*arg < 0 || *arg >= static_cast<int>(failure.arg_types.size()))) {
      return internal_error(fmt::format("argument {} of {}", *arg, failure.arg_types.size()));
    }
  }
  return {};
}

Status in(Status status, const std::string& place) {
  if (!status) status.error().context.push_back("in " + place);
  return status;
}

}  // namespace

Status check_program(const Program& program) {
  for (const Kernel& kernel : program.kernels) {
    KENAZ_TRY(in(check_kernel(program, kernel), "kernel " + kernel.name));
  }
  for (size_t i = 0; i < program.kernel_failures.size(); ++i) {
    KENAZ_TRY(in(check_failure(program.kernel_failures[i]), fmt::format("kernel failure {}", i)));
  }
  KENAZ_TRY(check_register_files(program.constant_scalar_regs, program.constant_block_regs));
  const CodeChecker constants(program, program.constant_scalar_regs, program.constant_block_regs);
  KENAZ_TRY(in(constants.check(program.constants), "the constants"));
  for (const Function& f : program.functions) {
    KENAZ_TRY(in(check_function(program, f), "function " + f.name));
  }
  for (const auto& [name, entry] : program.entries) {
    KENAZ_TRY(in(check_entry(program, entry), "entry point " + name));
  }
  return {};
}

}  // namespace kenaz::host
