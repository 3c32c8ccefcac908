// Constraints on types that are not known yet.
#pragma once

#include <cstdint>

namespace kenaz::check {

/// A set of primitive types, and whether other types are allowed too, and which.
using TypeMask = uint32_t;
inline constexpr TypeMask kMaskAny = 0xffff;
inline constexpr TypeMask kWithFunctions = 0x1000;
inline constexpr TypeMask kOfAnySize = 0x2000;        // values of one type may differ in size
inline constexpr TypeMask kWithoutEquality = 0x4000;  // may be a type that has none
inline constexpr TypeMask kMaskData = kMaskAny & ~kWithFunctions;
inline constexpr TypeMask kMaskElement = kMaskData & ~kOfAnySize;  // of arrays
inline constexpr TypeMask kMaskEquality = kMaskElement & ~kWithoutEquality;
/// Whether types that are not primitive are allowed.
inline constexpr bool is_open(TypeMask mask) { return (mask & kMaskEquality) == kMaskEquality; }
inline constexpr TypeMask kMaskScalar = 0xfff;
inline constexpr TypeMask kMaskSigned = 0xf;
inline constexpr TypeMask kMaskUnsigned = 0xf0;
inline constexpr TypeMask kMaskInt = 0xff;
inline constexpr TypeMask kMaskFloat = 0x700;
inline constexpr TypeMask kMaskNum = kMaskInt | kMaskFloat;
inline constexpr TypeMask kMaskIntBool = kMaskInt | 0x800;

}  // namespace kenaz::check
