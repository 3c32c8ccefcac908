#include "kernels/flatten/attributes.h"

#include <algorithm>
#include <string_view>

namespace kenaz::flatten {
namespace {

bool has(const ir::Stm& s, std::string_view attribute) {
  return std::find(s.attrs.begin(), s.attrs.end(), attribute) != s.attrs.end();
}

}  // namespace

bool asks_for_one_thread(const ir::Stm& s) { return has(s, "sequential"); }

bool asks_for_outer_only(const ir::Stm& s) { return has(s, "sequential_inner"); }

bool asks_for_all_levels(const ir::Stm& s) {
  return has(s, "flattening(only_inner)") || has(s, "incremental_flattening(only_inner)") ||
         has(s, "flattening(no_outer)") || has(s, "incremental_flattening(no_outer)") ||
         has(s, "flattening(only_intra)") || has(s, "incremental_flattening(only_intra)");
}

}  // namespace kenaz::flatten
