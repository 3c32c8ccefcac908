// Names as the program defines and uses them. What they mean is noted for editors, if somebody
// wants to know: while the program is checked, and made text when the check ends.
#pragma once

#include <string>
#include <vector>

#include "kernels/futhark/check/infer.h"
#include "kernels/futhark/check/lookup.h"
#include "kernels/futhark/check/record.h"
#include "kernels/futhark/check/scope.h"
#include "kernels/futhark/check/variables.h"

namespace kenaz::check {

class Naming {
 public:
  /// All must outlive this.
  Naming(Scopes& scopes, Lookup& lookup, Inference& infer, Variables& vars, Reports& reports)
      : scopes_(scopes), lookup_(lookup), infer_(infer), vars_(vars), reports_(reports) {}
  Naming(const Naming&) = delete;
  Naming& operator=(const Naming&) = delete;

  /// To be called before the check: notes what names mean in `record`, which must outlive this.
  void note_in(Record& record) { record_ = &record; }
  /// To be called when the check has ended: makes the record's index.
  void finish();

  // ---- uses. As Lookup finds them; null: unknown
  ValBinding* find_value(const syntax::QualName& name, size_t* used);
  TypeBinding* find_type(const syntax::QualName& name);
  ModBinding* find_mod(const syntax::QualName& name);
  ModTypeBinding* find_mod_type(const syntax::QualName& name);

  // ---- definitions
  /// The name is at `range`, and means this.
  void seen(const SourceRange& range, const std::string& name, const Meaning& meaning);
  /// Adds a local name where names are looked up. Without `range` there is no place in the program
  /// for it.
  void local_value(const std::string& name, VarId var, TypePtr type, const SourceRange& range = {});
  void local_type(const std::string& name, TyVarId id, const SourceRange& range = {});

 private:
  Index index();
  /// The first `modules` words of a name are modules, the next one is this; null: it is unknown.
  void seen_path(const syntax::QualName& name, size_t modules, const Meaning& meaning);
  Symbol symbol_of(const std::string& name, const Meaning& meaning);
  std::string scheme_text(const Scheme& s);
  // Names that could stand where an editor wants to know them.
  void take_names(const std::vector<std::string>& quals);
  void take_env(const Env& env, uint32_t stamp, bool outside);
  void take_fields(const syntax::QualName& record);
  void take_name(const std::string& name, const Meaning& meaning);

  Scopes& scopes_;
  Lookup& lookup_;
  Inference& infer_;
  Variables& vars_;
  Reports& reports_;
  Record* record_ = nullptr;  // null: nobody wants to know what names mean
};

}  // namespace kenaz::check
