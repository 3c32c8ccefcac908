#include "kernels/mfg/check/prelude.h"

namespace kenaz::mfg {

std::string prelude_text() {
  return R"(
fn exp2 |x: f32| { pow(2.0, x) }
fn fract |x: f32| { x - floor(x) }
fn saturate |x: f32| { min(max(x, 0.0), 1.0) }
fn clamp |x, low, high| { min(max(x, low), high) }
fn step |edge: f32T, x: f32T| { f32(x >= edge) }
fn smoothstep |edge0: f32T, edge1: f32T, x: f32T| {
  let t = saturate((x - edge0) / (edge1 - edge0))
  t * t * (3.0 - 2.0 * t)
}
fn mix |a: f32T, b: f32T, ratio: f32T| { a + (b - a) * ratio }
fn length |v: f32T| { sqrt(dot(v, v)) }
fn distance |a: f32T, b: f32T| { length(a - b) }
fn normalize |v: f32T| { v / length(v) }
fn cross |a: f32v3, b: f32v3| { a.yzx * b.zxy - a.zxy * b.yzx }
fn vec2 |x: scalar| { [x, x] }
fn vec3 |x: scalar| { [x, x, x] }
fn vec4 |x: scalar| { [x, x, x, x] }

# Colours: sRGB's curve, and the matrices between its linear components and XYZ.
fn gamma2linear |c: f32| { ifel(c >= 0.04045, ((c + 0.055) / 1.055) ^ 2.4, c / 12.92) }
fn linear2gamma |c: f32| { ifel(c >= 0.0031308, 1.055 * c ^ 0.41666666 - 0.055, c * 12.92) }
fn gamma2linearA |c: f32v4| { [*gamma2linear(c.xyz), c.w] }
fn linear2gammaA |c: f32v4| { [*linear2gamma(c.xyz), c.w] }
fn to_ncolor |c: u8v4| { f32(c) / 255.0 }
fn to_u8color |c: f32v4| { u8(saturate(c) * 255.0) }
fn to_lbgra |c: u8v4| { gamma2linearA(to_ncolor(c)) }
fn lbgra_to_u8color |c: f32v4| { to_u8color(linear2gammaA(c)) }
fn lbgr_to_xyz |c: f32v3| {
  [dot(c, [0.1804, 0.3576, 0.4125]), dot(c, [0.0722, 0.7152, 0.2127]),
   dot(c, [0.9502, 0.1192, 0.0193])]
}
fn xyz_to_lbgr |c: f32v3| {
  [dot(c, [0.0556, -0.2040, 1.0570]), dot(c, [-0.9689, 1.8758, 0.0415]),
   dot(c, [3.2406, -1.5372, -0.4986])]
}
fn to_xyza |c: u8v4| {
  let l = to_lbgra(c)
  [*lbgr_to_xyz(l.xyz), l.w]
}
fn xyza_to_u8color |c: f32v4| { lbgra_to_u8color([*xyz_to_lbgr(c.xyz), c.w]) }
)";
}

}  // namespace kenaz::mfg
