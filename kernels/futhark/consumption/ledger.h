// What was used and what was consumed, in the order of evaluation, and what may be consumed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/diagnostics/diagnostic.h"
#include "kernels/futhark/consumption/aliases.h"

namespace kenaz::consumption {

struct Root {
  enum Kind : uint8_t { kLocal, kParameter, kLoopParameter, kConstant, kResult } kind = kLocal;
  std::string name;        // of the variable; of the function, for a result
  bool consumable = true;  // not for constants, and parameters whose type has no `*`
};

struct Consumption {
  RootId root = 0;
  SourceRange range;
  std::string by;        // the variable that was written there, or empty
  bool in_loop = false;  // as the initial value of a loop
};

struct Use {
  const std::string* variable;
  SourceRange range;
  AliasPtr aliases;
};

/// Where the walk over an expression stood.
struct Mark {
  size_t consumptions = 0, uses = 0;
  RootId next = 0;
};

/// The place, without the file's name if the reader is told that anyway.
std::string place(const SourceRange& range, const SourceRange& seen_from);

class Ledger {
 public:
  RootId add(Root root);
  /// From `first` on, roots are parts of one variable: whatever consumes one consumes all of them.
  void tie(RootId first);
  const Root& root(RootId id) const { return roots_[id].root; }

  /// Reports a use after consumption.
  void use(const std::string& variable, const SourceRange& range, const AliasPtr& aliases);
  /// Reports what is not consumable or was consumed before. `by` is the variable that is written
  /// at `range`, or empty.
  void consume(const Roots& roots, const SourceRange& range, const std::string& by,
               bool in_loop = false);
  bool is_consumed(RootId id) const { return roots_[id].consumed.has_value(); }
  bool is_consumable(RootId id) const { return id >= barrier_ && roots_[id].root.consumable; }

  Mark mark() const;
  /// Whether something that is older than the mark was consumed since.
  bool consumed_since(const Mark& mark) const;
  /// Forgets the consumptions since the mark, and returns them; `replay` has them again.
  std::vector<Consumption> rewind(const Mark& mark);
  void replay(const std::vector<Consumption>& consumptions);
  /// Older roots that were used since the mark.
  Roots used_since(const Mark& mark) const;
  /// Reports a use since the mark of what has been consumed by now: the body of a loop runs after
  /// the consumption of its initial values.
  void recheck_uses(const Mark& mark);

  /// From here on, nothing that is there already may be consumed: what follows may run many times,
  /// or later. Returns what `leave` needs.
  RootId enter();
  void leave(RootId before) { barrier_ = before; }

  /// "x" with its quotes, or `the result of applying "f"`.
  std::string describe(RootId id) const;
  /// Keeps the first report.
  void report(const SourceRange& range, std::string message, std::string anchor = "");
  bool failed() const { return error_.has_value(); }
  const std::optional<Diagnostic>& error() const { return error_; }

 private:
  struct State {
    Root root;
    RootId group_begin = 0, group_end = 0;
    std::optional<size_t> consumed;  // index into consumptions_
  };
  void report_use(const std::string& variable, const SourceRange& range, RootId root);
  void report_not_consumable(const SourceRange& range, const std::string& by, RootId root);

  std::vector<State> roots_;
  std::vector<Consumption> consumptions_;
  std::vector<Use> uses_;
  RootId barrier_ = 0;
  std::optional<Diagnostic> error_;
};

}  // namespace kenaz::consumption
