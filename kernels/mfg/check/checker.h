// The walk from syntax to core. Inside this folder, what is wrong with a program is thrown
// (Rejected, syntax/token.h); `check` catches it.
//
// By file: names (scopes), exp (expressions), operators, functions (calls, builtins.def), reads
// (tensors, samplers, methods), loops, statements (blocks, what changes local tensors), filter
// (items of the top level).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "kernels/diagnostics/source_reader.h"
#include "kernels/mfg/check/core.h"
#include "kernels/mfg/check/strings.h"
#include "kernels/mfg/syntax/ast.h"
#include "kernels/mfg/syntax/token.h"

namespace kenaz::mfg {

enum class Coord : uint8_t { kPixel, kNearest, kLinear };
struct Sampler {
  TensorId tensor;
  bool none = true;  // address .None
  CExpPtr border;    // null: ClampToEdge, unless `none`
  Coord coord = Coord::kPixel;
};
struct SymFunction {
  const Function* function;
  bool of_prelude;
};
struct Symbol {
  std::variant<CExpPtr, TensorId, Sampler, SymFunction> what;
  SourceRange range;
};

/// Arguments with splats taken apart.
struct CArg {
  std::string name;  // empty: by position
  SourceRange range;
  CExpPtr value;  // null if `ast` is a range or an enum
  const Exp* ast = nullptr;
};

class Checker {
 public:
  Checker(const SourceReader& read, std::string path) : read_(read), path_(std::move(path)) {}
  CFilter run(const Filter& filter);

 private:
  // ---- names.cc
  void open() { scopes_.emplace_back(); }
  void close() { scopes_.pop_back(); }
  const Symbol* find(const std::string& name) const;
  const Symbol& need(const Name& name);
  void declare(const Name& name, Symbol symbol);
  /// A new variable, declared unless its name is "_".
  VarId declare_var(const Name& name, const Type& type);
  VarId new_var(std::string name, Type type);
  [[noreturn]] void no_such_name(const Name& name) const;
  TensorId tensor_named(const TensorName& name);
  TensorId input(int depth, int layer);

  // ---- making expressions
  CExpPtr make(Type type, const SourceRange& range, decltype(CExp::node) node);
  CExpPtr constant(PrimValue v, const SourceRange& range);
  CExpPtr i32(int32_t v, const SourceRange& r) { return constant(PrimValue::i32(v), r); }
  CExpPtr f32(float v, const SourceRange& r) { return constant(PrimValue::f32(v), r); }
  CExpPtr var(VarId v, const SourceRange& range);
  /// One that may be used several times: its value is computed in the statements before.
  CExpPtr bind(CExpPtr e);
  CExpPtr pick(const CExpPtr& e, std::vector<int> indices, const SourceRange& range);
  /// Component k, or the scalar itself.
  CExpPtr component(const CExpPtr& e, size_t k);
  CExpPtr convert(CExpPtr e, const Type& to);
  CExpPtr tuple(std::vector<CExpPtr> parts, const SourceRange& range);
  CExpPtr prim(ScalarOp op, std::vector<CExpPtr> args, const SourceRange& range);
  CExpPtr select(CExpPtr cond, CExpPtr a, CExpPtr b, const SourceRange& range);
  CExpPtr logic(ScalarOp op, std::vector<CExpPtr> args, const SourceRange& range);
  /// The value of one that is known now.
  std::optional<PrimValue> known(const CExpPtr& e) const;

  // ---- exp.cc
  CExpPtr exp(const Exp& e);
  CExpPtr on(const ENumber& n, const SourceRange& range) { return constant(n.value, range); }
  CExpPtr on(const EName& n, const SourceRange& range);
  CExpPtr on(const ETuple& t, const SourceRange& range);
  CExpPtr on(const EUnary& u, const SourceRange& range);
  CExpPtr on(const EBinary& b, const SourceRange& range);
  CExpPtr on(const ECall& c, const SourceRange& range);
  CExpPtr on(const EPick& p, const SourceRange& range);
  CExpPtr on(const EMethod& m, const SourceRange& range);
  CExpPtr on(const EHole& h, const SourceRange& range);
  CExpPtr on(const EPipe& p, const SourceRange& range);
  CExpPtr on(const ERange& r, const SourceRange& range);
  CExpPtr on(const EEnum& e, const SourceRange& range);
  CExpPtr on(const ESampler& s, const SourceRange& range);
  CExpPtr on(const EReduce& r, const SourceRange& range);
  std::vector<CArg> arguments(const std::vector<Arg>& args);
  /// The values by position; no names, ranges or enums.
  std::vector<CExpPtr> values(const std::vector<CArg>& args, std::string_view of);

  // ---- operators.cc
  CExpPtr arithmetic(const std::string& op, CExpPtr a, CExpPtr b, const SourceRange& range);
  CExpPtr power(const CExpPtr& a, const CExpPtr& b, const SourceRange& range);
  /// Both operands as the operation takes them, converted; `result` is the type that they meet in.
  void meet(std::string_view op, CExpPtr& a, CExpPtr& b, Type& result, const SourceRange& range);

