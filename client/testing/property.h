// Property tests: entry points that should give true for whatever they are given.
//
//   -- ==
//   -- property: reverse_twice
//   #[prop(gen(small), shrink(halve), size(10))]
//   entry reverse_twice (xs: []i32) = and (map2 (==) (reverse (reverse xs)) xs)
//
// Arguments, called candidates, are made by the generator (size: i64) -> (seed: u64) -> t, or at
// random by their type. One for which the property does not hold is made smaller, by the shrinker
// t -> (random: u64) -> t or by the same seed and smaller sizes, as long as that gives others.
// Reports, candidates of a seed and files left behind are those of `futhark test`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/lib/connection.h"
#include "client/lib/temp_dir.h"

namespace kenaz::testing {

struct PropertyOptions {
  int tests = 100;       // candidates per property
  int64_t size = 50;     // of candidates, where the attribute has none
  uint64_t seed = 0;     // the candidates of a property depend on it alone
  int shrink_tries = 5;  // a shrinker's, without success, before it is given up
};

struct Property {
  std::string name, type;           // of the entry point and its argument
  std::string generator, shrinker;  // entry points; empty: none
  std::optional<int64_t> size;
};

struct DeclaredProperties {
  std::vector<Property> properties;  // in the order of the names, as often
  std::vector<std::string> errors;   // declarations that are wrong; then there are no properties
};

/// Looks up the properties that a test block names, by the attributes of the program's entry
/// points. An entry point with the attribute that is not among the names is an error, too.
Result<DeclaredProperties> find_properties(client::Connection& server,
                                           const std::vector<std::string>& names);

/// Tests a property. Returns what is to be reported of it, or an empty string if it held for all
/// candidates. A counterexample is stored as PROGRAM_PROPERTY.counterexample (without .fut).
/// Fails if the server is gone, or did not answer in time: the message says with what it was busy.
Result<std::string> test_property(client::Connection& server, const client::TempDir& scratch,
                                  const Property& property, const PropertyOptions& options,
                                  const std::string& program);

/// Writes PROGRAM.prop_result, all reports.
Status write_property_reports(const std::string& program, const std::vector<std::string>& reports);

}  // namespace kenaz::testing
