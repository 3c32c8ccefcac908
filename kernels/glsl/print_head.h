// What stands at the beginning of a kernel's text: extensions, types of memory accesses.
#pragma once

#include <set>
#include <string>

#include "kernels/kir/kir.h"

namespace kenaz::glsl {

/// The type of a local variable: "int64_t", "bool", "vec4", ..
std::string glsl_type(kir::Type t);
/// The type of an element in device or shared memory. Bools take a byte.
PrimType memory_type(PrimType t);

/// Collects what the rest of the text needs.
class Head {
 public:
  /// The name of the type of references to one element or vector in device memory. `coherent`:
  /// accesses are visible to the whole device.
  std::string reference(kir::Type memory, bool coherent = false);
  /// "GL_..", which is required from now on.
  void need_extension(const std::string& name) { extensions_.insert(name); }
  /// References to a word that changes while the kernel runs.
  void need_stop_word() { stop_word_ = true; }

  /// The kernel may write to the failure record.
  void note_failure() { may_fail_ = true; }
  bool may_fail() const { return may_fail_; }

  /// The version, the extensions and the declarations of reference types.
  std::string text() const;

 private:
  struct Reference {
    PrimType prim;
    int lanes;
    bool coherent;
    friend auto operator<=>(const Reference&, const Reference&) = default;
  };
  std::set<std::string> extensions_;
  std::set<Reference> references_;
  bool stop_word_ = false, may_fail_ = false;
};

}  // namespace kenaz::glsl
