#include "kernels/kir/print.h"

#include <fmt/format.h>

#include <utility>

#include "kernels/ir/print.h"
#include "kernels/kir/names.h"
#include "kernels/kir/visit.h"

namespace kenaz::kir {
namespace {

std::string quoted_name(std::string_view s) {
  std::string out = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + '"';
}

class KernelPrinter {
 public:
  explicit KernelPrinter(const Kernel& k) : k_(k) {}
  std::string take() { return std::move(out_); }

  void kernel() {
    put("kernel {} group {}", quoted_name(k_.name), size(k_.group_size));
    if (k_.needs_progress) out_ += " progress";
    if (k_.reads_ahead) out_ += " ahead";
    prov(k_.prov);
    out_ += "\n";
    for (const Arg& a : k_.args) {
      out_ += a.is_block ? "block " + val(a.val) : "arg " + def(a.val);
      put(" {}\n", quoted_name(a.name));
    }
    for (const Spec& s : k_.specs) {
      put("spec {} = {} {}\n", def(s.val), ir::print_constant(s.fallback), quoted_name(s.name));
    }
    for (size_t i = 0; i < k_.shared.size(); i++) {
      const SharedArray& a = k_.shared[i];
      put("shared s{}: {}[{}] {}{}\n", i, print_type({a.type, a.lanes}), size(a.length),
          quoted_name(a.name), a.counts_threads ? " counts" : "");
    }
    for (size_t i = 0; i < k_.locals.size(); i++) {
      const LocalArray& a = k_.locals[i];
      put("local l{}: {}[{}] {}\n", i, prim_name(a.type), a.length, quoted_name(a.name));
    }
    for (size_t i = 0; i < k_.functions.size(); i++) function(i, k_.functions[i]);
    out_ += "main ";
    block(k_.main);
    out_ += "\n";
  }

  void inst(const Inst& i) {
    prov_ = i.prov;
    std::visit([&](const auto& op) { one(op); }, i.op);
    // Instructions with blocks print it before these.
    prov(prov_);
    prov_ = {};
  }

 private:
  template <class... Ts>
  void put(fmt::format_string<Ts...> format, Ts&&... args) {
    out_ += fmt::format(format, std::forward<Ts>(args)...);
  }
  void prov(ir::ProvId p) {
    if (p.valid()) put(" @{}", p.index);
  }
  void newline() {
    out_ += '\n';
    out_.append(static_cast<size_t>(2 * indent_), ' ');
  }
  static std::string val(ValId v) { return fmt::format("v{}", v.index); }
  static std::string var(VarId v) { return fmt::format("x{}", v.index); }
  template <class Id, class Table>
  static std::string typed(const std::string& name, Id id, const Table& types) {
    return name + ": " + (id.index < types.size() ? print_type(types[id.index]) : "BAD");
  }
  std::string def(ValId v) const { return typed(val(v), v, k_.vals); }
  template <class L, class F>
  static std::string list(const L& l, F&& f) {
    std::string out;
    for (const auto& x : l) out += (out.empty() ? "" : ", ") + f(x);
    return out;
  }
  static std::string values(const std::vector<Value>& l) { return list(l, print_value); }
  std::string size(const StaticSize& s) const {
    if (s.spec < 0) return std::to_string(s.constant);
    const auto spec = static_cast<size_t>(s.spec);
    return fmt::format("{} * {}", s.constant,
                       spec < k_.specs.size() ? val(k_.specs[spec].val) : "BAD");
  }
  static std::string address(const Address& a) {
    const Overloaded base{[](const Value& v) { return print_value(v); },
                          [](SharedId s) { return fmt::format("s{}", s.index); },
                          [](LocalId l) { return fmt::format("l{}", l.index); }};
    return fmt::format("{}[{}]", std::visit(base, a.base), print_value(a.index));
  }
  static std::string_view order(Order o) { return o == Order::kCoherent ? ".coherent" : ""; }

  void function(size_t number, const Function& f) {
    put("fun f{} {} ({}) ", number, quoted_name(f.name),
        list(f.params, [&](ValId p) { return def(p); }));
    block(f.body, [&] {
      newline();
      put("return{}{}", f.results.empty() ? "" : " ", values(f.results));
    });
    out_ += "\n";
  }
  template <class F>
  void block(const Block& b, F&& end) {
    out_ += "{";
    indent_++;
    for (const Inst& i : b.insts) {
      newline();
      inst(i);
    }
    end();
    indent_--;
    newline();
    out_ += "}";
  }
  void block(const Block& b) {
    block(b, [] {});
  }
  /// The provenance of the instruction stands before its first block.
  void head_end() {
    prov(std::exchange(prov_, {}));
    out_ += " ";
  }

