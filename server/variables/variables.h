// A client's variables: values of the program's types, by name.
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

class Variables {
 public:
  /// Fails with "Unknown variable: NAME". The pointer is good until the next change.
  Result<const Variable*> find(const std::string& name) const;
  /// Fails with "Variable already exists: NAME".
  Status check_free(const std::string& name) const;
  /// The name must be free.
  void add(const std::string& name, Variable variable);
  /// Gives an existing variable another value.
  void replace(const std::string& name, Variable variable);
  Status remove(const std::string& name);
  Status rename(const std::string& from, const std::string& to);
  void clear() { by_name_.clear(); }

 private:
  std::unordered_map<std::string, Variable> by_name_;
};

}  // namespace kenaz
