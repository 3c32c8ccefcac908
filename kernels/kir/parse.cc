#include "kernels/kir/parse.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "kernels/kir/names.h"
#include "kernels/kir/parse_tokens.h"
#include "kernels/kir/visit.h"

namespace kenaz::kir {
namespace {

constexpr int kMaxParseDepth = 200;

class KernelParser {
 public:
  explicit KernelParser(std::vector<ir::Token> tokens) : in_(std::move(tokens)) {}

  Result<Kernel> run() {
    header();
    while (in_.ok() && in_.peek().kind != ir::Token::kEnd) item();
    if (auto name = vals_.undefined()) {
      in_.fail_in(name->second, fmt::format("v{} is not defined", name->first));
    }
    if (auto name = vars_.undefined()) {
      in_.fail_in(name->second, fmt::format("x{} is not declared", name->first));
    }
    find_spec(k_.group_size);
    for (SharedArray& a : k_.shared) find_spec(a.length);
    if (!in_.ok()) return bad_request(in_.error());
    k_.vals = vals_.table();
    k_.vars = vars_.table();
    give_types();
    return std::move(k_);
  }

 private:
  using Op = decltype(Inst::op);
  struct Def {
    ValId id;
    Type type;
  };

  // ---- names
  Def def() {
    const uint32_t n = in_.number_of_name('v');
    in_.expect(":");
    const Type t = in_.type();
    return {vals_.define(n, t), t};
  }
  VarId var() {
    const int line = in_.peek().line;
    return vars_.use(in_.number_of_name('x'), line);
  }
  /// A value gets its type when all definitions are known.
  Value value() {
    if (const auto c = in_.constant()) return *c;
    const int line = in_.peek().line;
    return {Type{}, vals_.use(in_.number_of_name('v'), line)};
  }
  std::vector<Value> values_until(std::string_view close) {
    std::vector<Value> out;
    in_.list_until(close, [&] { out.push_back(value()); });
    return out;
  }
  void give_types() {
    const auto give = [&](Value& v) {
      if (!v.is_const()) v.type = k_.vals[v.id().index];
    };
    for_each_inst_of(k_, [&](Inst& i) {
      visit_operands(i.op, give);
      visit_end_operands(i.op, give);
    });
    for (Function& f : k_.functions) {
      for (Value& r : f.results) give(r);
    }
  }

  // ---- tables
  void header() {
    in_.expect("kernel");
    k_.name = in_.string();
    in_.expect("group");
    k_.group_size = size();
    k_.needs_progress = in_.eat("progress");
    k_.reads_ahead = in_.eat("ahead");
    k_.prov = in_.prov();
  }
  /// `12` or `12 * v3`; StaticSize::spec is the value's number until find_spec.
  StaticSize size() {
    StaticSize s{in_.small_int(), -1};
    if (!in_.eat("*")) return s;
    size_line_ = in_.peek().line;
    s.spec = static_cast<int>(vals_.use(in_.number_of_name('v'), size_line_).index);
    return s;
  }
  void find_spec(StaticSize& s) {
    if (s.spec < 0) return;
    for (size_t i = 0; i < k_.specs.size(); i++) {
      if (k_.specs[i].val.index == static_cast<uint32_t>(s.spec)) {
        s.spec = static_cast<int>(i);
        return;
      }
    }
    in_.fail_in(size_line_, fmt::format("v{} is no spec", s.spec));
  }
  void item() {
    if (in_.eat("arg")) {
      const ValId v = def().id;
      k_.args.push_back({in_.string(), v, false});
    } else if (in_.eat("block")) {
      const ValId v = vals_.define(in_.number_of_name('v'), {PrimType::kU64});
      k_.args.push_back({in_.string(), v, true});
    } else if (in_.eat("spec")) {
      const ValId v = def().id;
      in_.expect("=");
      const Value fallback = value();
      if (!fallback.is_const()) return in_.fail_at("expected a constant before this");
      k_.specs.push_back({in_.string(), v, fallback.constant()});
    } else if (in_.eat("shared")) {
      numbered('s', k_.shared.size());
      in_.expect(":");
      const Type type = in_.type();
      in_.expect("[");
      const StaticSize length = size();
      in_.expect("]");
      std::string name = in_.string();
      k_.shared.push_back({std::move(name), type.prim, length, type.lanes, in_.eat("counts")});
    } else if (in_.eat("local")) {
      numbered('l', k_.locals.size());
      const PrimType type = element();
      const int length = in_.small_int();
      in_.expect("]");
      k_.locals.push_back({in_.string(), type, length});
    } else if (in_.eat("fun")) {
      function();
    } else if (in_.eat("main")) {
      k_.main = block();
    } else {
      in_.fail_at("expected 'arg', 'block', 'spec', 'shared', 'local', 'fun' or 'main'");
    }
  }
  void numbered(char letter, size_t next) {
    if (!in_.eat(fmt::format("{}{}", letter, next))) {
      in_.fail_at(fmt::format("expected {}{}", letter, next));
    }
  }
  PrimType element() {
    in_.expect(":");
    const PrimType t = in_.prim();
    in_.expect("[");
    return t;
  }
  void function() {
    numbered('f', k_.functions.size());
    Function f;
    f.name = in_.string();
    in_.expect("(");
    in_.list_until(")", [&] { f.params.push_back(def().id); });
    in_.expect("{");
    while (in_.ok() && !in_.is("return")) f.body.insts.push_back(inst());
    in_.expect("return");
    f.results = values_until("}");
    k_.functions.push_back(std::move(f));
  }

