#include "kernels/kir/validate.h"

#include <fmt/format.h>

#include <vector>

#include "kernels/kir/print.h"
#include "kernels/kir/validate_types.h"
#include "kernels/kir/visit.h"

namespace kenaz::kir {
namespace {

/// Which values, or variables, have been defined, and which of them can be seen.
struct Defined {
  explicit Defined(size_t n) : ever(n), visible(n) {}
  bool exists(uint32_t n) const { return n < ever.size(); }
  bool is_visible(uint32_t n) const { return exists(n) && visible[n]; }
  void add(uint32_t n) {
    ever[n] = visible[n] = true;
    trail.push_back(n);
  }
  void hide_from(size_t mark) {
    for (; trail.size() > mark; trail.pop_back()) visible[trail.back()] = false;
  }
  std::vector<bool> ever, visible;
  std::vector<uint32_t> trail;  // what is visible, but for arguments and specs
};

class KernelValidator {
 public:
  explicit KernelValidator(const Kernel& k) : k_(k), vals_(k.vals.size()), vars_(k.vars.size()) {}

  Status run() {
    tables();
    for (size_t i = 0; i < k_.functions.size() && error_.empty(); i++) {
      calls_before_ = i;
      function(k_.functions[i]);
    }
    where_ = "main";
    calls_before_ = k_.functions.size();
    block(k_.main);
    if (!error_.empty()) return internal_error(error_);
    return {};
  }

 private:
  void problem(const std::string& what) {
    if (!error_.empty()) return;
    error_ = fmt::format("invalid kernel {} in {}: {}", k_.name, where_, what);
    if (inst_ == nullptr) return;
    std::string text = print_inst(k_, *inst_);
    if (text.size() > 1000) text = text.substr(0, 1000) + " ...";
    error_ += "\n  " + text;
  }
  template <class... Ts>
  void require(bool ok, fmt::format_string<Ts...> format, Ts&&... args) {
    if (!ok) problem(fmt::format(format, std::forward<Ts>(args)...));
  }

  // ---- tables
  void tables() {
    const auto lanes = [&](const std::vector<Type>& types, char letter) {
      for (size_t i = 0; i < types.size(); i++) {
        const int n = types[i].lanes;
        require(n == 1 || n == 2 || n == 4, "{}{} has {} lanes", letter, i, n);
      }
    };
    lanes(k_.vals, 'v');
    lanes(k_.vars, 'x');
    for (const Arg& a : k_.args) {
      define(a.val);
      if (!error_.empty()) return;
      const Type t = k_.vals[a.val.index];
      require(t.lanes == 1, "argument {} is a vector", a.name);
      require(!a.is_block || t.prim == PrimType::kU64, "the address of {} is no u64", a.name);
    }
    for (const Spec& s : k_.specs) {
      define(s.val);
      if (!error_.empty()) return;
      const PrimType t = s.fallback.type;
      require(t == PrimType::kI32 || t == PrimType::kBool, "{} is of type {}", s.name,
              prim_name(t));
      require(k_.vals[s.val.index] == Type{t, 1}, "{} and its fallback have different types",
              s.name);
    }
    for (const SharedArray& a : k_.shared) {
      size(a.length, a.name);
      require(a.lanes == 1 || a.lanes == 2 || a.lanes == 4, "{} has vectors of {} lanes", a.name,
              a.lanes);
    }
    for (const LocalArray& a : k_.locals) require(a.length > 0, "{} has no elements", a.name);
    size(k_.group_size, "the workgroup");
    vals_.trail.clear();  // arguments and specs stay visible
  }
  void size(const StaticSize& s, const std::string& name) {
    require(s.constant > 0, "{} has no elements", name);
    if (s.spec == -1) return;
    const bool known = s.spec >= 0 && static_cast<size_t>(s.spec) < k_.specs.size();
    require(known && k_.specs[static_cast<size_t>(s.spec)].fallback.type == PrimType::kI32,
            "the size of {} depends on what is no spec of type i32", name);
    if (!error_.empty()) return;
    const int64_t fallback = k_.specs[static_cast<size_t>(s.spec)].fallback.as_i64();
    require(fallback > 0, "{} has no elements by its spec's fallback", name);
  }

