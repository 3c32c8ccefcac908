// One entry point of a running server, called as the cases of test blocks ask.
#pragma once

#include <string>
#include <vector>

#include "client/lib/connection.h"
#include "client/lib/temp_dir.h"
#include "client/testing/spec.h"

namespace kenaz::testing {

/// The path of a data file that a program names.
std::string beside(const std::string& program, const std::string& file);

/// The results that a case states, as values or in a file (so not NoExpectation, AutoOutput or
/// RuntimeError).
Result<std::vector<data::Value>> stated_results(const Expected& expected,
                                                const std::string& program);
/// Tells the server of the tuning file beside its program, PROGRAM.tuning, if there is one.
void add_tuning_file(client::ServerOptions& server);

/// The arguments live in the server's variables in0, in1, ..., the result in out. The connection
/// must outlive the callee.
class Callee {
 public:
  static Result<Callee> look_up(client::Connection& server, const std::string& entry);

  const std::vector<client::EntryParam>& inputs() const { return inputs_; }
  const client::EntryParam& output() const { return output_; }
  bool consumes() const;

  /// Makes the inputs. `program` is the path of the program that has the test block.
  Status load(const Input& input, const std::string& program, const client::TempDir& scratch) const;
  /// Microseconds, as the server measured them.
  Result<int64_t> call() const;
  struct Called {
    int64_t microseconds = 0;
    std::vector<std::string> log;  // what else the server said: with --log, what it did
  };
  Result<Called> call_logged() const;
  Status free_inputs() const;

 private:
  Callee(client::Connection& server, std::string entry)
      : server_(&server), entry_(std::move(entry)) {}
  std::vector<std::string> input_names() const;
  Status check_types(const std::vector<std::string>& given) const;
  Status load_random(const RandomInput& input, const client::TempDir& scratch) const;
  Status load_script(const Script& input, const std::string& program,
                     const client::TempDir& scratch) const;
  Status load_file(std::string file, const client::TempDir& scratch) const;

  client::Connection* server_;
  std::string entry_;
  std::vector<client::EntryParam> inputs_;
  client::EntryParam output_;
};

}  // namespace kenaz::testing