  // ---- instructions
  Block block() {
    Block b;
    if (++depth_ > kMaxParseDepth) in_.fail_at("nested too deeply");
    in_.expect("{");
    while (in_.ok() && !in_.eat("}")) b.insts.push_back(inst());
    --depth_;
    return b;
  }

  Inst inst() {
    Inst i;
    if (in_.is("if") || in_.is("for") || in_.is("while")) {
      control(i);
      return i;
    }
    if (in_.is_name('v')) {
      std::vector<Def> defs{def()};
      while (in_.eat(",")) defs.push_back(def());
      in_.expect("=");
      i.op = definition(defs);
    } else if (in_.is_name('x')) {
      const VarId v = var();
      in_.expect("=");
      i.op = IAssign{v, value()};
    } else {
      i.op = effect();
    }
    i.prov = in_.prov();
    return i;
  }

  Op definition(const std::vector<Def>& defs) {
    if (in_.eat("call")) return call(defs);
    if (defs.size() != 1) in_.fail_at("expected 'call'");
    const auto [dst, type] = defs[0];
    if (in_.is_name('x')) return IRead{dst, var()};
    if (in_.eat("load")) {
      const Order o = order();
      return ILoad{dst, type, address(), o};
    }
    if (in_.eat("atomic")) return atomic(dst);
    if (in_.eat("compose")) {
      in_.expect("(");
      return ICompose{dst, values_until(")")};
    }
    if (in_.eat("extract")) {
      in_.expect("(");
      IExtract e{dst, value(), 0};
      in_.expect(",");
      e.lane = in_.small_int();
      in_.expect(")");
      return e;
    }
    if (in_.is("subgroup") && in_.peek(1).text == ".") return subgroup(dst);
    if (const auto kind = find_named<BuiltinKind>(kBuiltinNames, in_.peek().text)) {
      in_.advance();
      return IBuiltin{dst, *kind};
    }
    return scalar(dst);
  }

  Op scalar(ValId dst) {
    const Form form = in_.eat("usual")      ? Form::kUsual
                      : in_.eat("is_usual") ? Form::kIsUsual
                                            : Form::kWhole;
    IPrim e{dst, in_.scalar_op(), {}, {}, {}, form};
    in_.expect(".");
    e.type = in_.prim();
    e.to = scalar_op_result(e.op, e.type, e.type);
    if (in_.eat(".")) e.to = in_.prim();
    in_.expect("(");
    e.args = values_until(")");
    return e;
  }

