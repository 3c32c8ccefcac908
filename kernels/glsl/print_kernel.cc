// The frame of a kernel's text: declarations, arguments, how its threads begin and end.
#include "kernels/glsl/print_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "kernels/glsl/compile.h"
#include "kernels/glsl/print_block.h"
#include "kernels/glsl/types.h"
#include "kernels/program/program.h"
#include "protocol/base/check.h"

namespace kenaz::glsl {

using namespace kir;  // NOLINT: this folder prints that one's instructions

namespace {

// Every so many iterations of its loops a thread looks whether the call has failed elsewhere, or is
// to stop (program.h). The constant is false for drivers that end long loops themselves.
constexpr const char* kLoopsLook = "layout(constant_id = 0) const bool loops_look = true;\n";
constexpr const char* kTurn =
    "uint turns = 0u;\n"
    "void turn() {\n"
    "  if (loops_look && (++turns & 4095u) == 0u) {\n"
    "    if (Stop(fr).v != 0u) going = false;\n"
    "  }\n"
    "}\n";

// A uint64_t of value 0 that the driver's compiler does not know (types.h).
constexpr const char* kZeroBits = "zero_bits";
// Another, of what the host says (types.h): the number of workgroups is positive.
constexpr const char* kNoBits = "no_bits";

// The conditions that are not counted: around what stopped threads leave out, inside of the
// library's functions, and those behind which threads leave at once.
constexpr int kNestingOfFrame = 5;

// The number of a workgroup's row or of its place in it (program::kDigitsRow), digit by digit out
// of a table. llvmpipe takes an address for the same in all threads only if it is made of constants
// and push constants, and those for such whatever their index is.
constexpr const char* kSame =
    "uint digit(uint n) { return push.digits[n & 7u]; }\n"
    "uint same(uint n) {\n"
    "  uint low = digit(n) | digit(n >> 3) << 3 | digit(n >> 6) << 6;\n"
    "  return low | digit(n >> 9) << 9 | digit(n >> 12) << 12;\n"
    "}\n";
static_assert(program::kDigitsRow == 1 << 15 && program::kDigitSlots * 8 == 8 * sizeof(uint32_t));

/// How many instructions of a kernel that reads ahead stand before the first condition or effect.
size_t count_ahead(const Kernel& kernel) {
  if (!kernel.reads_ahead) return 0;
  const auto& insts = kernel.main.insts;
  const auto first = std::find_if(insts.begin(), insts.end(), [](const Inst& i) {
    return !is_pure(i) || std::holds_alternative<ISubgroup>(i.op);
  });
  return static_cast<size_t>(first - insts.begin());
}

/// llvmpipe runs as many lanes as a vector has, 16 at most, whatever the size of a workgroup. Those
/// that are too many write nothing and read zeros, but a loop goes on until they have left it too,
/// which they may never do: then the driver ends it, for all. So a workgroup of one thread has
/// this size there, and the others leave at its start, which every loop heeds.
constexpr int64_t kLanes = 16;

bool mentions(const std::string& text, const char* what) {
  return text.find(what) != std::string::npos;
}

bool has_loop(const std::string& text) {
  return mentions(text, "for (") || mentions(text, "while (");
}

class KernelPrinter {
 public:
  KernelPrinter(const Kernel& kernel, const PrintOptions& options)
      : kernel_(kernel),
        options_(options),
        facts_(kernel, static_cast<bool>(options.cut_failure)),
        names_(kernel, facts_, out_),
        context_{kernel, options, facts_, {}, Library({options.quick_divisions, options.contract}),
                 {},     {},      {}} {
    slots_ = static_cast<int>(kernel.args.size()) + 2;
    one_of_many_ =
        options.cut_failure && kernel.group_size.spec < 0 && kernel.group_size.constant == 1;
    has_digits_ = kernel.reads_ahead && 8 * (slots_ + program::kDigitSlots) <= program::kPushBytes;
  }

  PrintedKernel print();

 private:
  void name_everything();
  std::string function(size_t f);
  std::string functions();
  std::string slot(int k);
  std::string layout() const;
  std::string arrays() const;
  std::string arguments(std::string& set_up);
  std::string numbers();
  std::string check_to_go();
  std::string check_for_cut();
  void decide_to_say_end(bool may_be_cut);
  std::string say_end();

