// Texts for people, which stand beside a filter in strings.json: {"en": {"NAME": "text", ..}, ..}.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace kenaz::mfg {

/// By their names.
using Texts = std::map<std::string, std::string>;

/// The English texts in a file's contents; nothing if it is no JSON object. Values of other forms
/// than the above are skipped.
std::optional<Texts> english_texts(std::string_view json);

}  // namespace kenaz::mfg