  Op atomic(ValId dst) {
    IAtomic a;
    a.dst = dst;
    in_.expect(".");
    a.op = in_.one_of<AtomicOp>(kAtomicNames, "an atomic operation");
    in_.expect(".");
    a.type = in_.prim();
    if (in_.eat(".")) a.order = in_.one_of<AtomicOrder>(kAtomicOrderNames, "an order");
    a.at = address();
    if (a.op == AtomicOp::kCas) {
      in_.expect(",");
      a.compare = value();
    }
    if (a.op != AtomicOp::kLoad) {
      in_.expect(",");
      a.value = value();
    }
    return a;
  }

  Op subgroup(ValId dst) {
    ISubgroup s;
    s.dst = dst;
    in_.advance();
    in_.expect(".");
    s.op = in_.one_of<SubgroupOp>(kSubgroupNames, "a subgroup operation");
    if (combines(s.op)) {
      in_.expect(".");
      s.combine = in_.scalar_op();
    }
    s.value = value();
    if (takes_arg(s.op)) {
      in_.expect(",");
      s.arg = value();
    }
    return s;
  }

  Op call(const std::vector<Def>& defs) {
    ICall c;
    for (const Def& d : defs) c.dsts.push_back(d.id);
    c.function = FunctionId{in_.number_of_name('f')};
    in_.expect("(");
    c.args = values_until(")");
    return c;
  }

  Order order() {
    if (!in_.eat(".")) return Order::kPlain;
    in_.expect("coherent");
    return Order::kCoherent;
  }

  Address address() {
    Address a;
    if (in_.is_name('s')) {
      a.base = SharedId{in_.number_of_name('s')};
    } else if (in_.is_name('l')) {
      a.base = LocalId{in_.number_of_name('l')};
    } else {
      a.base = value();
    }
    in_.expect("[");
    a.index = value();
    in_.expect("]");
    return a;
  }

  Op effect() {
    if (in_.eat("store")) {
      const Order o = order();
      Address to = address();
      in_.expect("=");
      return IStore{std::move(to), value(), o};
    }
    if (in_.eat("atomic")) return atomic({});
    if (in_.eat("call")) return call({});
    if (in_.eat("barrier")) return IBarrier{};
    if (in_.eat("fence")) {
      in_.expect(".");
      return IFence{in_.one_of<Scope>(kScopeNames, "a scope")};
    }
    if (in_.eat("var")) {
      const uint32_t n = in_.number_of_name('x');
      in_.expect(":");
      IDeclare d{vars_.define(n, in_.type()), std::nullopt};
      if (in_.eat("=")) d.init = value();
      return d;
    }
    if (in_.eat("fail")) {
      IFail f;
      f.number = in_.small_int();
      in_.expect("(");
      f.args = values_until(")");
      return f;
    }
    if (!in_.eat("stop")) in_.fail_at("expected an instruction");
    return IStop{};
  }

  /// The provenance stands before the first block.
  void control(Inst& i) {
    if (in_.eat("if")) {
      IIf e;
      e.cond = value();
      i.prov = in_.prov();
      e.then_block = block();
      if (in_.eat("else")) e.else_block = block();
      i.op = std::move(e);
    } else if (in_.eat("for")) {
      IFor e;
      e.index = def().id;
      in_.expect("=");
      e.from = value();
      in_.expect("to");
      e.to = value();
      in_.expect("step");
      e.step = value();
      e.uniform = in_.eat("uniform");
      e.unroll = in_.eat("unroll");
      i.prov = in_.prov();
      e.body = block();
      i.op = std::move(e);
    } else {
      in_.expect("while");
      IWhile e;
      e.uniform = in_.eat("uniform");
      i.prov = in_.prov();
      e.head = block();
      in_.expect("test");
      e.cond = value();
      e.body = block();
      i.op = std::move(e);
    }
  }

  TokenReader in_;
  NameTable<ValId> vals_;
  NameTable<VarId> vars_;
  Kernel k_;
  int depth_ = 0;
  int size_line_ = 0;  // of the last size with a spec
};

}  // namespace

Result<Kernel> parse(std::string_view text) {
  KENAZ_ASSIGN(auto tokens, ir::lex(text));
  return KernelParser(std::move(tokens)).run();
}

}  // namespace kenaz::kir
