#include "kernels/flatten/attributes.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace kenaz::flatten {
namespace {

bool has(const ir::Stm& s, std::string_view attribute) {
  return std::find(s.attrs.begin(), s.attrs.end(), attribute) != s.attrs.end();
}

bool has_flattening(const ir::Stm& s, const std::string& what) {
  return has(s, "flattening(" + what + ")") || has(s, "incremental_flattening(" + what + ")");
}

}  // namespace

bool asks_for_one_thread(const ir::Stm& s) { return has(s, "sequential"); }

bool asks_for_outer_only(const ir::Stm& s) { return has(s, "sequential_inner"); }

bool asks_for_all_levels(const ir::Stm& s) {
  return has_flattening(s, "only_inner") || has_flattening(s, "no_outer") || asks_for_groups(s);
}

bool asks_for_groups(const ir::Stm& s) { return has_flattening(s, "only_intra"); }

bool asks_for_no_groups(const ir::Stm& s) { return has_flattening(s, "no_intra"); }

bool are_groups_offered(const ir::Stm& s) { return has(s, kGroupsOffered); }

bool may_have_groups(const ir::Stm& s) {
  return are_groups_offered(s) && !asks_for_no_groups(s) && !has_flattening(s, "only_inner");
}

}  // namespace kenaz::flatten
