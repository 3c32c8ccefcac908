// What a filter is given besides its picture, as its attributes on the server say.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/result.h"
#include "protocol/data/value.h"

namespace kenaz::image {

struct FilterParam {
  std::string name, type;  // "i32", "f32v2"
  std::string initial, min, max, label;
  std::vector<std::string> items;
  /// One line for people.
  std::string str() const;
};
struct FilterTexture {
  std::string name, file;
};

struct FilterInfo {
  std::string entry;  // result_u8 or result_u16
  std::string title;
  std::vector<int> layers;  // besides the picture, in the order in which they are given
  std::vector<FilterTexture> textures;
  std::vector<FilterParam> params;

  int bits() const { return entry == "result_u16" ? 16 : 8; }
};

/// Reads an entry point's attributes, one per line; those of unknown names are skipped.
Result<FilterInfo> filter_info(const std::string& entry,
                               const std::vector<std::string>& attributes);

/// The value of a parameter as users write it, "3" or "0.5,0.5", with or without brackets.
Result<data::Value> param_value(const FilterParam& param, std::string_view text);

/// All parameters' values in order: those of `given` (NAME=VALUE), else their defaults.
Result<std::vector<data::Value>> param_values(const FilterInfo& filter,
                                              const std::vector<std::string>& given);

}  // namespace kenaz::image