  // ---- instructions
  void one(const IPrim& i) {
    put("{} = {}{}.{}", def(i.dst), name_of(i.form), scalar_op_name(i.op), prim_name(i.type));
    if (i.op == ScalarOp::kConvert || i.op == ScalarOp::kBitcast) put(".{}", prim_name(i.to));
    put("({})", values(i.args));
  }
  void one(const IBuiltin& i) { put("{} = {}", def(i.dst), name_of(i.kind)); }
  void one(const ICompose& i) { put("{} = compose({})", def(i.dst), values(i.lanes)); }
  void one(const IExtract& i) {
    put("{} = extract({}, {})", def(i.dst), print_value(i.vector), i.lane);
  }
  void one(const ILoad& i) { put("{} = load{} {}", def(i.dst), order(i.order), address(i.from)); }
  void one(const IStore& i) {
    put("store{} {} = {}", order(i.order), address(i.to), print_value(i.value));
  }
  void one(const IAtomic& i) {
    if (i.dst.valid()) put("{} = ", def(i.dst));
    put("atomic.{}.{}", name_of(i.op), prim_name(i.type));
    if (i.order != AtomicOrder::kRelaxed) put(".{}", name_of(i.order));
    put(" {}", address(i.at));
    if (i.op == AtomicOp::kCas) put(", {}", print_value(i.compare));
    if (i.op != AtomicOp::kLoad) put(", {}", print_value(i.value));
  }
  void one(const ISubgroup& i) {
    put("{} = subgroup.{}", def(i.dst), name_of(i.op));
    if (combines(i.op)) put(".{}", scalar_op_name(i.combine));
    put(" {}", print_value(i.value));
    if (takes_arg(i.op)) put(", {}", print_value(i.arg));
  }
  void one(const IBarrier&) { out_ += "barrier"; }
  void one(const IFence& i) { put("fence.{}", name_of(i.scope)); }
  void one(const IDeclare& i) {
    put("var {}", typed(var(i.var), i.var, k_.vars));
    if (i.init) put(" = {}", print_value(*i.init));
  }
  void one(const IRead& i) { put("{} = {}", def(i.dst), var(i.var)); }
  void one(const IAssign& i) { put("{} = {}", var(i.var), print_value(i.value)); }
  void one(const IIf& i) {
    put("if {}", print_value(i.cond));
    head_end();
    block(i.then_block);
    if (i.else_block.insts.empty()) return;
    out_ += " else ";
    block(i.else_block);
  }
  void one(const IFor& i) {
    put("for {} = {} to {} step {}{}{}", def(i.index), print_value(i.from), print_value(i.to),
        print_value(i.step), i.uniform ? " uniform" : "", i.unroll ? " unroll" : "");
    head_end();
    block(i.body);
  }
  void one(const IWhile& i) {
    put("while{}", i.uniform ? " uniform" : "");
    head_end();
    block(i.head);
    put(" test {} ", print_value(i.cond));
    block(i.body);
  }
  void one(const ICall& i) {
    if (!i.dsts.empty()) put("{} = ", list(i.dsts, [&](ValId d) { return def(d); }));
    put("call f{}({})", i.function.index, values(i.args));
  }
  void one(const IFail& i) { put("fail {}({})", i.number, values(i.args)); }
  void one(const IStop&) { out_ += "stop"; }

  const Kernel& k_;
  std::string out_;
  int indent_ = 0;
  ir::ProvId prov_;  // of the instruction whose text is not complete
};

}  // namespace

std::string print(const Kernel& kernel) {
  KernelPrinter p(kernel);
  p.kernel();
  return p.take();
}

std::string print_inst(const Kernel& kernel, const Inst& inst) {
  KernelPrinter p(kernel);
  p.inst(inst);
  return p.take();
}

std::string print_type(Type t) {
  return t.lanes == 1 ? std::string(prim_name(t.prim))
                      : fmt::format("{}x{}", prim_name(t.prim), t.lanes);
}

std::string print_value(const Value& v) {
  return v.is_const() ? ir::print_constant(v.constant()) : fmt::format("v{}", v.id().index);
}

}  // namespace kenaz::kir
