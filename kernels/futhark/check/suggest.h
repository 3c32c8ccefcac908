// What may have been meant where a name is unknown or a type does not fit: lines for the end of a
// message, each with a line end before it, or an empty text. Nothing here changes what the checker
// knows, except that it may look into modules of the prelude that nobody has used yet.
#pragma once

#include <string>
#include <vector>

#include "kernels/futhark/check/file_state.h"
#include "kernels/futhark/check/lookup.h"
#include "kernels/futhark/check/variables.h"

namespace kenaz::check {

class Hints {
 public:
  /// All must outlive this.
  Hints(const Scopes& scopes, Lookup& lookup, Variables& vars, const Reports& reports,
        const FileStates& files)
      : scopes_(scopes), lookup_(lookup), vars_(vars), reports_(reports), files_(files) {}

  /// `used`: how many words of the name were looked up, the last of which is unknown.
  std::string suggest_value(const syntax::QualName& name, size_t used);
  std::string suggest_type(const syntax::QualName& name);
  std::string suggest_module(const std::string& name);
  /// For `value.field`, where the value is no record.
  std::string suggest_function(const std::string& field, const TypePtr& type,
                               const std::string& value);
  /// For an argument that does not have the type that it should. `next`: the argument after it, or
  /// null.
  std::string suggest_argument(const std::string& fun, const TypePtr& expected,
                               const TypePtr& actual, const syntax::Exp& arg,
                               const syntax::Exp* next);
  /// A conversion, or the arguments that are missing.
  std::string suggest_value_of_type(const TypePtr& expected, const TypePtr& actual,
                                    const syntax::Exp& source);

 private:
  template <class T>
  std::vector<std::string> names_in_scope(NameMap<T> Env::*map) const;
  std::vector<std::string> modules_with(const std::string& name);
  std::string defined_below(const syntax::QualName& name) const;

  const Scopes& scopes_;
  Lookup& lookup_;
  Variables& vars_;
  const Reports& reports_;
  const FileStates& files_;
};

/// For a field that a record does not have.
std::string suggest_field(const std::string& field, const core::TRecord& record);

}  // namespace kenaz::check
