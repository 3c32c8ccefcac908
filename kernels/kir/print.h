// The text form of kernel IR, for people, dumps and tests; parse.h reads it back.
//
//   kernel "sum" group 4 * v2 @7
//   arg v0: i64 "n"
//   block v1 "xs"
//   spec v2: i32 = 32i32 "items"
//   shared s0: f32[8 * v2] "tile"
//   local l0: i32[16] "row"
//   fun f0 "plus" (v3: f32, v4: f32) {
//     v5: f32 = add.f32(v3, v4)
//     return v5
//   }
//   main {
//     v6: i64 = group
//     var x0: f32 = 0.0f32
//     for v7: i64 = v6 to v0 step 1i64 uniform {
//       v8: f32 = load v1[v7]
//       v9: f32 = x0
//       v10: f32 = call f0(v9, v8)
//       x0 = v10
//     }
//     ...
//   }
//
// v: values, x: variables, s: shared arrays, l: local arrays, f: functions, each with its number in
// the kernel's tables. "@7": the provenance of the kernel or instruction. A type is "f32", or
// "f32x4" with its lanes.
#pragma once

#include <string>

#include "kernels/kir/kir.h"

namespace kenaz::kir {

/// Ends with a new line. Works for kernels that are not valid.
std::string print(const Kernel& kernel);
/// The instruction with the blocks inside it, several lines then; no new line at the end.
std::string print_inst(const Kernel& kernel, const Inst& inst);
std::string print_type(Type t);
/// "v12" or a constant as the array IR has it: "3i32", "true".
std::string print_value(const Value& v);

}  // namespace kenaz::kir
