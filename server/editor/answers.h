// The protocol's objects, made of what the compiler says.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernels/futhark/check/examine.h"
#include "server/editor/analyses.h"
#include "server/editor/positions.h"

namespace kenaz::editor {

/// The files that are open, at one moment.
struct OpenFiles {
  std::shared_ptr<const Texts> texts = std::make_shared<const Texts>();
  std::shared_ptr<const std::map<std::string, std::string>> uris =
      std::make_shared<const std::map<std::string, std::string>>();  // by path

  std::string uri_of(const std::string& path) const;
};

/// Makes objects for an editor that counts columns in `units`.
class Answers {
 public:
  Answers(Units units, OpenFiles files) : units_(units), files_(std::move(files)) {}

  nlohmann::json range(const SourceRange& range) const;
  /// By file: those without a place are put at the start of `root`, and those in the prelude.
  std::map<std::string, nlohmann::json> diagnostics(const std::vector<Diagnostic>& all,
                                                    const std::string& root) const;
  /// Null if no name is there.
  nlohmann::json hover(const check::Index& index, const std::string& path, SourcePos at) const;
  /// Null if no name is there, or it is built in.
  nlohmann::json definition(const check::Index& index, const std::string& path, SourcePos at) const;
  static nlohmann::json completion(const std::vector<check::Symbol>& symbols);
  nlohmann::json symbols(const std::string& text) const;

 private:
  nlohmann::json diagnostic(const Diagnostic& d) const;

  Units units_;
  OpenFiles files_;
};

}  // namespace kenaz::editor
