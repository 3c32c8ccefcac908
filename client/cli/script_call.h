// What a person types in the shell instead of a command: calls of entry points, with numbers,
// arrays, variables and other calls as arguments, in FutharkScript.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "client/lib/client.h"
#include "client/script/expr.h"

namespace kenaz::cli {

class ScriptCall {
 public:
  /// Both must outlive it.
  ScriptCall(client::Client& client, const std::set<std::string>& entries)
      : client_(client), entries_(entries) {}

  /// Whether the text begins with an entry point's name.
  bool is_call(const std::string& text) const;
  /// Evaluates it into the variable `out`, which must not exist. Frees what it made on the way.
  Status run(const std::string& text, const std::string& out);

 private:
  Status call(const script::Apply& call, const std::string& out);
  /// The variable that holds the value of an argument of this type.
  Result<std::string> place(const script::Expr& argument, const std::string& type);
  std::string fresh();

  client::Client& client_;
  const std::set<std::string>& entries_;
  std::vector<std::string> made_;
};

}  // namespace kenaz::cli