  // ---- functions.cc
  CExpPtr call(const Name& callee, const std::vector<CArg>& args, const SourceRange& range);
  CExpPtr inlined(const SymFunction& f, const Name& callee, std::vector<CExpPtr> args,
                  const SourceRange& range);
  CExpPtr inlined_body(const SymFunction& f, const std::vector<CExpPtr>& args,
                       const SourceRange& range);
  CExpPtr builtin(const Name& callee, std::vector<CExpPtr> args, const SourceRange& range,
                  bool& found);
  CExpPtr ifel(std::vector<CExpPtr> args, const SourceRange& range);
  CExpPtr most(ScalarOp op, const Name& callee, std::vector<CExpPtr> args,
               const SourceRange& range);
  CExpPtr pairwise(ScalarOp op, const Name& callee, std::vector<CExpPtr> args, bool integers,
                   const SourceRange& range);
  CExpPtr all_or_any(const Name& callee, std::vector<CExpPtr> args, const SourceRange& range);
  CExpPtr dot(std::vector<CExpPtr> args, const SourceRange& range);
  CExpPtr to_ncoord(std::vector<CExpPtr> args, const SourceRange& range);
  CExpPtr canvas_color(const std::string& name, const SourceRange& range);
  /// Those of the colours that were called, behind the program's own.
  void color_parameters();
  void count_arguments(std::string_view callee, size_t have, size_t want, const SourceRange& range);
  std::vector<std::string> builtin_names() const;
  bool is_builtin(const std::string& name) const;

  // ---- reads.cc
  CExpPtr read(TensorId tensor, const std::vector<CExpPtr>& at, const SourceRange& range);
  CExpPtr sample(const Sampler& s, std::vector<CExpPtr> at, const SourceRange& range);
  CExpPtr sample_pixel(const Sampler& s, std::vector<CExpPtr> at, const SourceRange& range);
  CExpPtr sample_linear(const Sampler& s, const std::vector<CExpPtr>& at, const SourceRange& range);
  CExpPtr extent(TensorId tensor, int dim, const SourceRange& range);
  CExpPtr extents(TensorId t, const std::vector<CExpPtr>& args, bool floats,
                  const SourceRange& range);
  CExpPtr is_inside(TensorId t, const std::vector<CExpPtr>& at, const SourceRange& range);
  std::vector<CExpPtr> coordinates(TensorId t, std::vector<CExpPtr> at, const SourceRange& range);
  Sampler sampler(const ESampler& s, const SourceRange& range);

  // ---- loops.cc
  CExpPtr loop(const ECall& c, const SourceRange& range);
  CExpPtr tensor_sum(TensorId t, const Block& block, const SourceRange& range);
  /// The tensor reduction; the indices and result type of its block.
  CReduce reduction(const EReduce& r, int& dim, const SourceRange& range);
  std::vector<CRange> ranges(const std::vector<CArg>& args, std::string_view of);
  /// Declares a block's parameters, which must be as many.
  std::vector<VarId> parameters(const Block& block, const std::vector<Type>& types,
                                std::string_view of);
  /// The parameters are declared; the result has type `want` if that is given.
  CBody body(const Block& block, const Type* want, std::string_view of);

  // ---- statements.cc
  void statements(const Block& block);
  void statement(const Stm& s);
  void let(const SLet& s, const SourceRange& range);
  void local_tensor(const TensorDef& d, const SourceRange& range);
  void update(const SUpdate& s, const SourceRange& range);
  void trans(const STrans& s, const SourceRange& range);
  void for_each(const SForEach& s, const SourceRange& range);
  TensorId changeable(const TensorName& name);
  int dim_argument(std::vector<CArg>& args, TensorId t, std::string_view of,
                   const SourceRange& range);
  std::vector<int64_t> constant_bounds(const TensorDef& d);
  void literal(const TensorDef& d, TensorInfo::Kind kind, const SourceRange& range);
  TensorId new_tensor(TensorInfo info, const Name& name);
  void emit(const SourceRange& range, decltype(CStm::node) node) {
    sink_->push_back({range, std::move(node)});
  }

  // ---- filter.cc
  void item(const Item& item);
  void global_tensor(const TensorDef& d, const SourceRange& range);
  void result_tensor(const TensorDef& d, const SourceRange& range);
  void widget(const Widget& w);
  std::vector<PrimValue> widget_values(const Widget& w, const std::vector<PrimValue>& values,
                                       const SourceRange& range, const Type& type);
  void define_function(const Function& f);
  void load_prelude();
  std::string text_of(const Text& text);
  /// Those of strings.json, which is read when the first of them, at `range`, is asked for.
  const Texts& texts(const SourceRange& range);

  const SourceReader& read_;
  std::string path_;
  CFilter out_;
  Filter prelude_;
  std::vector<std::unordered_map<std::string, Symbol>> scopes_;  // [0] prelude, [1] globals
  size_t base_ = 0;        // scopes between the globals and this one are out of sight
  size_t changeable_ = 0;  // local tensors of this scope and those inside may be changed
  std::vector<CStm>* sink_ = nullptr;
  std::vector<CExpPtr> holes_;                  // left sides of pipes
  std::vector<TensorId> defining_;              // innermost last
  std::vector<const Function*> calls_;          // being inlined
  std::unordered_map<uint32_t, CExpPtr> lets_;  // by VarId
  std::map<std::pair<int, int>, TensorId> inputs_;
  std::map<std::string, VarId> colors_;
  std::optional<Texts> texts_;  // nullopt: not read yet
  bool in_prelude_ = false;
  int nesting_ = 0;
  size_t size_ = 0;
};

}  // namespace kenaz::mfg
