#include "kernels/ir/parse.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "kernels/ir/parse_lex.h"

namespace kenaz::ir {
namespace {

constexpr int kMaxDepth = 200;

// After the first error every function returns quickly with something harmless: advance() stops
// moving and peek() is the end of the text.
class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  Result<Program> run() {
    find_functions();
    while (ok() && peek().kind != Token::kEnd) item();
    if (!error_.empty()) return bad_request(error_);
    return std::move(p_);
  }

 private:
  // ---- tokens
  bool ok() const { return error_.empty(); }
  const Token& peek(size_t k = 0) const {
    return ok() && at_ + k < tokens_.size() ? tokens_[at_ + k] : tokens_.back();
  }
  Token advance() {
    const Token t = peek();
    if (ok() && at_ + 1 < tokens_.size()) ++at_;
    return t;
  }
  void fail_at(const std::string& what) {
    if (ok()) error_ = fmt::format("line {}: {}, found '{}'", peek().line, what, peek().text);
  }
  bool is(std::string_view s) const {
    return peek().kind != Token::kString && peek().text == s && peek().kind != Token::kEnd;
  }
  bool eat(std::string_view s) {
    if (!is(s)) return false;
    advance();
    return true;
  }
  void expect(std::string_view s) {
    if (!eat(s)) fail_at(fmt::format("expected '{}'", s));
  }
  std::string ident() {
    if (peek().kind != Token::kIdent) fail_at("expected a name");
    return advance().text;
  }
  int small_int() {
    if (peek().kind != Token::kNumber) fail_at("expected a number");
    return std::atoi(advance().text.c_str());
  }
  /// f until `close`, separated by commas.
  template <class F>
  void list_until(std::string_view close, F&& f) {
    if (eat(close)) return;
    while (ok()) {
      f();
      if (eat(close)) return;
      expect(",");
    }
  }

  // ---- names
  VarId bind(const std::string& name, Type t) {
    std::string hint = name;
    const size_t us = hint.find_last_of('_');
    if (us != std::string::npos && us != 0 && us + 1 < hint.size() &&
        hint.find_first_not_of("0123456789", us + 1) == std::string::npos) {
      hint.resize(us);
    }
    const VarId v = p_.new_var(std::move(t), hint);
    undo_.emplace_back(name, lookup(name));
    env_[name] = v;
    return v;
  }
  std::optional<VarId> lookup(const std::string& name) const {
    const auto it = env_.find(name);
    return it == env_.end() ? std::nullopt : std::optional(it->second);
  }
  void leave_scope(size_t mark) {
    while (undo_.size() > mark) {
      auto& [name, old] = undo_.back();
      if (old) {
        env_[name] = *old;
      } else {
        env_.erase(name);
      }
      undo_.pop_back();
    }
  }
  VarId var() {
    if (peek().kind == Token::kIdent) {
      if (auto v = lookup(peek().text)) {
        advance();
        return *v;
      }
    }
    fail_at("expected a variable in scope");
    return VarId{0};
  }
  /// name: type
  VarId binder() {
    const std::string name = ident();
    expect(":");
    return bind(name, type());
  }

