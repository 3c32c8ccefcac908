#include "kernels/primitives/reduce/reduce.h"

#include <fmt/format.h>

#include "kernels/glsl/types.h"

namespace kenaz::primitives {

namespace {
constexpr int kCounterBytes = 16;

std::string partial_offset(size_t k, const std::string& group) {
  return fmt::format("{}ul + uint64_t({}) * 8ul", kCounterBytes + k * 8 * kReduceMaxGroups, group);
}

/// Loads and stores that other workgroups see: the type of coherent references to 32-bit words.
std::string coherent_store(PrimType t, const std::string& address, const std::string& value) {
  return fmt::format("Shared{}({}).v = {};", prim_name(t), address,
                     t == PrimType::kBool ? "uint8_t(" + value + ")" : value);
}
std::string coherent_load(PrimType t, const std::string& address) {
  const std::string s = fmt::format("Shared{}({}).v", prim_name(t), address);
  return t == PrimType::kBool ? "(" + s + " != uint8_t(0))" : s;
}
}  // namespace

int64_t reduce_partial_bytes(size_t values) {
  return kCounterBytes + static_cast<int64_t>(values) * 8 * kReduceMaxGroups;
}

PrimitiveText reduce_text(const ReduceSpec& spec) {
  const FlatMonoids m(spec.monoids);
  PrimitiveText t;
  for (size_t k = 0; k < m.size(); k++) {
    t.globals +=
        fmt::format("shared {} sh{}[{}];\n", glsl::glsl_type(m.types[k]), k, kReduceWorkgroup);
  }
  // Neighbours combine, then neighbouring pairs, ..: the order stays.
  t.globals += "void reduce_workgroup() {\n";
  t.globals +=
      fmt::format("  for (uint s = 1u; s < {}u; s <<= 1) {{\n    barrier();\n", kReduceWorkgroup);
  t.globals += "    if ((lid & (2u * s - 1u)) == 0u) " +
               m.combine("sh[lid]", "sh[lid]", "sh[lid + s]") + "\n  }\n}\n";

  t.main += "  " + m.declare_neutral("acc") + "\n";
  if (spec.commutative) {
    t.main +=
        fmt::format("  for (int64_t i = gid; i < {} && going; i += threads) {{\n", spec.width);
  } else {
    // Rounded up, without a sum that wraps for the longest arrays. No element: no thread has one.
    t.main += fmt::format("  int64_t share = ({} - 1l) / threads + 1l;\n", spec.width);
    t.main += fmt::format("  int64_t end = min((gid + 1l) * share, {});\n", spec.width);
    t.main += "  for (int64_t i = gid * share; i < end && going; i++) {\n";
  }
  t.main += "    " + m.declare("x") + "\n    elem(i, " + m.list("x") + ");\n    " +
            m.combine("acc", "acc", "x") + "\n";
  if (spec.long_elements) t.main += "    if (loops_look && stopped()) going = false;\n";
  t.main += "  }\n";
  t.main += "  " + m.assign("sh[lid]", "acc") + "\n  reduce_workgroup();\n";
  std::string finish;
  for (size_t k = 0; k < m.size(); k++) {
    finish += glsl::store(m.types[k], fmt::format("{} + {}ul", spec.result, 8 * k),
                          fmt::format("sh{}[0]", k)) +
              " ";
  }
  if (spec.partial.empty()) {
    t.main += "  if (lid == 0u) { " + finish + "}\n";
    return t;
  }
  for (size_t k = 0; k < m.size(); k++) {
    const std::string name(prim_name(m.types[k]));
    const std::string type =
        m.types[k] == PrimType::kBool ? "uint8_t" : glsl::glsl_type(m.types[k]);
    const std::string decl = fmt::format(
        "layout(buffer_reference, scalar, buffer_reference_align = {}) coherent buffer Shared{} {{ "
        "{} v; }};\n",
        prim_size(m.types[k]), name, type);
    if (t.globals.find(decl) == std::string::npos) t.globals = decl + t.globals;
  }
  t.globals += "shared bool is_last;\n";
  t.main += "  if (groups == 1l) {\n    if (lid == 0u) { " + finish + "}\n    return;\n  }\n";
  t.main += "  if (lid == 0u) {\n";
  for (size_t k = 0; k < m.size(); k++) {
    t.main += "    " +
              coherent_store(m.types[k], spec.partial + " + " + partial_offset(k, "group"),
                             fmt::format("sh{}[0]", k)) +
              "\n";
  }
  t.main += "    memoryBarrierBuffer();\n";
  t.main += fmt::format(
      "    is_last = atomicAdd(U32({}).v, 1u) == uint(groups) - 1u;\n    memoryBarrierBuffer();\n  "
      "}}\n"
      "  barrier();\n  if (!is_last) return;\n",
      spec.partial);
  t.main += fmt::format(
      "  int64_t part = (groups + {0}l - 1l) / {0}l;\n"
      "  int64_t part_end = min((int64_t(lid) + 1l) * part, groups);\n",
      kReduceWorkgroup);
  t.main += "  " + m.declare_neutral("all") +
            "\n  for (int64_t g = int64_t(lid) * part; g < part_end; g++) {\n    ";
  for (size_t k = 0; k < m.size(); k++) {
    t.main += fmt::format("{} y{} = {}; ", glsl::glsl_type(m.types[k]), k,
                          coherent_load(m.types[k], spec.partial + " + " + partial_offset(k, "g")));
  }
  t.main += "\n    " + m.combine("all", "all", "y") + "\n  }\n";
  t.main += "  " + m.assign("sh[lid]", "all") + "\n  reduce_workgroup();\n";
  t.main += "  if (lid == 0u) { " + finish + "}\n";
  return t;
}

}  // namespace kenaz::primitives
