// What a program's worker says of it: its types, entry points and tuning parameters.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/host/engine.h"
#include "server/variables/types.h"

namespace kenaz {

struct Signature {
  TypeTable types;
  std::vector<host::EntrySignature> entries;  // sorted by name
  std::vector<program::TuningParam> tuning;
};

/// As bytes, for read_signature.
std::string write_signature(const host::Engine& engine);

/// Bytes of whoever it may be: fails unless all fits together, as what a compiler has made does.
Result<Signature> read_signature(std::string_view bytes);

}  // namespace kenaz
