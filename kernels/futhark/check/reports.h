// What the checker has to say of a program: errors and warnings.
//
// The first error of a declaration is kept. After it every function of the checker still returns
// something well-formed, but nothing that follows in the declaration is reported; then `recover`
// puts the error aside, and checking goes on with the next declaration. recover.cc says what
// becomes of the names that such a declaration declares.
#pragma once

#include <string>
#include <vector>

#include "kernels/diagnostics/diagnostic.h"
#include "kernels/futhark/check/guards.h"
#include "kernels/futhark/check/warnings.h"

namespace kenaz::check {

inline constexpr size_t kMaxErrors = 20;  // that are reported of one program

class Reports {
 public:
  // ---- the declaration that is being checked
  /// Does nothing if this declaration has failed: what follows an error is not to be trusted.
  void error(const SourceRange& range, std::string message, std::string anchor = "");
  void error(Diagnostic d);
  /// This declaration uses what has an error of its own: it ends without one.
  void abandon();
  /// Whether this declaration has an error, or was abandoned.
  bool failed() const { return !errors_.empty() || abandoned_; }
  /// The error of this declaration, for additions to its message; null: it has none. Valid until
  /// the next call of anything here.
  Diagnostic* current() { return errors_.empty() ? nullptr : &errors_.back(); }
  /// Ends this declaration: puts its error aside. Returns whether it had failed.
  bool recover();
  /// Like `recover`, but drops the error: it is known already.
  void forget();

  // ---- the program
  /// For an error that says nothing about the types of what follows: checking goes on.
  void later(const SourceRange& range, std::string message);
  void later(Diagnostic d);
  /// How many errors have been put aside.
  size_t put_aside() const { return put_aside_.size(); }
  /// All errors, in the order of the text, the files in the order in which they were met; at most
  /// kMaxErrors.
  std::vector<Diagnostic> errors() const;

  // ---- warnings
  /// Of text that is not the user's, and while a Quiet lives, nothing is added.
  void warn(Warning kind, const SourceRange& range, const std::string& part = "");
  /// Whether this is the user's own text, and not looked at for one of its uses.
  bool is_written(const SourceRange& range) const;
  std::vector<Diagnostic> warnings() const { return warnings_.sorted(); }
  /// As long as one lives, text is looked at for one of its uses: a module type for a module that
  /// is matched, a parametric module for its argument. What can be said of the text itself has been
  /// said elsewhere.
  class Quiet {
   public:
    explicit Quiet(Reports& reports, bool quiet = true)
        : restore_(reports.quiet_, reports.quiet_ || quiet) {}

   private:
    Restore<bool> restore_;
  };

 private:
  std::vector<Diagnostic> errors_;     // of this declaration: one at most
  std::vector<Diagnostic> put_aside_;  // of declarations before it
  std::vector<Diagnostic> late_;       // found after a definition's types were right
  bool abandoned_ = false;
  bool quiet_ = false;
  Warnings warnings_;
};

}  // namespace kenaz::check
