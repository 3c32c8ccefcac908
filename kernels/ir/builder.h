// Building array IR: a Builder appends statements to one body, inventing variables. Scalar
// operations are simplified on the way (algebra.h), so that size arithmetic stays readable.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kernels/ir/ir.h"

namespace kenaz::ir {

class Builder {
 public:
  /// Appends to `body`, which (like `program`) must outlive the builder and stay in place. Every
  /// statement gets `prov` and the current certs.
  Builder(Program& program, Body& body, ProvId prov = {})
      : program_(program), body_(body), prov_(prov) {}

  Program& program() { return program_; }
  Body& body() { return body_; }
  const Body& body() const { return body_; }
  ProvId prov() const { return prov_; }
  /// Of the following statements.
  void set_prov(ProvId prov) { prov_ = prov; }
  /// Listed in every following statement.
  std::vector<VarId>& certs() { return certs_; }
  /// A builder on another body with the same provenance and certs.
  Builder nested(Body& body) const;

  // ---- any statement. The types are those of the pattern.
  VarId emit(Exp exp, Type type, std::string name = "t");
  std::vector<VarId> emit(Exp exp, const std::vector<Type>& types, const std::string& name = "t");
  void emit_to(std::vector<VarId> pat, Exp exp);
  Stm& last() { return body_.stms.back(); }

  // ---- scalars; the operands' type is that of the first operand (of the second for kSelect)
  Atom prim(ScalarOp op, std::vector<Atom> args, std::string name = "t");
  Atom convert(Atom a, PrimType to, std::string name = "t");  // nothing if it has that type
  Atom add(Atom a, Atom b) { return prim(ScalarOp::kAdd, {a, b}); }
  Atom sub(Atom a, Atom b) { return prim(ScalarOp::kSub, {a, b}); }
  Atom mul(Atom a, Atom b) { return prim(ScalarOp::kMul, {a, b}); }
  Atom quot(Atom a, Atom b) { return prim(ScalarOp::kQuot, {a, b}); }
  Atom rem(Atom a, Atom b) { return prim(ScalarOp::kRem, {a, b}); }
  Atom min(Atom a, Atom b) { return prim(ScalarOp::kMin, {a, b}); }
  Atom max(Atom a, Atom b) { return prim(ScalarOp::kMax, {a, b}); }
  Atom eq(Atom a, Atom b) { return prim(ScalarOp::kEq, {a, b}); }
  Atom lt(Atom a, Atom b) { return prim(ScalarOp::kLt, {a, b}); }
  Atom le(Atom a, Atom b) { return prim(ScalarOp::kLe, {a, b}); }
  Atom logical_and(Atom a, Atom b) { return prim(ScalarOp::kAnd, {a, b}); }
  Atom select(Atom cond, Atom a, Atom b) { return prim(ScalarOp::kSelect, {cond, a, b}); }
  /// i64 products and sums; 1 and 0 if empty.
  Atom product(std::span<const Atom> atoms);
  Atom sum(std::span<const Atom> atoms);
  /// 0 <= i < n at i64.
  Atom in_bounds(Atom i, Atom n);

  // ---- arrays
  /// Fixes the leading dims: a scalar or the row at these indices.
  Atom index(VarId array, std::span<const Atom> indices, std::string name = "x");
  /// Any mix of fixed dims and ranges, one per dim of the array.
  VarId slice(VarId array, std::vector<Dim> dims, std::string name = "slice");
  VarId update(VarId array, std::vector<Dim> dims, Atom value, std::string name = "upd");
  /// Of what index() takes.
  VarId update_at(VarId array, std::span<const Atom> indices, Atom value, std::string name = "upd");
  VarId iota(Atom n, std::string name = "iota");  // i64, from 0 by 1
  VarId replicate(std::vector<Atom> dims, Atom value, std::string name = "rep");
  VarId rearrange(std::vector<int> perm, VarId array, std::string name = "perm");
  VarId reshape(std::vector<Atom> dims, VarId array, std::string name = "resh");
  VarId copy(VarId array, std::string name = "copy");

  // ---- with bodies
  using BodyFn = std::function<std::vector<Atom>(Builder&)>;
  using LambdaFn = std::function<std::vector<Atom>(Builder&, const std::vector<VarId>&)>;
  Body make_body(const BodyFn& fn);
  Lambda lambda(const std::vector<Type>& params, const LambdaFn& fn, std::vector<Type> ret);
  /// As above; result types are those of the results, which must be in scope outside.
  Lambda lambda(const std::vector<Type>& params, const LambdaFn& fn);
  std::vector<VarId> if_(Atom cond, const BodyFn& then_fn, const BodyFn& else_fn,
                         const std::vector<Type>& types, const std::string& name = "if");
  /// A map without scans and reductions: arrays of width ++ result types.
  std::vector<VarId> map(Atom width, std::vector<VarId> inputs, Lambda lambda,
                         const std::string& name = "map");

  // ---- segmented operations
  /// The body of an ESeg: what it returns is the body's results. Gets the indices.
  using SegFn = std::function<std::vector<Atom>(Builder&, const std::vector<VarId>&)>;
  /// A space of these sizes, with new indices.
  SegSpace space(const std::vector<Atom>& sizes);
  /// `e` with a body made by `fn`; binds what seg.h says, of types that follow from the body's
  /// results (whose sizes must be known outside).
  std::vector<VarId> seg(ESeg e, const SegFn& fn, const std::string& name = "seg");
  /// A map over these sizes, by threads of the device.
  std::vector<VarId> seg_map(const std::vector<Atom>& sizes, const SegFn& fn,
                             const std::string& name = "seg");

 private:
  Program& program_;
  Body& body_;
  ProvId prov_;
  std::vector<VarId> certs_;
};

/// The types of what an ESeg binds, given the program with its body's results.
std::vector<Type> seg_types(const Program& p, const ESeg& e);
/// The type of an array of `width` values of type `t`, and back.
Type array_of(Atom width, const Type& t);
Type row_type(const Type& t);
/// Of an index or slice that fixes the leading dims and takes all of the others.
std::vector<Dim> row_dims(const Type& t, const std::vector<Atom>& index);
/// Whether it fixes all dims: what is left is a scalar.
bool all_fixed(std::span<const Dim> dims);
/// The dims that an index or slice leaves over.
std::vector<Atom> slice_dims(std::span<const Dim> dims);

}  // namespace kenaz::ir
