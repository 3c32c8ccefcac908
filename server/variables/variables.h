// A client's variables: values of the program's types, by name, within limits.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "protocol/base/result.h"
#include "server/host/engine.h"

namespace kenaz {

/// A value: its type and its leaves, in the type's order. Leaves are immutable and counted, so
/// copying a Variable copies no data and freeing one never invalidates another.
struct Variable {
  std::string type;
  std::vector<host::LeafPtr> leaves;
};

/// What one session may hold. Bytes are those of the values' elements; what variables share counts
/// once. 0: no limit.
struct VariableLimits {
  size_t variables = 0;
  int64_t bytes = 0;
};

class Variables {
 public:
  explicit Variables(VariableLimits limits = {}) : limits_(limits) {}

  /// Fails with "Unknown variable: NAME". The pointer is good until the next change.
  Result<const Variable*> find(const std::string& name) const;
  /// Fails with "Variable already exists: NAME".
  Status check_free(const std::string& name) const;
  /// Fails if `more` bytes would be too many, besides those that are there.
  Status check_room(int64_t more) const;
  /// The name must be free. kOutOfMemory if a limit would be passed.
  Status add(const std::string& name, Variable variable);
  /// Gives an existing variable another value; it keeps the one it has if a limit would be passed.
  Status replace(const std::string& name, Variable variable);
  Status remove(const std::string& name);
  Status rename(const std::string& from, const std::string& to);
  void clear();

  size_t count() const { return by_name_.size(); }
  int64_t bytes() const { return bytes_; }
  const std::unordered_map<std::string, Variable>& all() const { return by_name_; }

 private:
  void hold(const Variable& variable);
  void let_go(const Variable& variable);

  const VariableLimits limits_;
  std::unordered_map<std::string, Variable> by_name_;
  std::unordered_map<const host::Leaf*, int> uses_;
  int64_t bytes_ = 0;
};

}  // namespace kenaz
