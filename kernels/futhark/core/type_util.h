// Walking, comparing, substituting and printing types.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "kernels/futhark/core/core.h"

namespace kenaz::core {

TypePtr prim_type(PrimType p);
TypePtr array_type(Size dim, TypePtr elem);
/// A tuple: fields "0", "1", ..
TypePtr tuple_type(std::vector<TypePtr> elems);
/// Sorts the fields into type order (numbers by value, then names alphabetically).
TypePtr record_type(std::vector<std::pair<std::string, TypePtr>> fields);
TypePtr with_unique(const TypePtr& t, bool unique);
/// The order of record fields: numeric ones first, by number.
bool field_less(const std::string& a, const std::string& b);
bool is_tuple(const TRecord& r);

const TPrim* as_prim(const TypePtr& t);
bool is_prim(const TypePtr& t, PrimType p);
/// Element type below all array dimensions; `rank` (if given) is how many there were.
TypePtr row_type(TypePtr t, int* rank = nullptr);

/// A simultaneous substitution of type parameters and of size variables.
struct Subst {
  std::unordered_map<TyVarId, TypePtr> types;
  std::unordered_map<VarId, Size> sizes;
  bool empty() const { return types.empty() && sizes.empty(); }
};
/// Shares what does not change. A size expression of which a part becomes kAny is kAny.
TypePtr substitute(const TypePtr& t, const Subst& s);
Size substitute(const Size& size, const Subst& s);

/// The body of `a` with its parameters replaced by the arguments.
TypePtr expand_abstract(const TAbstract& a, const std::vector<AbstractType>& table);

/// Every abstract type replaced by what it stands for.
TypePtr look_through(const TypePtr& t, const std::vector<AbstractType>& table);

/// Size variables that occur free (bound ones are parameters and existentials of arrows).
void free_sizes(const TypePtr& t, std::unordered_set<VarId>& out);
void free_sizes(const Size& s, std::unordered_set<VarId>& out);
/// Whether the type arguments of abstract types are looked at.
enum class Abstract : uint8_t { kTransparent, kOpaque };
/// Variables that are a dimension by themselves, so that the shape of a value gives them.
void whole_sizes(const TypePtr& t, std::unordered_set<VarId>& out,
                 Abstract abstract = Abstract::kTransparent);
bool mentions_size(const TypePtr& t, VarId v);

/// Structural equality of sizes; kAny equals only kAny.
bool same_size(const Size& a, const Size& b);
bool same_size_exp(const ExpPtr& a, const ExpPtr& b);
/// An i64 constant, a variable or an expression, as a size. Anything else is kExp.
Size size_of_exp(const ExpPtr& e);
ExpPtr exp_of_size(const Size& s);  // not for kAny
bool contains_function(const TypePtr& t);
/// How large a size expression is, counted up to `limit`.
int size_nodes(const ExpPtr& e, int limit);

/// How names are printed; ids beyond the tables print as "?n".
struct Names {
  const std::vector<std::string>* vars = nullptr;
  const std::vector<std::string>* tyvars = nullptr;
  const std::vector<AbstractType>* abstract_types = nullptr;
  bool sizes = true;  // false: every dimension is "[]"
  bool metas = true;  // false: every type that is not known yet is "_"
  /// By AbstractId; where there is one that is not empty, it stands for the type's own name.
  const std::vector<std::string>* abstract_names = nullptr;
};
/// As Futhark writes it: "[n]i32", "(i32, bool)", "(n: i64) -> *[n]t", "#foo i32 | #bar".
std::string str(const TypePtr& t, const Names& names);
std::string str(const Size& s, const Names& names);

}  // namespace kenaz::core
