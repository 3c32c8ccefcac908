// The table of entry points, and of the types that their callers know by name.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/futhark/check/env.h"
#include "kernels/futhark/check/reports.h"
#include "kernels/futhark/core/core.h"

namespace kenaz::check {

/// What entry points need of the program around them.
struct EntryContext {
  core::Checked& out;  // gets the entries and the types
  const std::vector<std::string>& tyvar_names;
  /// The type of this name in these surroundings, or null.
  std::function<const TypeBinding*(const syntax::QualName&, EnvRef)> find_type;
  Reports& reports;
};

class EntryPoints {
 public:
  explicit EntryPoints(EntryContext context) : context_(std::move(context)) {}
  /// Scalars are known by name whether or not an entry point has any.
  void add_prim_types();
  /// `def` is what `d` defines, with finished types; `env`: what is around it.
  void add(const syntax::DecVal& d, const syntax::Dec& dec, const core::Def& def, EnvRef env);

 private:
  struct Named {  // a type as written somewhere, or null
    const syntax::TypeExp* te = nullptr;
    EnvRef env;
  };
  void check_sizes(const syntax::DecVal& d, const core::Def& def);
  std::string entry_type(const core::TypePtr& t, Named named, const SourceRange& range);
  void entry_record(const core::TRecord& r, Named named, const SourceRange& range, ValueType& out);
  void entry_array(const core::TypePtr& t, Named named, const SourceRange& range, ValueType& out);
  void entry_sum(const core::TSum& s, Named named, const SourceRange& range, ValueType& out);
  void array_named(const core::TypePtr& t, const std::string& name, Named elem, int rank,
                   const SourceRange& range);
  void array_parts(const core::TypePtr& elem, Named source, const SourceRange& range,
                   ValueType& out);
  static Named field_source(Named root, const std::string& field);
  Named root_type(Named named);

  EntryContext context_;
};

}  // namespace kenaz::check