  // ---- atoms and types
  PrimType prim() {
    if (const auto t = prim_from_name(peek().text)) {
      advance();
      return *t;
    }
    fail_at("expected a primitive type");
    return PrimType::kI32;
  }
  PrimValue number(const std::string& text, PrimType fallback) {
    const auto n = number_of(text, fallback);
    if (!n) fail_at("bad suffix of a number");
    return n.value_or(PrimValue{});
  }
  Atom atom() {
    if (peek().kind == Token::kNumber) return number(advance().text, PrimType::kI32);
    if (eat("true")) return PrimValue::of_bool(true);
    if (eat("false")) return PrimValue::of_bool(false);
    if (is("bits") && peek(1).text == "(") {
      advance();
      advance();
      const PrimType t = prim();
      expect(",");
      const PrimValue v{t, std::strtoull(advance().text.c_str(), nullptr, 16)};
      expect(")");
      return v;
    }
    return var();
  }
  std::vector<Atom> atoms_until(std::string_view close) {
    std::vector<Atom> out;
    list_until(close, [&] { out.push_back(atom()); });
    return out;
  }
  std::vector<VarId> vars_until(std::string_view close) {
    std::vector<VarId> out;
    list_until(close, [&] { out.push_back(var()); });
    return out;
  }
  Type type() {
    Type t;
    while (eat("[")) {
      if (peek().kind == Token::kNumber) {
        t.dims.push_back(number(advance().text, PrimType::kI64));
      } else if (size_vars_ && peek().kind == Token::kIdent && !lookup(peek().text)) {
        t.dims.push_back(bind(ident(), Type{PrimType::kI64, {}}));
      } else {
        t.dims.push_back(var());
      }
      expect("]");
    }
    t.prim = prim();
    return t;
  }

  // ---- structure
  void find_functions() {
    for (size_t i = 0; i + 1 < tokens_.size(); ++i) {
      if (tokens_[i].kind == Token::kIdent && tokens_[i].text == "fun") {
        functions_.emplace(tokens_[i + 1].text, FunId{static_cast<uint32_t>(functions_.size())});
      }
    }
    p_.functions.resize(functions_.size());
  }
  FunId function_named(const std::string& name) {
    const auto it = functions_.find(name);
    if (it != functions_.end()) return it->second;
    fail_at("unknown function " + name);
    return FunId{0};
  }

  void item() {
    if (eat("constants")) {
      p_.constants = body(/*keep_scope=*/true);
    } else if (eat("fun")) {
      function();
    } else if (eat("entry")) {
      std::string name = ident();
      expect("=");
      const FunId f = function_named(ident());
      p_.entries.push_back({std::move(name), f});
    } else if (eat("provenance")) {
      provenance();
    } else if (eat("stage")) {
      p_.stage = word("a stage", stage_from_name);
    } else if (eat("tune")) {
      tune_item();
    } else {
      fail_at("expected 'fun', 'entry', 'constants', 'provenance', 'stage' or 'tune'");
    }
  }

  /// One of the words that `from_name` knows.
  template <class E>
  E word(const char* what, std::optional<E> (*from_name)(std::string_view)) {
    const auto found = from_name(peek().text);
    if (!found) fail_at(fmt::format("expected {}", what));
    advance();
    return found.value_or(E{});
  }
  TuneId tune_named() {
    const std::string name = peek().kind == Token::kString ? advance().text : std::string();
    for (size_t i = 0; i < p_.tunes.size(); ++i) {
      if (p_.tunes[i].name == name) return TuneId{static_cast<uint32_t>(i)};
    }
    fail_at("expected the name of a parameter");
    return TuneId{0};
  }
  void tune_item() {
    Tune t;
    if (peek().kind != Token::kString) fail_at("expected a name in quotes");
    t.name = advance().text;
    t.cls = word("a class of parameters", tune_class_from_name);
    if (peek().kind == Token::kNumber) {
      t.fallback = number(advance().text, PrimType::kI64).as_i64();
    }
    if (eat("path")) {
      expect("{");
      list_until("}", [&] {
        const TuneId id = tune_named();
        expect("=");
        const bool taken = eat("true");
        if (!taken) expect("false");
        t.path.emplace_back(id, taken);
      });
    }
    p_.tunes.push_back(std::move(t));
  }

  void provenance() {
    small_int();  // its number: the position in the table
    Provenance pr;
    SourceFile file{advance().text, ""};
    if (!file.name.empty()) pr.range.file = std::make_shared<const SourceFile>(std::move(file));
    pr.range.begin.line = small_int();
    pr.range.begin.column = small_int();
    pr.range.end.line = small_int();
    pr.range.end.column = small_int();
    if (eat("@")) pr.caller = prov_id();
    p_.provenances.push_back(std::move(pr));
  }
  ProvId prov_id() {
    const int n = small_int();
    if (n < 0 || static_cast<size_t>(n) >= p_.provenances.size()) fail_at("unknown provenance");
    return ProvId{static_cast<uint32_t>(n)};
  }

