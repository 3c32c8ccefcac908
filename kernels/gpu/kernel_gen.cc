#include "kernels/gpu/kernel_gen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "kernels/glsl/scalar.h"
#include "kernels/glsl/types.h"
#include "protocol/base/check.h"
#include "protocol/base/overloaded.h"

namespace kenaz::gpu {
namespace {

constexpr int kElementsWorkgroup = 128;
// Private memory of a launch; more threads than fit work in turns.
constexpr int64_t kPrivateBudget = int64_t{256} << 20;

// Longer expressions get a variable of their own.
constexpr size_t kLongExpression = 60;

// A thread that has failed, or is to stop, goes on to its end with `going` false: its loops end,
// and it touches no memory any more. It does not return, because a return in the middle makes
// everything behind it a branch, a level deeper for each check, and llvmpipe silently ignores
// conditions that are nested more than 80 deep.
constexpr const char* kGoing = "bool going = true;\n";
constexpr const char* kAlwaysGoing = "const bool going = true;\n";
// Every so many turns of its loops a thread looks whether the call has failed elsewhere, or is to
// stop (program.h). The constant is false for drivers that end long loops themselves.
constexpr const char* kLoopsLook = "layout(constant_id = 0) const bool loops_look = true;\n";
constexpr const char* kStopping =
    "uint turns = 0u;\n"
    "bool stopped() { return Stop(fr).v != 0u; }\n"
    "void turn() {\n"
    "  if (loops_look && (++turns & 4095u) == 0u) {\n"
    "    if (stopped()) going = false;\n"
    "  }\n"
    "}\n";

// The conditions and loops of `main` around an element's code, at most.
constexpr int kNestingOfMain = 5;

bool has_loop(const std::string& glsl) {
  return glsl.find("for (") != std::string::npos || glsl.find("while (") != std::string::npos;
}

}  // namespace

KernelGen::KernelGen(HostGen& host, std::string name, bool single_thread)
    : host_(host),
      name_(std::move(name)),
      single_thread_(single_thread),
      private_bytes_(host.size(0)) {}

// ---- text

void KernelGen::line(const std::string& text) {
  max_indent_ = std::max(max_indent_, indent_);
  out_->append(static_cast<size_t>(2 * indent_), ' ');
  *out_ += text;
  *out_ += '\n';
}
void KernelGen::open(const std::string& text) {
  line(text);
  indent_++;
}
void KernelGen::close(const std::string& text) {
  indent_--;
  line(text);
}
std::string KernelGen::fresh_name() { return fmt::format("t{}", names_++); }

Expr KernelGen::local(PrimType t, const std::string& value) {
  std::string name = fresh_name();
  line(fmt::format("{} {} = {};", glsl::glsl_type(t), name, value));
  return {t, std::move(name), {}};
}
Expr KernelGen::variable(PrimType t) {
  std::string name = fresh_name();
  line(fmt::format("{} {};", glsl::glsl_type(t), name));
  return {t, std::move(name), {}};
}
void KernelGen::begin_function(const std::string& head) {
  CHECK(indent_ == 0);
  open(head + " {");
  function_mark_ = heap_mark();
}
void KernelGen::end_function() {
  heap_reset(function_mark_);
  close();
  CHECK(indent_ == 0);
}

// ---- arithmetic

Expr KernelGen::constant(const PrimValue& v) const { return {v.type, glsl::literal(v), v}; }
Expr KernelGen::konst(int64_t n) const { return constant(PrimValue::i64(n)); }

std::optional<int64_t> KernelGen::as_const(const Expr& a) const {
  if (!a.constant || a.constant->type != PrimType::kI64) return std::nullopt;
  return a.constant->as_i64();
}

Expr KernelGen::add(const Expr& a, const Expr& b) {
  const auto ca = as_const(a), cb = as_const(b);
  if (ca && cb) return konst(static_cast<int64_t>(static_cast<uint64_t>(*ca) + *cb));
  if (ca && *ca == 0) return b;
  if (cb && *cb == 0) return a;
  std::string text = fmt::format("({} + {})", a.text, b.text);
  if (text.size() > kLongExpression) return local(PrimType::kI64, text);
  return {PrimType::kI64, std::move(text), {}};
}
Expr KernelGen::mul(const Expr& a, const Expr& b) {
  const auto ca = as_const(a), cb = as_const(b);
  if (ca && cb) return konst(static_cast<int64_t>(static_cast<uint64_t>(*ca) * *cb));
  if ((ca && *ca == 0) || (cb && *cb == 0)) return konst(0);
  if (ca && *ca == 1) return b;
  if (cb && *cb == 1) return a;
  std::string text = fmt::format("({} * {})", a.text, b.text);
  if (text.size() > kLongExpression) return local(PrimType::kI64, text);
  return {PrimType::kI64, std::move(text), {}};
}

Expr KernelGen::op(ScalarOp op, PrimType type, PrimType to, const std::vector<Expr>& args) {
  const PrimType result = scalar_op_result(op, type, to);
  std::vector<std::string> texts;
  std::vector<PrimValue> constants;
  for (const auto& a : args) {
    texts.push_back(a.text);
    if (a.constant) constants.push_back(*a.constant);
  }
  if (constants.size() == args.size()) return constant(eval_scalar(op, type, to, constants));
  return local(result, glsl::scalar_op(library_, op, type, to, texts));
}

// ---- arguments

// A host value stands in the text as $KINDnumber$ until the kernel is finished: only then is it
// known which of them the text mentions.
std::string KernelGen::block(BlockReg b) { return fmt::format("$b{}$", b.index); }

Expr KernelGen::import_operand(const Operand& o) {
  if (const auto* c = std::get_if<PrimValue>(&o)) return constant(*c);
  const ScalarReg r = std::get<ScalarReg>(o);
  return {host_.reg_type(r), fmt::format("$s{}$", r.index), {}};
}

Expr KernelGen::import_scalar(const HostScalar& s) {
  if (const auto* known = std::get_if<Operand>(&s.at)) return import_operand(*known);
  const auto& d = std::get<DeviceScalar>(s.at);
  const Expr offset = import_operand(d.offset);
  return local(s.type,
               glsl::load(s.type, fmt::format("{} + uint64_t({})", block(d.block), offset.text)));
}

std::string KernelGen::host_value_text(const ir::Atom& a) {
  const auto& s = std::get<HostScalar>(host_.value(a.var()));
  if (const auto* known = std::get_if<Operand>(&s.at)) return import_operand(*known).text;
  const auto& d = std::get<DeviceScalar>(s.at);
  return glsl::load(
      s.type, fmt::format("{} + uint64_t({})", block(d.block), import_operand(d.offset).text));
}

KernelArray KernelGen::import_array(const HostArray& a) {
  KernelArray k;
  k.elem = a.elem;
  k.kind = a.kind;
  for (const auto& d : a.layout.dims) k.layout.dims.push_back(import_operand(d));
  switch (a.kind) {
    case ArrayKind::kIota:
      k.start = import_operand(a.start);
      k.stride = import_operand(a.stride);
      return k;
    case ArrayKind::kReplicate: k.value = import_scalar(a.value); return k;
    case ArrayKind::kMemory: break;
  }
  k.layout.offset = import_operand(a.layout.offset);
  k.layout.dense = a.layout.dense;
  k.layout.unit = import_operand(a.layout.unit);
  for (const auto& s : a.layout.strides) k.layout.strides.push_back(import_operand(s));
  k.base = block(a.block);
  auto [it, fresh] = block_memory_.emplace(a.block.index, memories_);
  if (fresh) memories_++;
  k.memory = it->second;
  imports_.emplace_back(k, a);
  return k;
}

std::optional<HostArray> KernelGen::as_import(const KernelArray& a) const {
  for (const auto& [kernel, host] : imports_) {
    if (identical(kernel, a)) return host;
  }
  return std::nullopt;
}

// ---- memory

std::string KernelGen::address(const KernelArray& a, const Expr& element) const {
  const int size = prim_size(a.elem);
  if (const auto c = as_const(element)) {
    if (*c == 0) return a.base;
    return fmt::format("{} + {}ul", a.base, static_cast<uint64_t>(*c) * size);
  }
  if (size == 1) return fmt::format("{} + uint64_t({})", a.base, element.text);
  return fmt::format("{} + uint64_t({}) * {}ul", a.base, element.text, size);
}

Expr KernelGen::load(const KernelArray& a, const Expr& element) {
  const std::string value = glsl::load(a.elem, address(a, element));
  if (!may_have_failed_) return local(a.elem, value);
  const Expr v = local(a.elem, glsl::literal({a.elem, 0}));
  line(fmt::format("if (going) {} = {};", v.text, value));
  return v;
}
void KernelGen::store(const KernelArray& a, const Expr& element, const Expr& value) {
  if (a.memory == kUnknownMemory) {
    writes_unknown_ = true;
  } else {
    written_.insert(a.memory);
  }
  line(fmt::format("{}{}", may_have_failed_ ? "if (going) " : "",
                   glsl::store(a.elem, address(a, element), value.text)));
}

bool KernelGen::identical(const KernelArray& a, const KernelArray& b) const {
  if (a.kind != ArrayKind::kMemory || b.kind != ArrayKind::kMemory) return false;
  if (a.base != b.base || a.elem != b.elem) return false;
  const auto &x = a.layout, &y = b.layout;
  if (x.offset.text != y.offset.text || x.dense != y.dense || x.dims.size() != y.dims.size()) {
    return false;
  }
  if (x.dense) {
    for (size_t k = 1; k < x.dims.size(); k++) {
      if (x.dims[k].text != y.dims[k].text) return false;
    }
    return x.unit.text == y.unit.text;
  }
  for (size_t k = 0; k < x.strides.size(); k++) {
    if (x.strides[k].text != y.strides[k].text) return false;
  }
  return true;
}

KernelArray KernelGen::allocate(PrimType elem, const std::vector<ir::Atom>& dims) {
  KernelArray a;
  a.elem = elem;
  a.memory = memories_++;
  HostSize bytes = host_.size(prim_size(elem));
  for (const auto& d : dims) {
    const auto n = on_host(d);
    if (!n) return allocate_on_heap(elem, dims);
    bytes = host_.times(bytes, host_.size(*n));
  }
  const Expr before = import_operand(private_bytes_.operand());
  LayoutMath math(*this);
  if (single_thread_) {
    a.base = fmt::format("(pm + uint64_t({}))", before.text);
    a.layout = math.dense(exprs(dims));
  } else {
    a.base = fmt::format("(pm + uint64_t({} * threads))", before.text);
    a.layout =
        math.dense(exprs(dims), {PrimType::kI64, "gid", {}}, {PrimType::kI64, "threads", {}});
  }
  private_bytes_ = host_.plus(private_bytes_, host_.round_up(bytes, 8));
  uses_private_ = true;
  return a;
}

// ---- launch

namespace {

/// Lines that only keep the heap's height start with this.
constexpr char kHeapLine = '\x02';

std::string without_heap_lines(const std::string& code) {
  std::string out;
  for (size_t at = 0; at < code.size();) {
    const size_t end = code.find('\n', at) + 1;
    if (code[code.find_first_not_of(' ', at)] != kHeapLine) out += code.substr(at, end - at);
    at = end;
  }
  return out;
}

std::string without_marks(std::string code) {
  std::erase(code, kHeapLine);
  return code;
}

std::string slot_expression(bool in_push, int slot) {
  return in_push ? fmt::format("push.a[{}]", slot)
                 : fmt::format("U64(push.a[0] + {}ul).v", 8 * slot);
}

}  // namespace

/// Gives every mentioned host value a slot, in order of appearance, and replaces the mention by the
/// name of the global variable that holds it.
std::string KernelGen::resolve_arguments(const std::string& text, std::vector<program::Arg>& args,
                                         std::string& declarations, std::string& set_up) {
  struct Mention {
    char kind;
    uint32_t index;
    std::string name;
  };
  std::map<std::pair<char, uint32_t>, std::string> names;
  std::vector<Mention> mentions;
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    if (text[at] != '$') {
      out += text[at++];
      continue;
    }
    const char kind = text[at + 1];
    const size_t end = text.find('$', at + 1);
    CHECK(end != std::string::npos);
    const auto index = static_cast<uint32_t>(std::stoul(text.substr(at + 2, end - at - 2)));
    auto [it, fresh] = names.emplace(std::pair{kind, index}, "");
    if (fresh) {
      it->second = fmt::format("{}{}", kind, mentions.size());
      mentions.push_back({kind, index, it->second});
    }
    out += it->second;
    at = end + 1;
  }
  const int slots = static_cast<int>(mentions.size()) + 2;
  in_push_ = slots * 8 <= program::kPushBytes;
  slots_ = slots;
  int slot = 1;
  for (const auto& m : mentions) {
    program::Arg arg;
    PrimType t = PrimType::kU64;
    if (m.kind == 'b') {
      arg.kind = program::Arg::kBlock;
      arg.block.index = m.index;
      arg.access = access_of(m.index);
    } else {
      arg.scalar = ScalarReg{m.index};
      t = host_.reg_type(ScalarReg{m.index});
    }
    args.push_back(arg);
    declarations += fmt::format("{} {};\n", glsl::glsl_type(t), m.name);
    set_up +=
        fmt::format("  {} = {};\n", m.name, glsl::from_slot(t, slot_expression(in_push_, slot++)));
  }
  return out;
}

