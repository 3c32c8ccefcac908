// The textual form of array IR, for people, dumps and tests; parse.h reads it back.
//
//   fun main(xs_1: [n_0]i32, k_2: *i64) -> ([n_0]i32) {
//     let y_3: i32 = add.i32(k_2, 1i32)
//     let ys_4: [n_0]i32 =
//       soac (n_0; xs_1) map \(x_5: i32) -> (i32) {
//         ...
//         return t_6
//       }
//     return ys_4
//   }
//   entry main = main
//
// What has a place (places.h) says so behind its type: `let ys_4: [n_0]i32 in zs_6 at k_5 = ...`.
#pragma once

#include <string>

#include "kernels/ir/ir.h"

namespace kenaz::ir {

struct PrintOptions {
  /// Number the variables in order of appearance instead of by VarId: the same text for programs
  /// that differ only in numbering.
  bool renumber = false;
  /// Print provenances ("@3") and their table.
  bool provenance = false;
};

std::string print(const Program& p, const PrintOptions& options = {});
std::string print_stm(const Program& p, const Stm& s);
std::string print_type(const Program& p, const Type& t);
std::string print_atom(const Program& p, const Atom& a);
/// A constant as the parser reads it: "3i32", "true", "1.5f64", "bits(f32, 0x7fc00000)".
std::string print_constant(const PrimValue& v);

}  // namespace kenaz::ir
