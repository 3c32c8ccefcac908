// Answers for editors, about programs that need not be right.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kernels/futhark/check/examine.h"

namespace kenaz::service {

/// As `check::examine_program`; and where the program has errors, its index is also of the
/// declarations behind the first one. `path` is in normal form ("/a/b.fut"), so that diagnostics of
/// this file have it as their file's name.
check::Examined analyse(const std::string& path, const SourceReader& read, std::stop_token stop);

/// The names that could stand at a place (where the word that is there begins, or behind a dot),
/// those that are nearer first. Empty in a comment, in a number, and where the program around is
/// too broken to say.
std::vector<check::Symbol> complete(const std::string& path, const SourceReader& read, SourcePos at,
                                    std::stop_token stop);

/// The use of a name at a place of a file, or null: the shortest one around it; one that ends there
/// counts if none other does.
const check::Use* use_at(const check::Index& index, const std::string& file, SourcePos at);

/// "def f [n] : [n]i32 -> i32", "type t = i32", "module m".
std::string signature(const check::Symbol& symbol);

/// A documentation comment without what its lines have in common before their text.
std::string plain_doc(const std::string& doc);

}  // namespace kenaz::service