program::Arg::Access KernelGen::access_of(uint32_t block) const {
  auto it = block_memory_.find(block);
  if (block == private_block_.index) return program::Arg::kReadWrite;
  if (written_blocks_.count(block)) return program::Arg::kReadWrite;
  if (it == block_memory_.end()) return program::Arg::kRead;
  return writes_unknown_ || written_.count(it->second) ? program::Arg::kReadWrite
                                                       : program::Arg::kRead;
}

void KernelGen::launch(const std::string& globals, const std::string& main, int workgroup_size,
                       const Operand& groups, bool has_barriers) {
  if (host_.failed()) return;
  if (uses_heap_) {
    host_.refuse(place_, "an operator that makes arrays of varying size");
    return;
  }
  launch_once(globals, main, workgroup_size, groups, has_barriers);
}

void KernelGen::launch_once(const std::string& globals, const std::string& main, int workgroup_size,
                            const Operand& groups, bool has_barriers) {
  const HostSize threads =
      single_thread_ ? host_.size(1) : host_.times(host_.size(groups), host_.size(workgroup_size));
  if (uses_private_) {
    private_block_ = host_.allocate_bytes(host_.times(private_bytes_, threads));
  }
  std::string code = functions_;
  std::string body;
  if (uses_private_) body += fmt::format("  pm = {};\n", block(private_block_));
  if (uses_heap_) {
    heap_block_ = host_.allocate_bytes(host_.times(host_.size(heap_capacity_), threads));
    const std::string capacity = import_operand(heap_capacity_).text;
    body +=
        fmt::format("  heap_size = {0};\n  heap_flag = {1};\n  hb = {2} + uint64_t(gid * {0});\n",
                    capacity, block(heap_flag_), block(heap_block_));
    writes_block(heap_flag_);
    writes_block(heap_block_);
  } else {
    code = without_heap_lines(code);
  }
  code = without_marks(std::move(code)) + globals;
  body += main;
  // One pass over both, so that they agree on names.
  std::vector<program::Arg> args;
  std::string declarations, set_up;
  constexpr char kCut = '\x01';
  std::string all = resolve_arguments(code + kCut + body, args, declarations, set_up);
  const size_t split = all.find(kCut);
  code = all.substr(0, split);
  body = all.substr(split + 1);

  std::string text = glsl::preamble();
  text += fmt::format("layout(local_size_x = {}) in;\n", workgroup_size);
  text += fmt::format("layout(push_constant, scalar) uniform Push {{ uint64_t a[{}]; }} push;\n",
                      in_push_ ? slots_ : 1);
  text += "uint64_t fr;\nuint64_t pm;\nint64_t groups, group, threads, gid;\nuint lid;\n";
  if (uses_heap_) text += "uint64_t hb, heap_flag;\nint64_t hp = 0l, heap_size;\n";
  const bool loops = has_loop(library_.text()) || has_loop(code) || has_loop(body);
  if (loops) text += kLoopsLook;
  text += may_have_failed_ || has_loops_ ? kGoing : kAlwaysGoing;
  if (has_loops_) text += kStopping;
  text += declarations;
  text += library_.text();
  text += code;
  if (has_barriers) text += "shared bool had_failed;\n";
  if (loops) text += check_for_cut();
  text += loops ? "void work() {\n" : "void main() {\n";
  text += fmt::format("  groups = int64_t({});\n", slot_expression(in_push_, slots_ - 1));
  text += fmt::format("  fr = {};\n", slot_expression(in_push_, 0));
  text += "  zero_bits = uint64_t(gl_NumWorkGroups.z >> 31);\n";  // there is one
  text +=
      "  group = int64_t(gl_WorkGroupID.x) + int64_t(gl_WorkGroupID.y) * "
      "int64_t(gl_NumWorkGroups.x);\n"
      "  if (group >= groups) return;\n"
      "  lid = gl_LocalInvocationID.x;\n";
  text += fmt::format("  threads = groups * {0}l;\n  gid = group * {0}l + int64_t(lid);\n",
                      workgroup_size);
  if (has_barriers) {
    text +=
        "  if (lid == 0u) had_failed = U32(fr).v != 0u;\n  barrier();\n  if (had_failed) return;\n";
  } else {
    text += "  if (U32(fr).v != 0u) return;\n";
  }
  text += set_up;
  text += body;
  text += "}\n";
  if (loops) text += "void main() { work(); if (!loops_look) check_for_cut(); }\n";

  program::Kernel kernel;
  kernel.name = name_;
  kernel.glsl = std::move(text);
  kernel.workgroup_size = workgroup_size;
  kernel.slots = slots_;
  kernel.nesting = max_indent_ + kNestingOfMain;
  if (kernel_place_.valid()) kernel.place = host_.ir().backtrace(kernel_place_);
  host_.emit({program::OpLaunch{host_.add_kernel(std::move(kernel)), groups, std::move(args)}});
}

