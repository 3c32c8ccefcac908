// Builds IR bodies: nested scopes of statements, provenance, and scalar operations with constant
// folding and local value numbering (so that equal sizes become the same variable).
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernels/ir/ir.h"

namespace kenaz::lower {

class Builder {
 public:
  explicit Builder(ir::Program& program);

  ir::Program& program() { return program_; }

  // ---- scopes. The outermost one is the body of the top-level constants and never closes.
  void open();
  std::vector<ir::Stm> close();
  int depth() const { return static_cast<int>(scopes_.size()); }
  std::vector<ir::Stm>& statements() { return scopes_.back().stms; }
  std::vector<ir::Stm> take_constants() { return std::move(scopes_.front().stms); }
  /// Whether an atom may be used at the current place.
  bool in_scope(const ir::Atom& a) const;

  /// Sets all but the outermost scope (constants) aside; leave_constants brings them back.
  void enter_constants() { set_aside(false); }
  void leave_constants();
  /// The same for a function; what stands in the scopes set aside may be used, and then becomes
  /// parameters of it.
  void enter_function() { set_aside(true); }
  /// Whether the variable belongs to the top-level constants.
  bool is_constant(ir::VarId v) const { return scope_of_[v.index] == 0; }

  /// While one lives, code goes to (and in_scope is asked for) the scope around the current one.
  class Outside {
   public:
    explicit Outside(Builder& b);
    ~Outside();
    Outside(const Outside&) = delete;
    Outside& operator=(const Outside&) = delete;
    std::vector<ir::Stm>& inner_statements();

   private:
    Builder& b_;
  };
  /// Moves the computation of scalar `v` out of the innermost set-aside scope into the current one,
  /// with what it needs, which is scalar too unless `arrays`. False (and nothing happens) if it
  /// depends on what cannot move. Only while an Outside lives. The scope is run `width` times; if
  /// that is none, the checks that have moved hold, except where an array is read under their
  /// protection.
  bool hoist(ir::VarId v, const ir::Atom& width, bool arrays);

  // ---- statements
  ir::VarId var(ir::Type type, const std::string& name);
  void emit(std::vector<ir::VarId> pat, ir::Exp exp, std::vector<ir::VarId> certs = {});
  /// Binds the expression to one new variable.
  ir::VarId let(ir::Type type, ir::Exp exp, const std::string& name,
                std::vector<ir::VarId> certs = {});
  /// Like let, in front of the whole of what is being emitted for the current function or constant:
  /// outside of all lambdas, loops and branches. The expression uses no variables.
  ir::VarId let_outermost(ir::Type type, ir::Exp exp, const std::string& name);

  ir::Atom prim(ScalarOp op, PrimType type, std::vector<ir::Atom> args,
                const std::vector<ir::VarId>& certs = {});
  ir::Atom convert(ScalarOp op, PrimType from, PrimType to, ir::Atom arg);
  ir::Atom add(ir::Atom a, ir::Atom b) { return prim(ScalarOp::kAdd, PrimType::kI64, {a, b}); }
  ir::Atom sub(ir::Atom a, ir::Atom b) { return prim(ScalarOp::kSub, PrimType::kI64, {a, b}); }
  ir::Atom mul(ir::Atom a, ir::Atom b) { return prim(ScalarOp::kMul, PrimType::kI64, {a, b}); }
  ir::Atom eq(ir::Atom a, ir::Atom b) { return prim(ScalarOp::kEq, PrimType::kI64, {a, b}); }
  ir::Atom lt(ir::Atom a, ir::Atom b) { return prim(ScalarOp::kLt, PrimType::kI64, {a, b}); }
  ir::Atom le(ir::Atom a, ir::Atom b) { return prim(ScalarOp::kLe, PrimType::kI64, {a, b}); }
  ir::Atom both(ir::Atom a, ir::Atom b) { return prim(ScalarOp::kAnd, PrimType::kBool, {a, b}); }
  ir::Atom either(ir::Atom a, ir::Atom b) { return prim(ScalarOp::kOr, PrimType::kBool, {a, b}); }
  ir::Atom negate(ir::Atom a) { return prim(ScalarOp::kNot, PrimType::kBool, {a}); }
  ir::Atom select(PrimType t, ir::Atom c, ir::Atom a, ir::Atom b) {
    return prim(ScalarOp::kSelect, t, {c, a, b});
  }

  const ir::Type& type_of(ir::VarId v) const { return program_.type_of(v); }
  ir::Type type_of(const ir::Atom& a) const { return program_.type_of(a); }

  /// Whether `a` was bound to just this part of `array`, earlier in the current scope.
  bool is_view(const ir::Atom& a, ir::VarId array, const std::vector<ir::Dim>& dims) const;

  // ---- what emitted statements carry
  void set_place(const SourceRange* range, ir::ProvId caller);
  const SourceRange* range() const { return range_; }
  ir::ProvId caller() const { return caller_; }
  /// Provenance of the current place.
  ir::ProvId prov();
  std::vector<std::string>& attrs() { return attrs_; }
  size_t statement_count() const { return count_; }

 private:
  struct Scope {
    uint32_t id;
    std::vector<ir::Stm> stms;
  };
  /// Operator and types, then per operand its type (or that it is a variable) and bits.
  using Key = std::array<uint64_t, 7>;
  struct KeyHash {
    size_t operator()(const Key& k) const;
  };
  static Key key(ScalarOp op, PrimType t, PrimType to, const std::vector<ir::Atom>& args);
  ir::Atom numbered(ScalarOp op, PrimType t, PrimType to, std::vector<ir::Atom> args,
                    const std::vector<ir::VarId>& certs);
  void set_aside(bool visible);
  bool movable(ir::VarId v, bool arrays, std::vector<int>& order, int fuel);

  ir::Program& program_;
  std::vector<Scope> scopes_;
  std::vector<Scope> aside_;                // scopes that Outside put aside
  std::vector<std::vector<Scope>> stacks_;  // set aside by enter_constants
  std::vector<bool> open_;                  // by scope id
  std::vector<uint32_t> scope_of_;          // by VarId
  std::unordered_map<Key, ir::VarId, KeyHash> numbers_;
  const SourceRange* range_ = nullptr;
  ir::ProvId caller_;
  ir::ProvId prov_;
  bool prov_valid_ = false;
  std::vector<std::string> attrs_;
  size_t count_ = 0;
};

/// The variables that an expression mentions at its top level (bodies of lambdas excluded); false
/// if it has bodies.
bool operands(const ir::Exp& exp, std::vector<ir::Atom>& out);

}  // namespace kenaz::lower
