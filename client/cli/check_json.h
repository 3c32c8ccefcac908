// What a check has found, as data.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "client/cli/check.h"

namespace kenaz::cli {

/// {version, programs, diagnostics} of one program, as `kenaz-server --check --json` prints it.
/// Fails if the server does not get that far.
Result<nlohmann::json> check_document(const CheckOptions& options, const std::string& program);

/// A document without programs, and one with the programs and diagnostics of another added.
/// Diagnostics that are there already (of a file that several programs import) are left out.
nlohmann::json empty_document();
void add_document(nlohmann::json& to, const nlohmann::json& more);

/// Adds an error about no place, as the server says it of a file that it cannot read.
void add_problem(nlohmann::json& to, const std::string& message);

/// How many of a document's programs were rejected.
size_t rejected_programs(const nlohmann::json& document);

/// In one line; bytes that are no UTF-8 are replaced.
std::string text_of(const nlohmann::json& document);

}  // namespace kenaz::cli
