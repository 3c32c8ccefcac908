// Evaluates FutharkScript against a running server.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "client/lib/connection.h"
#include "client/lib/temp_dir.h"
#include "client/script/expr.h"

namespace kenaz::script {

/// A variable of the server.
struct Remote {
  std::string name, type;
};
struct ScriptValue;
struct Tuple {
  std::vector<ScriptValue> parts;
};
struct Record {
  std::vector<std::pair<std::string, ScriptValue>> fields;
};
struct Sum {
  std::string constructor;
  std::vector<ScriptValue> payload;
};
/// Constants stay with the client until a function wants them.
struct ScriptValue {
  std::variant<Constant, Text, Remote, Tuple, Record, Sum> value;
};

/// The types of what the constructor of a sum type holds. Fails with kBadRequest if the type is no
/// sum type, or has no such constructor.
Result<std::vector<std::string>> payload_types(client::Connection& server, const std::string& type,
                                               const std::string& constructor);

/// The constant as a value of the type that is asked for, if it can be that.
Result<data::Value> as_type(const Constant& constant, const std::string& type);

class Interpreter {
 public:
  /// All must outlive the interpreter. Files are looked for in `folder`.
  Interpreter(client::Connection& server, const client::TempDir& scratch, std::string folder)
      : server_(server), scratch_(scratch), folder_(std::move(folder)) {}

  /// Evaluates the script and leaves its value in the variables `names`, of these types: a tuple
  /// is spread over several. Frees what it made on the way.
  Status run(const Expr& script, const std::vector<std::string>& names,
             const std::vector<std::string>& types);

 private:
  using Scope = std::map<std::string, ScriptValue>;

  Result<ScriptValue> eval(const Expr& e, const Scope& scope);
  Result<ScriptValue> apply(const Apply& call, const Scope& scope);
  Result<ScriptValue> call_entry(const std::string& entry, std::vector<ScriptValue> args);
  Result<ScriptValue> call_builtin(const std::string& name, const std::vector<ScriptValue>& args);
  Result<data::Value> load_image(const std::string& path);
  Result<ScriptValue> restore(const std::string& type, const std::string& path);
  Result<ScriptValue> field(const ScriptValue& record, const std::string& name);
  Result<std::vector<ScriptValue>> spread(const ScriptValue& value);
  /// A variable of the server that holds the value as this type.
  Result<std::string> remote(const ScriptValue& value, const std::string& type);
  Result<std::string> make_record(const std::vector<ScriptValue>& parts, const std::string& type);
  Result<std::string> make_sum(const Sum& sum, const std::string& type);
  Result<std::vector<ScriptValue>> eval_all(const std::vector<ExprPtr>& exprs, const Scope& scope);
  std::string fresh();

  client::Connection& server_;
  const client::TempDir& scratch_;
  std::string folder_;
  std::vector<std::string> made_;  // variables to free
};

}  // namespace kenaz::script
