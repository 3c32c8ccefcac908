// Values of any type in a server's variables: made at random, and printed for people.
#pragma once

#include <string>

#include "client/lib/connection.h"
#include "client/lib/temp_dir.h"
#include "client/testing/split_mix.h"

namespace kenaz::testing {

/// Neither takes over what it is given; both must outlive the object.
class Candidates {
 public:
  Candidates(client::Connection& server, const client::TempDir& scratch)
      : server_(&server), scratch_(&scratch) {}

  /// Makes the variable, which must not exist. Every dimension of an array is `size`; records are
  /// made of their fields, and what is neither number, array nor record by the entry point
  /// gen_TYPE (size: i64) (seed: u64). Kind kProgramFailure is the server's refusal.
  Status make(const std::string& variable, const std::string& type, int64_t size, uint64_t seed);

  /// Prints a variable of this type as Futhark would write it: {x = 1i32, y = (2i8, true)}.
  Result<std::string> print(const std::string& variable, const std::string& type);

  Status free(const std::string& variable);

 private:
  using Fields = std::vector<std::pair<std::string, std::string>>;

  Status make_part(const std::string& variable, const std::string& type, int64_t size,
                   SplitMix& random);
  Status make_fields(const std::string& command, const std::string& variable,
                     const std::string& type, const Fields& fields, int64_t size, SplitMix& random);
  /// Moves the dimensions of an array's type into `brackets`, those behind its names included.
  Status strip_dimensions(std::string& type, std::string& brackets);
  Status call_generator(const std::string& variable, const std::string& type, int64_t size,
                        SplitMix& random);
  Result<std::string> print_record(const std::string& variable, const Fields& fields);
  Result<std::string> print_sum(const std::string& variable, const std::string& type);
  Result<std::string> print_array(const std::string& variable, const std::string& type);
  Result<std::string> print_and_free(const std::string& variable, const std::string& type);

  client::Connection* server_;
  const client::TempDir* scratch_;
};

}  // namespace kenaz::testing
