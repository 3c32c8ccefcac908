// Texts for people, which stand beside a filter in strings.json: {"en": {"NAME": "text", ..}, ..}.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kenaz::mfg {

/// The English text of this name in a file's contents; nothing if there is none, or the file is not
/// of that form.
std::optional<std::string> text_by_name(std::string_view json, std::string_view name);

}  // namespace kenaz::mfg