  void function() {
    const size_t mark = undo_.size();
    Function f;
    f.name = ident();
    const FunId id = function_named(f.name);
    if (ok() && !p_.functions[id.index].name.empty()) fail_at(f.name + " is defined twice");
    expect("(");
    size_vars_ = true;
    list_until(")", [&] {
      const std::string name = ident();
      expect(":");
      f.consumed.push_back(eat("*"));
      f.params.push_back(bind(name, type()));
    });
    size_vars_ = false;
    expect("->");
    expect("(");
    list_until(")", [&] {
      if (peek().kind == Token::kIdent && peek(1).text == ":") {
        const std::string name = ident();
        expect(":");
        f.ret.push_back(type());
        f.ret_size_vars.push_back(bind(name, f.ret.back()));
      } else {
        f.ret.push_back(type());
      }
    });
    f.body = body();
    leave_scope(mark);
    if (ok()) p_.functions[id.index] = std::move(f);
  }

  Body body(bool keep_scope = false) {
    Body b;
    if (++depth_ > kMaxDepth) fail_at("nested too deeply");
    const size_t mark = undo_.size();
    expect("{");
    while (ok() && !is("return")) b.stms.push_back(stm());
    expect("return");
    b.results = atoms_until("}");
    if (!keep_scope) leave_scope(mark);
    --depth_;
    return b;
  }

  Lambda lambda() {
    const size_t mark = undo_.size();
    Lambda l;
    expect("\\");
    expect("(");
    list_until(")", [&] { l.params.push_back(binder()); });
    expect("->");
    expect("(");
    list_until(")", [&] { l.ret.push_back(type()); });
    l.body = body();
    leave_scope(mark);
    return l;
  }

  Stm stm() {
    Stm s;
    while (peek().kind == Token::kAttr) s.attrs.push_back(advance().text);
    expect("let");
    const auto placed_binder = [&] {
      s.pat.push_back(binder());
      if (!eat("in")) return;
      const VarId memory = var();
      expect("at");
      p_.vars[s.pat.back().index].place = Place{memory, atom()};
    };
    if (eat("(")) {
      list_until(")", placed_binder);
    } else {
      placed_binder();
    }
    expect("=");
    s.exp = exp();
    if (eat("cert")) {
      expect("{");
      s.certs = vars_until("}");
    }
    if (eat("@")) s.prov = prov_id();
    return s;
  }

  // ---- expressions
  Exp exp() {
    if (peek().kind == Token::kIdent && !lookup(peek().text)) {
      const std::string& name = peek().text;
      if (peek(1).text == "." && name != "iota") return scalar();
      if (name == "soac") return soac();
      if (name == "scatter") return scatter();
      if (name == "hist") return hist();
      if (name == "pack") return pack();
      if (name == "sort") return sort();
      if (name == "jvp") return jvp();
      if (name == "vjp") return vjp();
      if (name == "with_vjp") return with_vjp();
      if (name == "loop") return loop();
      if (name == "seg") return seg();
      if (name == "versions") return versions();
      if (eat("tune")) return ETune{tune_named()};
      if (auto e = array_exp()) return std::move(*e);
    }
    return EAtom{atom()};
  }

  Exp scalar() {
    EPrim e{};
    const auto op = scalar_op_from_name(peek().text);
    if (!op) fail_at("unknown scalar operation");
    advance();
    e.op = op.value_or(ScalarOp::kAdd);
    expect(".");
    e.type = prim();
    e.to = scalar_op_result(e.op, e.type, e.type);
    if (eat(".")) e.to = prim();
    expect("(");
    e.args = atoms_until(")");
    if (ok() && static_cast<int>(e.args.size()) != scalar_op_arity(e.op)) fail_at("wrong arity");
    return e;
  }

