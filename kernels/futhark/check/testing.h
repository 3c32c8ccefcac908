// For tests: checks programs that are given as text.
#pragma once

#include <gmock/gmock.h>

#include <map>
#include <string>

#include "kernels/futhark/check/check.h"
#include "kernels/futhark/core/type_util.h"
#include "kernels/futhark/core/validate.h"

namespace kenaz::check {

using Files = std::map<std::string, std::string>;

inline Result<core::Checked> check_files(Files files) {
  return check_program("main.fut", [files](const std::string& path) -> Result<std::string> {
    auto it = files.find(path);
    if (it == files.end()) return fail(ErrorKind::kNoSuchFile, "no such file");
    return it->second;
  });
}

inline Result<core::Checked> check_text(const std::string& text) {
  return check_files({{"main.fut", text}});
}

// The type of a definition, without the numbers that tell names apart; or the error.
inline std::string type_of(const Result<core::Checked>& program, const std::string& name) {
  if (!program) return program.error().text();
  for (const auto& p : core::validate(*program, true)) ADD_FAILURE() << p;
  core::Names names;
  names.vars = &program->var_names;
  names.abstract_types = &program->abstract_types;
  std::string found = "none";
  for (const auto& d : program->defs) {
    if (d->name == name) found = core::str(d->type, names);
  }
  return found;
}

inline std::string type_in(const std::string& text, const std::string& name = "f") {
  return type_of(check_text(text), name);
}

inline std::string error_of(const std::string& text) {
  auto r = check_text(text);
  return r ? "accepted" : r.error().text();
}

}  // namespace kenaz::check
