// The walk over a definition. Files: expressions.cc, applications.cc, functions.cc, loops.cc.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "kernels/futhark/consumption/ledger.h"
#include "kernels/futhark/core/core.h"
#include "kernels/futhark/core/type_util.h"

namespace kenaz::consumption {

using core::ExpPtr;
using core::PatPtr;
using core::VarId;

/// What an expression's value is. `function`: its type, if it is a function and the uniqueness of
/// its results had to be found out; null if the type of the expression says it.
struct Value {
  AliasPtr aliases;
  TypePtr function;
};

class Pass {
 public:
  explicit Pass(const core::Names& names) : names_(names) {}
  Value walk(const ExpPtr& e);
  Ledger& ledger() { return ledger_; }
  std::string type_text(const TypePtr& t) const { return core::str(t, names_); }

 private:
  // ---- expressions.cc
  const std::string& name(VarId v) const { return (*names_.vars)[v.index]; }
  VarId written_variable(const ExpPtr& e) const;
  std::string written_name(const ExpPtr& e) const;
  void bind(const core::Pat& p, const Value& value);
  void bind_name(VarId v, const TypePtr& type, const Value& value, const Root& root);
  void contains_no_consumption(const ExpPtr& e, const Mark& before, const char* what);
  Value node(const ExpPtr& e);
  Value variable(const core::EVar& v, const ExpPtr& e);
  Value constructor(const core::EConstr& c, const ExpPtr& e);
  Value record(const core::ERecord& r, const ExpPtr& e);
  struct UpdatePath;
  UpdatePath update_path(const ExpPtr& e);
  static AliasPtr replace_part(const AliasPtr& a, const TypePtr& type,
                               const std::vector<size_t>& fields, size_t at, const AliasPtr& by);
  Value update(const ExpPtr& e);
  void consume_target(const Roots& target, const Value& value, const UpdatePath& path,
                      const std::string& variable);
  Value index(const core::EIndex& i, const ExpPtr& e);
  void indexes(const std::vector<core::DimIndex>& dims);
  Value branches(const core::EIf& i);
  Value match(const core::EMatch& m);
  Value merge_branches(const std::vector<Value>& values, const Mark& before,
                       const std::vector<std::vector<Consumption>>& consumed);

  // ---- applications.cc
  struct Argument {
    ExpPtr exp;
    const core::TArrow* arrow = nullptr;  // of which it is the argument; null if not known
    Value value;
  };
  Value apply(const core::EApply& a, const ExpPtr& e);
  void argument(std::vector<Argument>& args, size_t at, const std::vector<size_t>& before);
  /// The roots of a value of which a part is consumed. Reports parts that share one.
  Roots distinct_parts(const ExpPtr& e, const AliasPtr& aliases);
  void consume_argument(const Argument& arg, const std::vector<Argument>& args,
                        const std::vector<size_t>& before);
  Value result(const TypePtr& type, const TypePtr& flags, const Value& function,
               const std::vector<Argument>& args, const std::string& name);
  std::string function_name(const ExpPtr& e) const;

  // ---- functions.cc
  Value function(const core::ELambda& f, const ExpPtr& e);
  Value local_definition(const core::ELetDef& l);
  void bind_parameter(const core::Pat& p, bool consumable);
  void check_declared_result(const TypePtr& type, const AliasPtr& a, const SourceRange& range);
  TypePtr infer_result(const TypePtr& type, const Value& value);
  void check_no_constants(const AliasPtr& result, const SourceRange& range);

  // ---- loops.cc
  struct LoopParam {
    std::string name;
    Roots roots;
    AliasPtr init, next;
    bool unique = false;  // declared so
    bool consumed = false;
  };
  using LoopParams = std::unordered_map<VarId, LoopParam>;
  Value loop(const core::ELoop& l, const ExpPtr& e);
  void loop_params(const core::Pat& p, const AliasPtr& init, LoopParams& out,
                   std::vector<VarId>& order);
  void loop_next(const core::Pat& p, const AliasPtr& next, LoopParams& out);
  void find_consumed(LoopParams& params, const std::vector<VarId>& order);
  void check_next(const LoopParams& params, const std::vector<VarId>& order, RootId inside,
                  const SourceRange& range);
  AliasPtr loop_result(const core::Pat& p, const AliasPtr& init, const AliasPtr& next,
                       const LoopParams& params);

  const core::Names& names_;
  Ledger ledger_;
  std::unordered_map<VarId, Value> vars_;  // those of the definition, and constants that it uses
};

}  // namespace kenaz::consumption
