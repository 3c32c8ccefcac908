// The variables of inference and what is known of them: types that are to be found ("metas"), the
// names and sizes of the program, type parameters, abstract types. Nothing here compares types or
// sizes: Sizes and Inference do, and write down here what follows.
//
// A type or size that inference works with may mention variables that are solved by now. `resolve`
// looks through them at the top, `zonk` everywhere.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernels/futhark/check/open_sizes.h"
#include "kernels/futhark/check/reports.h"
#include "kernels/futhark/check/type_mask.h"
#include "kernels/futhark/core/core.h"
#include "kernels/futhark/core/type_util.h"
#include "kernels/futhark/syntax/ast.h"

namespace kenaz::check {

using core::ExpPtr;
using core::PatPtr;
using core::Size;
using core::TypePtr;
using core::TyVarId;
using core::VarId;

inline constexpr int kMaxSizeNodes = 64;  // of a size expression; larger ones are forgotten

/// A type that is to be found.
struct Meta {
  TypePtr solution;  // null: none yet
  TypeMask mask = kMaskAny;
  int level = 0;
  std::map<std::string, TypePtr> fields;                     // must be a record with these
  std::map<std::string, std::vector<TypePtr>> constructors;  // must be a sum with these
  SourceRange range;
  bool regular = false;  // instance of a type parameter whose values all have the same sizes
};

inline constexpr int kNoParameter = std::numeric_limits<int>::max();

/// A name in the program, or a size.
struct Var {
  bool flex = false, solved = false;
  bool unborn = false;  // existential in the result of a function being compared: solves nothing
  bool param = false;   // a size parameter of a definition: never existential
  bool named = false;   // a name in the program; the others are sizes that values turn out to have
  int level = 0;        // of nesting: a variable of an inner level is no solution for an outer one
  Size solution;
  std::vector<Size> joined;  // the sizes that differing branches had
  /// What a size with a name of its own is equal to: a rigid variable all the same, so that the
  /// name stays in types, but compared as this. kAny: nothing is known.
  Size means;
  bool absorbs = false;  // existential in a function type that a type variable stands for: any size
  bool vague = false;    // known to be equal to something, but not to what: any size
  bool dependent = false;  // existential, but means something of what the caller knows
  /// Of a dependent one, the last parameter on whose value it depends: 0 is the function's last
  /// one.
  int on_parameter = kNoParameter;
  bool per_call = false;     // vague, and not the same in all calls of the function
  bool outside = false;      // made in a function, but of what is known outside of it
  bool loop = false;         // of a loop's variable
  bool of_function = false;  // of a parameter of a function that is a parameter: any size
  bool gives_size = false;   // the name of a function that returns one of its size parameters
  bool shape_only = false;   // of a type that only says which constructors and fields there are
  bool binder = false;  // of `let [n]`, in the pattern: means the first size it is compared with
  std::string origin;   // of a size that is not known: "size that f returned", for messages
  SourceRange range;    // where that is
};

/// One top-level definition, or a type or module type outside of definitions.
struct Frame {
  int level = 0;                     // of nesting in functions, branches, loops
  std::vector<OpenSize> open_sizes;  // to be determined
  std::vector<VarId> computed;       // names of sizes that are expressions
};

enum class Zonk { kKeep /* unsolved stay */, kFinal };

/// The type, of those in a closed mask, that is taken where nothing says which.
PrimType default_of(TypeMask mask);

/// The literal, or the placeholder of one whose type was to be found, as a value of `type`.
PrimValue literal_as(const PrimValue& v, PrimType type);
/// What is known of a type that is to be found, in words: "a numeric type", "_".
std::string describe(const Meta& meta);

class Variables {
 public:
  /// Names of variables and abstract types are added to `program`, by nobody else. Both arguments
  /// must outlive this.
  Variables(core::Checked& program, Reports& reports) : program_(program), reports_(reports) {}
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;

  // ---- the definition that is being checked
  /// Makes `frame` current: variables that are made from now on belong to it, at its level. Returns
  /// the one before, to be made current again.
  Frame* enter(Frame* frame) { return std::exchange(frame_, frame); }
  /// Of the current frame; to be counted up and down around what is nested.
  int& level() { return frame_->level; }
  /// The size is an error at the end of the definition if nothing has determined it by then.
  void determine(VarId size, OpenSize::Kind kind, const SourceRange& range, VarId of = {});

  /// The variable is the name of an expression, which its `means` says, and which is finished with
  /// the definition.
  void add_computed(VarId v) { frame_->computed.push_back(v); }

