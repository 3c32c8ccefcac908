// For tests: kernels out of their text form.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "kernels/kir/parse.h"

namespace kenaz::kir {

/// Fails the test if the text is none of a kernel.
inline Kernel kernel_of(const std::string& text) {
  auto k = parse(text);
  EXPECT_TRUE(k.has_value()) << k.error().text() << "\n" << text;
  return k ? std::move(*k) : Kernel{};
}

}  // namespace kenaz::kir
