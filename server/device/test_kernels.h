// Kernels for tests of devices, in both forms.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "test_shaders/add.h"
#include "test_shaders/many.h"
#include "test_shaders/step.h"

namespace kenaz::device {

/// A kernel of server/testdata, and the same as kernel IR.
struct TestKernel {
  std::span<const uint32_t> spirv;
  std::string_view kernel_ir;
  uint32_t push_bytes;
};

inline const TestKernel kAdd = {add_spirv, R"(kernel "add" group 64
block v0 "src"
block v1 "dst"
arg v2: i64 "n"
arg v3: i64 "k"
main {
  v4: i64 = group
  v5: i32 = local
  v6: i64 = convert.i32.i64(v5)
  v7: i64 = mul.i64(v4, 64i64)
  v8: i64 = add.i64(v7, v6)
  v9: bool = lt.i64(v8, v2)
  if v9 {
    v10: i32 = load v0[v8]
    v11: i32 = convert.i64.i32(v3)
    v12: i32 = add.i32(v10, v11)
    store v1[v8] = v12
  }
}
)",
                                48};

inline const TestKernel kStep = {step_spirv, R"(kernel "step" group 64
block v0 "counter"
arg v1: i64 "k"
main {
  v2: i64 = group
  v3: i32 = local
  v4: i64 = convert.i32.i64(v3)
  v5: i64 = add.i64(v2, v4)
  v6: bool = eq.i64(v5, 0i64)
  if v6 {
    v7: i32 = load v0[0i64]
    v8: i32 = mul.i32(v7, 3i32)
    v9: i32 = convert.i64.i32(v1)
    v10: i32 = add.i32(v8, v9)
    store v0[0i64] = v10
  }
}
)",
                                 32};

/// v0: dst; v1 to v20: the values.
inline std::string many_kernel_ir() {
  std::string text = "kernel \"many\" group 64\nblock v0 \"dst\"\n", sum;
  for (int k = 1; k <= 20; ++k) {
    text += "arg v" + std::to_string(k) + ": i64 \"x\"\n";
    sum += "v" + std::to_string(k + 30) + ": i64 = add.i64(" +
           (k == 1 ? "0i64" : "v" + std::to_string(k + 29)) + ", v" + std::to_string(k) + ")\n";
  }
  return text + R"(main {
  v21: i64 = group
  v22: i32 = local
  v23: i64 = convert.i32.i64(v22)
  v24: i64 = add.i64(v21, v23)
  v25: bool = eq.i64(v24, 0i64)
  if v25 {
)" + sum +
         R"(
    v26: i64 = groups
    v27: i64 = mul.i64(v26, 1000i64)
    v28: i64 = add.i64(v50, v27)
    store v0[0i64] = v28
  }
}
)";
}
inline const std::string kManyKernelIr = many_kernel_ir();
inline const TestKernel kMany = {many_spirv, kManyKernelIr, 8};

}  // namespace kenaz::device
