// Which front end a program is for.
#include <fmt/format.h>

#include <memory>

#include "kernels/compiler.h"
#include "kernels/mfg/check/check.h"
#include "kernels/mfg/lower/lower.h"

namespace kenaz::compiler {

namespace {

Result<Source> check_futhark(const std::string& path, const FrontEndOptions& options) {
  KENAZ_ASSIGN(core::Checked checked, front_end(path, options));
  Source source;
  source.warnings = std::move(checked.warnings);
  const auto program = std::make_shared<const core::Checked>(std::move(checked));
  source.lower = [program] { return lower(*program); };
  return source;
}

Result<Source> check_mfg(const std::string& path, const FrontEndOptions& options) {
  KENAZ_ASSIGN(mfg::CFilter checked, mfg::check(path, options.read));
  Source source;
  source.warnings = std::move(checked.warnings);
  if (options.warnings != nullptr) *options.warnings = source.warnings;
  const auto filter = std::make_shared<const mfg::CFilter>(std::move(checked));
  source.lower = [filter] { return mfg::lower(*filter); };
  return source;
}

struct Language {
  std::string_view name, ending;
  Result<Source> (*check)(const std::string& path, const FrontEndOptions& options);
};
constexpr Language kLanguages[] = {
#define LANGUAGE(name, ending, check) {name, ending, check},
#include "kernels/compiler/languages.def"
#undef LANGUAGE
};

}  // namespace

std::vector<std::string> language_names() {
  std::vector<std::string> names;
  for (const Language& l : kLanguages) names.emplace_back(l.name);
  return names;
}

Result<Source> check(const std::string& path, const FrontEndOptions& options) {
  for (const Language& l : kLanguages) {
    const bool chosen =
        options.language.empty() ? path.ends_with(l.ending) : options.language == l.name;
    if (chosen) return l.check(path, options);
  }
  if (options.language.empty()) return kLanguages[0].check(path, options);
  return bad_request(fmt::format("there is no language \"{}\"; there are: {}", options.language,
                                 fmt::join(language_names(), ", ")));
}

}  // namespace kenaz::compiler
