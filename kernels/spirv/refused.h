// How the reader refuses a module: inside of this folder by an exception, which read() makes an
// error of.
#pragma once

#include <fmt/format.h>

#include <string>

#include "kernels/spirv/names.h"

namespace kenaz::spirv {

struct Refused {
  std::string text;
  bool has_place = false;  // the text says which instruction it is about
};

template <class... Ts>
[[noreturn]] void refuse(fmt::format_string<Ts...> format, Ts&&... args) {
  throw Refused{fmt::format(format, std::forward<Ts>(args)...), false};
}

/// "OpIAdd"; for a number that is no operation's: "operation 12345".
std::string name_of(spv::Op op);

}  // namespace kenaz::spirv