  // ---- new ones
  VarId new_var(const std::string& name);
  /// A size of a value that is known only when the value is. For messages it is "the `origin`".
  VarId new_unknown(const std::string& origin, const SourceRange& range);
  /// A size that is to be found.
  VarId new_flex(const std::string& name = "n");
  TypePtr new_meta(TypeMask mask = kMaskAny, bool regular = false);
  TyVarId new_tyvar(const std::string& name,
                    syntax::Liftedness lifted = syntax::Liftedness::kUnlifted);
  core::AbstractId new_abstract(core::AbstractType type, syntax::Liftedness lifted);
  /// The index that the next variable gets: what has a smaller one was made before.
  uint32_t next_var() const { return static_cast<uint32_t>(vars_.size()); }

  // ---- what is known of one. References are valid until the next one is made.
  Var& operator[](VarId v) { return vars_[v.index]; }
  const Var& operator[](VarId v) const { return vars_[v.index]; }
  Meta& operator[](core::MetaId m) { return metas_[m.index]; }
  const std::string& name(VarId v) const { return program_.var_names[v.index]; }
  const std::string& name(TyVarId t) const { return tyvar_names_[t.index]; }
  /// Makes the name of a size different from another one that stands in the same message.
  void mark(VarId v) { program_.var_names[v.index] += "'"; }
  /// For messages: the type is `full`, "m.t". One that a module has from another keeps the name
  /// that it has there.
  void name_abstract(core::AbstractId id, const std::string& full);
  syntax::Liftedness lifted(TyVarId t) const { return tyvar_lifted_[t.index]; }
  syntax::Liftedness lifted(core::AbstractId a) const { return abstract_lifted_[a.index]; }
  int level(TyVarId t) const { return tyvar_level_[t.index]; }
  /// The largest level of a type parameter.
  int deepest_tyvar() const { return deepest_tyvar_; }
  /// What an argument for this type parameter may be.
  TypeMask instance_mask(TyVarId t) const;
  /// For printing types and sizes. Follows as names are added.
  core::Names names() const;
  /// By AbstractId, as far as known, and empty otherwise.
  const std::vector<std::string>& abstract_names() const { return abstract_names_; }

  // ---- types and sizes in which variables have been solved
  /// `t` itself or, if it is a solved meta, its solution, which is none.
  TypePtr resolve(TypePtr t);
  Size resolve(const Size& s);
  /// What a size is, for comparisons: names that are equal to something replaced by it. `depth`
  /// bounds the recursion.
  Size meaning(const Size& s, int depth = 0);
  /// Solved variables replaced everywhere. kFinal: unsolved ones, too, metas by `default_meta` and
  /// sizes by any size.
  TypePtr zonk(const TypePtr& t, Zonk mode);
  Size zonk(const Size& s, Zonk mode);
  /// Solves a meta that nothing has determined, and returns the solution. Reports an error if no
  /// type is as good as another.
  TypePtr default_meta(core::MetaId id);
  /// `t` with every size outside function types replaced by f(size), from left to right.
  TypePtr map_dims(const TypePtr& t, const std::function<Size(const Size&)>& f);
  /// `t` with every size outside function types replaced by one that is to be found.
  TypePtr fresh_dims(const TypePtr& t);
  /// What is known of a branch's type from outside, null if nothing is: `t` with sizes that are
  /// whatever the branch has.
  TypePtr branch_hint(const TypePtr& t);
  /// Adds the metas of `t` to `out`, each once.
  void unsolved_metas(const TypePtr& t, std::vector<core::MetaId>& out);
  bool contains_meta(const TypePtr& t);
  /// The sizes in `t` that are to be found, in the order in which they were made.
  std::vector<VarId> unsolved_flex(const TypePtr& t);
  /// Whether values of this type might be functions, or have sizes that differ.
  syntax::Liftedness liftedness(const TypePtr& t);

 private:
  ExpPtr zonk_instances(const ExpPtr& e, Zonk mode);

  core::Checked& program_;
  Reports& reports_;
  std::vector<Var> vars_;  // by VarId, like program_.var_names
  std::vector<Meta> metas_;
  std::vector<std::string> tyvar_names_;
  std::vector<syntax::Liftedness> tyvar_lifted_;     // like tyvar_names_, by TyVarId
  std::vector<int> tyvar_level_;                     // likewise, as that of Var
  int deepest_tyvar_ = 0;                            // the largest of these
  std::vector<syntax::Liftedness> abstract_lifted_;  // by AbstractId
  std::vector<std::string> abstract_names_;          // likewise, as far as known: "m.t"
  Frame outermost_;
  Frame* frame_ = &outermost_;
};

}  // namespace kenaz::check