  std::optional<Exp> array_exp() {
    if (eat("index")) {
      const VarId a = var();
      return EIndex{a, dims()};
    }
    if (eat("update")) {
      const VarId a = var();
      auto ds = dims();
      expect("=");
      return EUpdate{a, std::move(ds), atom()};
    }
    if (eat("iota")) {
      expect(".");
      EIota e{};
      e.type = prim();
      expect("(");
      auto as = atoms_until(")");
      as.resize(3);
      return EIota{as[0], as[1], as[2], e.type};
    }
    if (eat("replicate")) {
      expect("[");
      auto ds = atoms_until("]");
      return EReplicate{std::move(ds), atom()};
    }
    if (eat("scratch")) {
      Type t = type();
      return EScratch{t.prim, std::move(t.dims)};
    }
    if (eat("array")) {
      Type t = type();
      expect("[");
      return EArrayLit{atoms_until("]"), std::move(t)};
    }
    if (eat("concat")) {
      expect("(");
      const Atom total = atom();
      expect(";");
      return EConcat{vars_until(")"), total};
    }
    if (eat("rearrange")) {
      ERearrange e;
      expect("(");
      list_until(")", [&] { e.perm.push_back(small_int()); });
      e.array = var();
      return e;
    }
    if (eat("reshape")) {
      expect("[");
      auto ds = atoms_until("]");
      return EReshape{std::move(ds), var()};
    }
    if (eat("copy")) return ECopy{var()};
    if (eat("assert")) return assertion();
    if (eat("call")) {
      const FunId f = function_named(ident());
      expect("(");
      return ECall{f, atoms_until(")")};
    }
    if (eat("if")) {
      EIf e;
      e.cond = atom();
      expect("then");
      e.then_body = body();
      expect("else");
      e.else_body = body();
      return e;
    }
    return std::nullopt;
  }

  Exp assertion() {
    EAssert e;
    expect("(");
    e.cond = atom();
    while (ok() && !eat(")")) {
      expect(",");
      if (peek().kind == Token::kString) {
        e.message.emplace_back(advance().text);
      } else {
        e.message.emplace_back(atom());
      }
    }
    return e;
  }

  std::vector<Dim> dims() {
    std::vector<Dim> out;
    expect("[");
    list_until("]", [&] {
      const Atom a = atom();
      if (!eat(":")) {
        out.push_back(DimFix{a});
        return;
      }
      DimRange r{a, atom(), {}};
      expect(":");
      r.stride = atom();
      out.push_back(r);
    });
    return out;
  }

  Exp loop() {
    const size_t mark = undo_.size();
    ELoop e;
    advance();
    expect("(");
    list_until(")", [&] {
      const VarId v = binder();
      const bool kept = eat("kept");
      expect("=");
      e.params.push_back({v, atom(), kept});
    });
    if (eat("for")) {
      LoopFor f;
      f.index = binder();
      expect("<");
      f.bound = atom();
      e.form = f;
    } else {
      expect("while");
      e.form = LoopWhile{var()};
    }
    expect("do");
    e.body = body();
    leave_scope(mark);
    return e;
  }

