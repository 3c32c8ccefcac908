// Types of values that may outlive the program, or the version of it, that they are of.
#pragma once

#include <memory>
#include <string>

#include "protocol/value_type.h"

namespace kenaz {

/// The types of a program as it was when it was loaded.
struct ProgramTypes {
  std::string program;  // its name
  TypeTable table;
};
using TypesPtr = std::shared_ptr<const ProgramTypes>;

/// Whether values of the type `name` in `a` are values of the type of that name in `b`: both have
/// one, and they consist of the same, by name, in the same order. Types of which nothing is known
/// agree only within one program.
bool types_agree(const std::string& name, const ProgramTypes& a, const ProgramTypes& b);

/// Whether both have the same types.
bool same_types(const ProgramTypes& a, const ProgramTypes& b);

}  // namespace kenaz
