// What is known of elements by a few of their bits: the classes in which places put them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "kernels/ir/analysis/element_terms.h"

namespace kenaz::passes {

/// Bits of an element: a word, of which the lowest are taken, or a truth value.
struct Decider {
  ir::TermId term;
  uint64_t values;  // 0 <= value < values
};

/// A number of elements less one or so: so many elements of each flag up to this one, and of all.
struct Place {
  int64_t constant = 0;
  std::map<ir::TermId, int64_t> prefixes, totals;  // by flag
  int64_t number = 0, width = 0;
  bool is_constant() const {
    return prefixes.empty() && totals.empty() && number == 0 && width == 0;
  }
  void add(const Place& other, int64_t times) {
    constant += times * other.constant;
    number += times * other.number;
    width += times * other.width;
    for (const auto& [flag, n] : other.prefixes) bump(prefixes, flag, times * n);
    for (const auto& [flag, n] : other.totals) bump(totals, flag, times * n);
  }
  /// Far from what 64 bits hold.
  bool is_small() const;
  static void bump(std::map<ir::TermId, int64_t>& all, ir::TermId flag, int64_t by) {
    if ((all[flag] += by) == 0) all.erase(flag);
  }
};

/// What the values of a few bits of an element come to. A place is a number of elements of which
/// each counts once, if at all. So places that are computed in 32 bits are right for fewer than
/// 2^31 elements; more have an array of counts that no device has room for.
class Classes {
 public:
  Classes(ir::Terms& terms, ir::Atom width) : terms_(terms), width_(std::move(width)) {}

  /// Whether the elements whose places these are form classes in an order.
  bool find(ir::TermId place);
  /// Whether the number is known for every value: then those are the classes.
  bool find_number(ir::TermId number);

  /// Of find_number: what is not from 0 to last - 1 becomes `last`.
  void put_others_into(int last);

  const std::vector<Decider>& deciders() const { return deciders_; }
  /// Of every value that the deciders have together.
  const std::vector<int>& classes() const { return classes_; }
  int count() const;
  /// The values of the deciders one by one; the last one's differ first.
  std::vector<uint64_t> values(size_t number) const;

 private:
  using Counts = std::vector<int64_t>;  // by value

  bool decide(ir::TermId t);
  /// Notes the deciders that the term hangs on. False if it hangs on elements otherwise.
  bool collect(ir::TermId t);
  bool collect_flag(ir::TermId flag);
  bool collect_prim(ir::TermId t, const ir::TermPrim& e);
  /// Of a word of which some lowest bits are taken; else 0.
  uint64_t values_of(const ir::TermPrim& e) const;
  bool hangs_on_element(ir::TermId t) const;
  /// From now on the deciders have the values that the number stands for.
  void take(size_t number);
  /// False if one of them is neither 0 nor 1.
  bool evaluate_flags();
  std::optional<Place> evaluate(ir::TermId t);
  std::optional<Place> make(ir::TermId t);
  std::optional<Place> make_prim(const ir::TermPrim& e);
  /// How often an element of each value counts, by the flags that it has, and `each` for all.
  Counts counted(const std::map<ir::TermId, int64_t>& flags, int64_t each) const;
  /// Of elements, each of which counts once, or of one less or more.
  bool is_number(const Place& p) const;
  /// A class is those values whose elements count each other up to their own, and all of lower
  /// classes.
  bool order(const std::vector<Place>& places);

  ir::Terms& terms_;
  const ir::Atom width_;
  std::vector<Decider> deciders_;
  std::set<ir::TermId> seen_, rejected_;
  std::map<ir::TermId, uint64_t> values_;  // of the deciders
  std::map<ir::TermId, std::optional<Place>> found_;
  std::map<ir::TermId, Counts> flags_;
  size_t count_ = 1;  // of values
  std::vector<int> classes_;
};

}  // namespace kenaz::passes