  void width_inputs(Atom& width, std::vector<VarId>& inputs) {
    advance();
    expect("(");
    width = atom();
    expect(";");
    inputs = vars_until(")");
    expect("map");
  }
  Monoid monoid() {
    Monoid m;
    m.commutative = eat("commutative");
    m.op = lambda();
    expect("{");
    m.neutral = atoms_until("}");
    return m;
  }
  Exp soac() {
    ESoac e;
    width_inputs(e.width, e.inputs);
    e.map = lambda();
    while (eat("scan")) e.scans.push_back(monoid());
    while (eat("reduce")) e.reduces.push_back(monoid());
    return e;
  }
  Exp scatter() {
    EScatter e;
    width_inputs(e.width, e.inputs);
    e.map = lambda();
    while (eat("into")) {
      EScatter::Dest d;
      d.array = var();
      expect("/");
      d.index_rank = small_int();
      e.dests.push_back(d);
    }
    return e;
  }
  Exp hist() {
    EHist e;
    width_inputs(e.width, e.inputs);
    e.map = lambda();
    while (eat("into")) {
      EHist::Op op;
      op.dests.push_back(var());
      while (eat(",")) op.dests.push_back(var());
      expect("/");
      op.index_rank = small_int();
      op.monoid = monoid();
      e.ops.push_back(std::move(op));
    }
    return e;
  }

  Exp pack() {
    EPack e;
    width_inputs(e.width, e.inputs);
    e.map = lambda();
    classes(e.classes, e.rest);
    return e;
  }
  Exp sort() {
    ESort e;
    width_inputs(e.width, e.inputs);
    e.map = lambda();
    return e;
  }
  void classes(int& n, bool& rest) {
    expect("classes");
    n = small_int();
    rest = eat("rest");
  }

  Exp jvp() {
    EJvp e;
    advance();
    expect("(");
    e.args = atoms_until(";");
    e.tangents = atoms_until(")");
    e.fun = lambda();
    return e;
  }
  Exp vjp() {
    EVjp e;
    advance();
    expect("(");
    e.args = atoms_until(";");
    e.adjoints = atoms_until(")");
    e.fun = lambda();
    return e;
  }
  Exp with_vjp() {
    EWithVjp e;
    advance();
    expect("(");
    e.args = atoms_until(")");
    e.fun = lambda();
    expect("adjoint");
    e.adjoint = lambda();
    return e;
  }

  SegMonoid seg_monoid() {
    SegMonoid m;
    m.op = monoid();
    if (eat("lifted")) {
      expect("[");
      m.lifted = atoms_until("]");
    }
    return m;
  }
  Exp seg() {
    const size_t mark = undo_.size();
    ESeg e;
    advance();
    e.kind = word("'map', 'reduce', 'scan', 'pack' or 'sort'", seg_kind_from_name);
    e.level = word("'device', 'group' or 'ingroup'", seg_level_from_name);
    expect("(");
    list_until(")", [&] {
      const VarId index = binder();
      expect("<");
      e.space.dims.push_back({index, atom()});
    });
    e.body = body();
    leave_scope(mark);
    if (e.kind == SegKind::kPack) classes(e.classes, e.rest);
    while (eat("by")) e.monoids.push_back(seg_monoid());
    while (eat("into")) {
      SegWrite w;
      w.dests.push_back(var());
      while (eat(",")) w.dests.push_back(var());
      expect("/");
      w.index_rank = small_int();
      if (eat("at")) w.segment_rank = small_int();
      if (eat("by")) w.combine = seg_monoid();
      e.writes.push_back(std::move(w));
    }
    return e;
  }
  Exp versions() {
    EVersions e;
    advance();
    while (peek().kind == Token::kString) {
      EVersions::Version v;
      v.name = advance().text;
      expect("when");
      v.test = atom();
      v.body = body();
      e.versions.push_back(std::move(v));
    }
    return e;
  }

  std::vector<Token> tokens_;
  size_t at_ = 0;
  int depth_ = 0;
  std::string error_;
  Program p_;
  bool size_vars_ = false;  // unknown dims of types are new size variables
  std::map<std::string, VarId> env_;
  std::vector<std::pair<std::string, std::optional<VarId>>> undo_;
  std::map<std::string, FunId> functions_;
};

}  // namespace

Result<Program> parse(std::string_view text) {
  KENAZ_ASSIGN(auto tokens, lex(text));
  return Parser(std::move(tokens)).run();
}

}  // namespace kenaz::ir
