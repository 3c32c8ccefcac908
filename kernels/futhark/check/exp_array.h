// Indexing, slices, updates, ranges.
#pragma once

#include <string>
#include <vector>

#include "kernels/futhark/check/context.h"

namespace kenaz::check {

class Expressions;

/// A let-bound name.
struct Let {
  PatPtr pat;
  ExpPtr value;
};

class Arrays : private Part {
 public:
  /// Both must outlive this. `exps` checks the expressions inside, and may be made later.
  Arrays(Context& context, Expressions& exps) : Part(context), exps_(exps) {}

  /// The indexes and slices between brackets.
  std::vector<core::DimIndex> dim_indexes(const std::vector<syntax::DimIndex>& slice);
  ExpPtr index(ExpPtr array, std::vector<core::DimIndex> dims, const SourceRange& range);
  ExpPtr range_exp(const syntax::ERange& r, const SourceRange& range);

  // ---- paths: fields and indexes, one behind the other
  struct Step {
    bool is_field = false;
    std::string field;
    std::vector<core::DimIndex> dims;
  };
  /// `keep`: every index is used more than once, so it is bound to a name, which `lets` gets.
  std::vector<Step> path_steps(const std::vector<syntax::UpdateStep>& path, bool keep,
                               std::vector<Let>& lets);
  /// `source` with another value where `path` leads.
  ExpPtr update_path(ExpPtr source, const std::vector<syntax::UpdateStep>& path,
                     const syntax::Exp& value, const SourceRange& range);

 private:
  ExpPtr index_value(const syntax::Exp& e);
  TypePtr flexible_slices(const TypePtr& t, const std::vector<core::DimIndex>& dims);
  ExpPtr update_steps(const ExpPtr& source, const std::vector<Step>& steps, size_t at,
                      const syntax::Exp& value, const SourceRange& range);

  Expressions& exps_;
  TypePtr i64_ = core::prim_type(PrimType::kI64);
};

}  // namespace kenaz::check