  const Kernel& kernel_;
  const PrintOptions& options_;
  const Facts facts_;
  Text out_;
  Names names_;
  KernelContext context_;
  int slots_;
  bool has_digits_;
  bool one_of_many_;  // see kLanes
  bool says_end_ = false;
  int nesting_ = 0;
};

void KernelPrinter::name_everything() {
  for (const Arg& a : kernel_.args) names_.bind(a.val, names_.like(a.name));
  for (const Spec& s : kernel_.specs) {
    if (s.says_small) {
      context_.says_small = s.val;
    } else {
      names_.bind(s.val, names_.like(s.name));
    }
  }
  for (const SharedArray& a : kernel_.shared) context_.shared.push_back(names_.like(a.name));
  for (const LocalArray& a : kernel_.locals) context_.locals.push_back(names_.like(a.name));
  for (const Function& f : kernel_.functions) context_.functions.push_back({names_.like(f.name)});
}

std::string KernelPrinter::function(size_t number) {
  const Function& f = kernel_.functions[number];
  std::string params;
  const auto param = [&](const char* kind, Type t, const std::string& name) {
    params += fmt::format("{}{}{} {}", params.empty() ? "" : ", ", kind, glsl_type(t), name);
  };
  for (ValId v : f.params) {
    const std::string name = names_.fresh('p');
    names_.bind(v, name);
    param("", kernel_.vals[v.index], name);
  }
  std::vector<std::string> outs;
  if (f.results.size() != 1) {
    for (const Value& r : f.results) {
      outs.push_back(names_.fresh('r'));
      param("out ", r.type, outs.back());
    }
  }
  const PrintedFunction& printed = context_.functions[number];
  context_.depth = printed.depth;
  out_.forget_deepest();
  const std::string type = f.results.size() == 1 ? glsl_type(f.results[0].type) : "void";
  out_.open(fmt::format("{} {}({}) {{", type, printed.name, params));
  BlockPrinter(context_, names_, out_, printed.called_by_stopped).block(f.body);
  for (size_t k = 0; k < outs.size(); k++) {
    out_.line(fmt::format("{} = {};", outs[k], names_.take(f.results[k]).text));
  }
  if (f.results.size() == 1) {
    out_.line(fmt::format("return {};", names_.take(f.results[0]).text));
  }
  out_.close();
  nesting_ = std::max(nesting_, printed.depth + out_.deepest());
  return out_.exchange("");
}

/// Those that are called. Callers are printed before what they call, so that it is known where
/// that is called, and stand behind it.
std::string KernelPrinter::functions() {
  std::string all;
  for (size_t f = kernel_.functions.size(); f-- > 0;) {
    if (context_.functions[f].is_called) all = function(f) + all;
  }
  return all;
}

std::string KernelPrinter::slot(int k) {
  if (slots_ * 8 <= program::kPushBytes) return fmt::format("push.a[{}]", k);
  return fmt::format("{}(push.a[0] + {}ul).v", context_.head.reference({PrimType::kU64}), 8 * k);
}

std::string KernelPrinter::layout() const {
  const StaticSize& size = kernel_.group_size;
  std::string s;
  if (size.spec < 0) {
    s = fmt::format("layout(local_size_x = {}) in;\n", one_of_many_ ? kLanes : size.constant);
  } else {
    CHECK(size.constant == 1);  // no product of a specialisation constant can be a group's size
    s = fmt::format("layout(local_size_x = {}, local_size_x_id = {}) in;\n",
                    kernel_.specs[size.spec].fallback.as_i64(), size.spec + 1);
  }
  s += fmt::format("layout(push_constant, scalar) uniform Push {{ uint64_t a[{}];{} }} push;\n",
                   slots_ * 8 <= program::kPushBytes ? slots_ : 1,
                   has_digits_ ? " uint digits[8];" : "");
  for (size_t k = 0; k < kernel_.specs.size(); k++) {
    const Spec& spec = kernel_.specs[k];
    if (spec.says_small) {
      s += fmt::format("{}\n", kSmallLaunches);
      continue;
    }
    s += fmt::format("layout(constant_id = {}) const {} {} = {};\n", k + 1,
                     glsl_type(spec.fallback.type), names_.name(spec.val), literal(spec.fallback));
  }
  return s;
}

std::string KernelPrinter::arrays() const {
  std::string s;
  for (size_t k = 0; k < kernel_.shared.size(); k++) {
    const SharedArray& a = kernel_.shared[k];
    std::string length = std::to_string(a.length.constant);
    if (a.length.spec >= 0) {
      length += fmt::format(" * {}", names_.name(kernel_.specs[a.length.spec].val));
    }
    s += fmt::format("shared {} {}[{}];\n", glsl_type({memory_type(a.type), a.lanes}),
                     context_.shared[k], length);
  }
  for (size_t k = 0; k < kernel_.locals.size(); k++) {
    const LocalArray& a = kernel_.locals[k];
    s += fmt::format("{} {}[{}];\n", glsl_type(a.type), context_.locals[k], a.length);
  }
  return s;
}

/// Declares those that are used; `set_up` fetches them.
std::string KernelPrinter::arguments(std::string& set_up) {
  std::string s;
  for (size_t k = 0; k < kernel_.args.size(); k++) {
    const ValId v = kernel_.args[k].val;
    if (facts_.uses(v) == 0) continue;
    const PrimType t = kernel_.vals[v.index].prim;
    s += fmt::format("{} {};\n", glsl_type(t), names_.name(v));
    set_up +=
        fmt::format("  {} = {};\n", names_.name(v), from_slot(t, slot(static_cast<int>(k) + 1)));
  }
  return s;
}

/// What a thread knows of itself.
std::string KernelPrinter::numbers() {
  std::string s = fmt::format("  groups = int64_t({});\n", slot(slots_ - 1));
  s += options_.skips_look ? fmt::format("  fr = {} & ~{}ul;\n", slot(0), program::kNothingFailed)
                           : fmt::format("  fr = {};\n", slot(0));
  if (has_digits_) {
    s += fmt::format(
        "  group = int64_t(same(gl_WorkGroupID.x)) + int64_t(same(gl_WorkGroupID.y)) * {}l;\n",
        program::kDigitsRow);
  } else {
    s += "  group = int64_t(gl_WorkGroupID.x) + int64_t(gl_WorkGroupID.y) * "
         "int64_t(gl_NumWorkGroups.x);\n";
  }
  if (facts_.knows_subgroups()) {  // whose order is what makes a thread's number
    context_.head.need_extension("GL_KHR_shader_subgroup_basic");
    s += "  local = int(gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID);\n";
  } else {
    s += "  local = int(gl_LocalInvocationID.x);\n";
  }
  return s;
}

/// Workgroups beyond the last leave, and all threads do if the call has failed: together, if they
/// are to work together.
std::string KernelPrinter::check_to_go() {
  std::string s = "  if (group >= groups) return;\n";
  const std::string failed =
      fmt::format("{}(fr).v != 0u", context_.head.reference({PrimType::kU32}));
  const std::string looks =
      options_.skips_look ? fmt::format("({} & {}ul) == 0ul", slot(0), program::kNothingFailed)
                          : "";
  if (!facts_.works_together()) {
    return s + fmt::format("  if ({}{}) return;\n", looks.empty() ? "" : looks + " && ", failed);
  }
  if (!looks.empty()) s += fmt::format("  if ({}) {{\n", looks);
  s += fmt::format("  if (local == 0) had_failed = {};\n  barrier();\n  if (had_failed) return;\n",
                   failed);
  return looks.empty() ? s : s + "  }\n";
}

/// program::kMostSaying.
std::string KernelPrinter::say_end() {
  const std::string word = context_.head.reference({PrimType::kU32}) + "(fr + 8ul).v";
  const std::string cell = context_.head.reference({PrimType::kU32, 4});
  const uint64_t mark = program::kCellMark ^ 1;
  return fmt::format(
      "  if ({0} != 0ul) {{\n"
      "    barrier();\n"
      "    if (local == 0) {{\n"
      "      uint before = groups == 1l ? 0u : atomicAdd({1}, 1u);\n"
      "      if (before + 1u == uint(groups)) {{\n"
      "        {1} = 0u;\n"
      "        {2}({0}).v = uvec4(1u, 0u, {3}u, {4}u);\n"
      "      }}\n"
      "    }}\n"
      "  }}\n",
      slot(slots_ - 2), word, cell, static_cast<uint32_t>(mark), mark >> 32);
}

std::string KernelPrinter::check_for_cut() {
  // The compiler must not know the bound: a failure's number has no such bit.
  return fmt::format(
      "void check_for_cut() {{\n"
      "  uint most = 2u + ({}(fr).v >> 31), n = 0u;\n"
      "  while (n < most) n++;\n"
      "  if (n < most) {};\n}}\n",
      context_.head.reference({PrimType::kU32}),
      record_failure(context_.head, options_.cut_failure(kernel_.prov)));
}

/// Once the body is printed; nothing that asks for slots is yet.
void KernelPrinter::decide_to_say_end(bool may_be_cut) {
  const int slots = slots_ + 1 + (has_digits_ ? program::kDigitSlots : 0);
  says_end_ = options_.says_end && options_.skips_look && !context_.head.may_fail() &&
              !may_be_cut && !one_of_many_ && slots * 8 <= program::kPushBytes;
  if (says_end_) slots_++;
}

PrintedKernel KernelPrinter::print() {
  name_everything();
  out_.deeper();
  const std::span<const Inst> main = kernel_.main.insts;
  const size_t ahead = count_ahead(kernel_);
  BlockPrinter printer(context_, names_, out_, false);
  printer.insts(main.first(ahead));
  const std::string first = out_.exchange("");
  printer.insts(main.subspan(ahead));
  const std::string body = out_.exchange("");
  nesting_ = out_.deepest();
  out_.shallower();
  const std::string code = functions();
  const bool loops = facts_.has_loops() || has_loop(context_.library.text());
  const bool checks = loops && options_.cut_failure;
  decide_to_say_end(checks);
  std::string set_up = numbers();
  if (!kernel_.reads_ahead) set_up += check_to_go();
  const std::string args = arguments(set_up);
  if (kernel_.reads_ahead) set_up += first + check_to_go();
  const std::string& library = context_.library.text();
  const std::string end = says_end_ ? say_end() : "";
  const bool stops = facts_.may_stop(kernel_.main) || context_.masks_threads;
  const std::string check = checks ? check_for_cut() : "";
  if (facts_.has_looking_loops()) context_.head.need_stop_word();

  std::string text = layout() + "uint64_t fr;\nint64_t groups, group;\nint local;\n";
  if (loops) text += kLoopsLook;
  if (stops) text += "bool going = true;\n";
  if (facts_.has_looking_loops()) text += kTurn;
  if (has_digits_) text += kSame;
  text += args + arrays();
  if (facts_.works_together()) text += "shared bool had_failed;\n";
  const std::string calls = library + code + body + set_up;
  const bool wraps = calls.find("wrap_") != std::string::npos;
  if (wraps || mentions(calls, kZeroBits)) {
    text += fmt::format("uint64_t {};\n", kZeroBits);
    set_up = fmt::format("  {} = uint64_t(gl_NumWorkGroups.z >> 31);\n", kZeroBits) + set_up;
  }
  if (mentions(calls, kNoBits)) {
    text += fmt::format("uint64_t {};\n", kNoBits);
    set_up = fmt::format("  {} = {} >> 63;\n", kNoBits, slot(slots_ - 1)) + set_up;
  }
  if (wraps) text += wrap_functions();
  text += library + code + check;
  const char* leave = one_of_many_ ? "  if (gl_LocalInvocationID.x != 0u) return;\n" : "";
  if (checks) {
    text += "void work() {\n" + set_up + body + "}\n";
    text += fmt::format("void main() {{\n{}  work();\n  if (!loops_look) check_for_cut();\n}}\n",
                        leave);
  } else {
    text += fmt::format("void main() {{\n{}{}{}{}}}\n", leave, set_up, body, end);
  }
  if (options_.contract) text = std::string(kContract) + "\n" + text;
  const int frame = kNestingOfFrame + (one_of_many_ ? 1 : 0);
  return {context_.head.text() + text, nesting_ + frame, context_.head.may_fail(), says_end_,
          slots_ + (has_digits_ ? program::kDigitSlots : 0)};
}

}  // namespace

PrintedKernel print_kernel(const Kernel& kernel, const PrintOptions& options) {
  return KernelPrinter(kernel, options).print();
}

}  // namespace kenaz::glsl