Operand KernelGen::affordable(const Operand& groups, int workgroup_size) {
  if (!has_private_memory()) return groups;
  HostSize per_thread = private_bytes_;
  if (uses_heap_) per_thread = host_.plus(per_thread, host_.size(heap_capacity_));
  const Operand per_group = host_.times(per_thread, host_.size(workgroup_size)).operand();
  const Operand most = host_.max(
      PrimValue::i64(1),
      host_.emit_op(ScalarOp::kQuot, PrimType::kI64, PrimType::kI64,
                    {PrimValue::i64(kPrivateBudget), host_.max(PrimValue::i64(1), per_group)}));
  return host_.min(groups, most);
}

void KernelGen::launch_elements(const Operand& width) {
  if (host_.failed()) return;
  const Expr w = import_operand(width);
  const auto launch_all = [&] {
    Operand groups = host_.div_up(width, kElementsWorkgroup);
    std::string main;
    if (has_private_memory()) {
      groups = affordable(groups, kElementsWorkgroup);
      main = fmt::format("  for (int64_t i = gid; i < {}{} && going; i += threads) elem(i);\n",
                         w.text, has_loops_ ? " && !(loops_look && stopped())" : "");
    } else {
      main = fmt::format("  if (gid < {}) elem(gid);\n", w.text);
    }
    launch_once("", main, kElementsWorkgroup, groups, false);
  };
  if (uses_heap_) {
    launch_repeatedly(launch_all);
  } else {
    launch_all();
  }
}

void KernelGen::launch_single() {
  CHECK(single_thread_);
  const auto launch_all = [&] {
    launch_once("", "  if (gid == 0l) elem(0l);\n", 1, PrimValue::i64(1), false);
  };
  if (uses_heap_) {
    launch_repeatedly(launch_all);
  } else {
    launch_all();
  }
}

}  // namespace kenaz::gpu