  // ---- scopes
  void define(ValId v) {
    if (!vals_.exists(v.index)) return problem("a value that does not exist is defined");
    require(!vals_.ever[v.index], "v{} is defined twice", v.index);
    vals_.add(v.index);
  }
  void declare(VarId v) {
    if (!vars_.exists(v.index)) return problem("a variable that does not exist is declared");
    require(!vars_.ever[v.index], "x{} is declared twice", v.index);
    vars_.add(v.index);
  }
  void use(const Value& v) {
    if (v.is_const()) {
      const int bits = prim_bits(v.constant().type);
      require(bits == 64 || v.constant().bits >> bits == 0, "a constant with bits beyond its type");
      return require(v.type == Type{v.constant().type, 1}, "a constant of another type");
    }
    const uint32_t n = v.id().index;
    if (!vals_.exists(n)) return problem(fmt::format("v{} does not exist", n));
    require(vals_.is_visible(n), "v{} is not visible", n);
    require(v.type == k_.vals[n], "an operand has v{} as {}", n, print_type(v.type));
  }
  /// What `inside` defines is visible until its end.
  template <class F>
  void scope(F&& inside) {
    const size_t mark = vals_.trail.size(), var_mark = vars_.trail.size();
    inside();
    vals_.hide_from(mark);
    vars_.hide_from(var_mark);
  }

  // ---- code
  void function(const Function& f) {
    where_ = fmt::format("function {}", f.name);
    in_function_ = true;
    scope([&] {
      for (const ValId p : f.params) define(p);
      for (const Inst& i : f.body.insts) inst(i);
      inst_ = nullptr;
      for (const Value& r : f.results) use(r);
    });
    in_function_ = false;
  }
  void block(const Block& b) {
    scope([&] {
      for (const Inst& i : b.insts) inst(i);
    });
  }

  void inst(const Inst& i) {
    if (!error_.empty()) return;
    inst_ = &i;
    visit_operands(i.op, [&](const Value& v) { use(v); });
    if (const auto* d = std::get_if<IDeclare>(&i.op)) {
      declare(d->var);
    } else {
      visit_var(i.op, [&](VarId v) {
        require(vars_.is_visible(v.index), "x{} is not in scope", v.index);
      });
    }
    place(i);
    if (error_.empty()) {
      if (auto e = find_type_error(k_, i, calls_before_)) problem(*e);
    }
    inside(i);
    inst_ = &i;
    visit_results(i.op, [&](ValId v) { define(v); });
    inst_ = nullptr;
  }

  void inside(const Inst& i) {
    const auto* counted = std::get_if<IFor>(&i.op);
    const auto* loop = std::get_if<IWhile>(&i.op);
    const bool diverges = (counted && !counted->uniform) || (loop && !loop->uniform);
    divergent_loops_ += diverges ? 1 : 0;
    if (loop) {
      // The body sees what the head defines.
      scope([&] {
        for (const Inst& x : loop->head.insts) inst(x);
        inst_ = &i;
        use(loop->cond);
        block(loop->body);
      });
    } else {
      scope([&] {
        visit_binders(i.op, [&](ValId v) { define(v); });
        visit_blocks(i.op, [&](const Block& b) { block(b); });
      });
    }
    divergent_loops_ -= diverges ? 1 : 0;
  }

  /// Where threads meet.
  void place(const Inst& i) {
    if (!std::holds_alternative<IBarrier>(i.op) && !std::holds_alternative<ISubgroup>(i.op)) return;
    require(!in_function_, "threads meet in a function");
    require(divergent_loops_ == 0, "threads meet in a loop that is not uniform");
  }

  const Kernel& k_;
  Defined vals_, vars_;
  size_t calls_before_ = 0;
  bool in_function_ = false;
  int divergent_loops_ = 0;  // around the instruction
  std::string where_ = "its tables", error_;
  const Inst* inst_ = nullptr;
};

}  // namespace

Status validate(const Kernel& kernel) { return KernelValidator(kernel).run(); }

}  // namespace kenaz::kir
