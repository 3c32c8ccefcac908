#include "kernels/mfg/check/type.h"

#include <algorithm>

namespace kenaz::mfg {

bool Type::uniform() const {
  return std::all_of(elems.begin(), elems.end(), [&](PrimType t) { return t == elems[0]; });
}

bool Type::all_integers() const { return std::all_of(elems.begin(), elems.end(), is_integer); }

std::string Type::str() const {
  if (!tuple) return std::string(prim_name(elems[0]));
  if (uniform() && elems.size() >= 2 && elems.size() <= 4) {
    return std::string(prim_name(elems[0])) + "v" + std::to_string(elems.size());
  }
  std::string s = "[";
  for (const PrimType t : elems) {
    if (s.size() > 1) s += ", ";
    s += prim_name(t);
  }
  return s + "]";
}

bool is_mfg_prim(PrimType t) { return is_integer(t) ? prim_size(t) <= 4 : t == PrimType::kF32; }

std::optional<Type> type_from_name(std::string_view name) {
  const size_t v = name.rfind('v');
  const bool is_vector = v != std::string_view::npos && v + 2 == name.size();
  const auto prim = prim_from_name(is_vector ? name.substr(0, v) : name);
  if (!prim || !is_mfg_prim(*prim)) return std::nullopt;
  if (!is_vector) return Type::scalar(*prim);
  const int n = name.back() - '0';
  if (n < 2 || n > 4) return std::nullopt;
  return Type::vector(*prim, n);
}

std::optional<PrimType> promote(PrimType a, PrimType b) {
  if (a == b) return a;
  if (is_float(a)) return a;
  if (is_float(b)) return b;
  if (prim_kind(a) == prim_kind(b)) return prim_size(a) > prim_size(b) ? a : b;
  const bool a_signed = prim_kind(a) == PrimKind::kSigned;
  const PrimType with_sign = a_signed ? a : b, without = a_signed ? b : a;
  if (prim_size(with_sign) > prim_size(without)) return with_sign;
  return std::nullopt;
}

}  // namespace kenaz::mfg
