#include "kernels/futhark/check/open_sizes.h"

#include <algorithm>

namespace kenaz::check {

namespace {

std::string quoted(const std::string& name) { return "\"" + name + "\""; }

std::string message(const OpenSize& s, const std::vector<std::string>& names) {
  const std::string size = "Ambiguous size " + quoted(names[s.size.index]);
  const std::string of = s.of.valid() ? quoted(names[s.of.index]) : "this operation";
  switch (s.kind) {
    case OpenSize::kInstance:
      return size + " arising from instantiated size parameter of " + of +
             ":\nneither the use as function argument of what it is applied to nor its result says "
             "what the size is.\nHint: write the type of the argument, with its sizes.";
    case OpenSize::kAscription:
      return size +
             " arising from explicit type ascription: it leaves a size open that the value does "
             "not have.\nHint: write the size between the brackets.";
    case OpenSize::kCoercion:
      return size +
             " arising from size coercion: nothing says what the value's own size is.\n"
             "Hint: write the type of the value, with its sizes, and coerce it then.";
    case OpenSize::kBinder:
      return size + ".\nThe value that is bound here has no array of which this would be the size.";
    case OpenSize::kLoop:
      return size + ".\nNothing says what the size is that the loop's body returns.";
    case OpenSize::kScope: break;
  }
  return "Causality check: size " + of +
         " needed for type of a parameter, or of another value that is made before the\nexpression "
         "here, which computes it.\nHint: bind this expression with \"let\" beforehand.";
}

}  // namespace

std::optional<Diagnostic> first_open(const std::vector<OpenSize>& sizes,
                                     const std::function<bool(const OpenSize&)>& open,
                                     const std::vector<std::string>& names) {
  const auto found = std::find_if(sizes.begin(), sizes.end(), open);
  if (found == sizes.end()) return std::nullopt;
  Diagnostic out{Severity::kError, found->range, message(*found, names), "", {}};
  out.code = "size";
  out.anchor = found->kind == OpenSize::kScope ? "causality-check" : "ambiguous-size";
  return out;
}

}  // namespace kenaz::check
