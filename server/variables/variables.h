// A client's variables: values of the program's types, by name, within limits.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "protocol/base/result.h"
#include "server/client_memory.h"
#include "server/host/engine.h"
#include "server/variables/types.h"

namespace kenaz {

/// A value: its type and its leaves, in the type's order. Leaves are immutable and counted, so
/// copying a Variable copies no data and freeing one never invalidates another.
struct Variable {
  std::string type;  // one of `types`
  std::vector<host::LeafPtr> leaves;
  TypesPtr types;  // those of the program that made it, as it was then
};

/// Whether the value may be used as one of the type `wanted` of `types`.
bool has_type(const Variable& v, const std::string& wanted, const ProgramTypes& types);
/// The variable's type, for a message that says that another one is wanted.
std::string type_text(const Variable& v, const std::string& wanted, const ProgramTypes& types);

/// What one session may hold. Bytes are those of the values' elements; what variables share counts
/// once. 0: no limit.
struct VariableLimits {
  size_t variables = 0;
  int64_t bytes = 0;
};

class Variables {
 public:
  /// `memory`: where names and leaves are counted as host memory; may be null.
  explicit Variables(VariableLimits limits = {}, std::shared_ptr<ClientMemory> memory = nullptr)
      : limits_(limits), host_bytes_(std::move(memory), ClientMemory::Use::kKept) {}

  /// Fails with "Unknown variable: NAME". The pointer is good until the next change.
  Result<const Variable*> find(const std::string& name) const;
  /// Longer names are refused, since nothing else counts their bytes.
  static constexpr size_t kMaxName = 1024;
  /// Fails with "Variable already exists: NAME".
  Status check_free(const std::string& name) const;
  /// Fails if `more` bytes would be too many, besides those that are there, lent or reserved.
  Status check_room(int64_t more);
  /// The name must be free. kOutOfMemory if a limit would be passed.
  Status add(const std::string& name, Variable variable);
  /// Gives an existing variable another value; it keeps the one it has if a limit would be passed.
  Status replace(const std::string& name, Variable variable);
  /// All variables have, in place of the leaves that they have, what `to` says of these; it must
  /// know all. No limit is looked at: values stay as large as they are.
  using Exchange = std::unordered_map<const host::Leaf*, host::LeafPtr>;
  void exchange(const Exchange& to);
  Status remove(const std::string& name);
  Status rename(const std::string& from, const std::string& to);
  void clear();

  /// As long as what is returned lives, these leaves count, whether variables have them or not.
  /// It must go before the leaves do. By any thread.
  std::shared_ptr<void> lend(const std::vector<host::LeafPtr>& leaves);
  /// As long as what is returned lives, so many bytes count. At most those that are left do.
  std::shared_ptr<void> reserve(int64_t bytes);
  /// Bytes that may be added; -1 if there is no limit.
  int64_t room();

  size_t count() const { return by_name_.size(); }
  int64_t bytes() const { return bytes_; }
  const std::unordered_map<std::string, Variable>& all() const { return by_name_; }

 private:
  struct Loan {
    std::weak_ptr<void> holder;
    std::vector<std::pair<const host::Leaf*, int64_t>> leaves;  // with their bytes
    int64_t bytes = 0;                                          // reserved
  };
  void hold(const Variable& variable);
  void let_go(const Variable& variable);
  void let_go(const host::Leaf* leaf, int64_t bytes);
  /// Those whose holders are gone.
  void end_loans();

  const VariableLimits limits_;
  MemoryShare host_bytes_;
  std::unordered_map<std::string, Variable> by_name_;
  std::unordered_map<const host::Leaf*, int> uses_;
  std::vector<Loan> loans_;
  int64_t bytes_ = 0;
};

}  // namespace kenaz
