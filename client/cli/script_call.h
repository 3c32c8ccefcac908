// What a person types in the shell instead of a command: calls of entry points, and values, in
// FutharkScript.
//
//   dot xs [1, 2, 3]    norm {x = 3, y = 4}    r.x    #circle {x = 1, y = 2} 5    (1, true)
#pragma once

#include <set>
#include <string>
#include <vector>

#include "client/lib/client.h"
#include "client/script/expr.h"

namespace kenaz::cli {

/// Records, tuples and sums have one of the program's types: that of a parameter, a type that is
/// given, or else the only one that fits.
class ScriptCall {
 public:
  /// Both must outlive it.
  ScriptCall(client::Client& client, const std::set<std::string>& entries)
      : client_(client), entries_(entries) {}

  /// Whether the text begins as a call of an entry point, a record, a tuple, a sum or a field of a
  /// variable do, and as no command does.
  bool is_expression(const std::string& text) const;
  /// Evaluates it into the variable `out`, which must not exist, as a value of the type; empty: of
  /// its own. Frees what it made on the way.
  Status run(const std::string& text, const std::string& type, const std::string& out);

 private:
  // These make a value of the type as the variable `out`; empty: under a name of theirs, which is
  // freed later. They return the name.
  Result<std::string> place(const script::Expr& e, const std::string& type, const std::string& out);
  Result<std::string> place(const script::Constant& constant, const std::string& type,
                            const std::string& out);
  Result<std::string> place(const script::Apply& apply, const std::string& out);
  Result<std::string> place(const script::TupleExpr& tuple, const std::string& type,
                            const std::string& out);
  Result<std::string> place(const script::RecordExpr& record, const std::string& type,
                            const std::string& out);
  Result<std::string> place(const script::Construct& sum, const std::string& type,
                            const std::string& out);
  Result<std::string> place(const script::Field& field, const std::string& out);
  /// By a command: its words, a name, more words, and the parts, which are placed before.
  Result<std::string> make(std::vector<std::string> words, const std::string& out,
                           const std::vector<std::string>& more,
                           const std::vector<const script::Expr*>& parts,
                           const std::vector<std::string>& types);

  /// The type that the value has by itself.
  Result<std::string> type_of(const script::Expr& e);
  /// The only type of the program that fits a record, a tuple or a sum.
  Result<std::string> only_type(const script::Expr& e);
  /// Whether it can be a value of the type; nothing is made for that.
  Result<bool> fits(const script::Expr& e, const std::string& type);
  Result<bool> fit(const std::vector<const script::Expr*>& parts,
                   const std::vector<std::string>& types);
  bool is_variable(const script::Expr& e) const;
  std::string fresh();

  client::Client& client_;
  const std::set<std::string>& entries_;
  std::vector<std::string> made_;
};

}  // namespace kenaz::cli
