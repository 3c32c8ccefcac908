#include "kernels/primitives/scan/scan.h"

#include <fmt/format.h>

#include "kernels/glsl/types.h"

namespace kenaz::primitives {

namespace {

/// shared sh..; scan_workgroup() makes sh[lid] the combination of sh[0] to sh[lid].
std::string shared_scan(const FlatMonoids& m) {
  std::string s;
  for (size_t k = 0; k < m.size(); k++) {
    s += fmt::format("shared {} sh{}[{}];\n", glsl::glsl_type(m.types[k]), k, kScanWorkgroup);
  }
  s += "void scan_workgroup() {\n";
  s += fmt::format("  for (uint s = 1u; s < {}u; s <<= 1) {{\n", kScanWorkgroup);
  s += "    barrier();\n    " + m.declare("p") + "\n";
  s += "    if (lid >= s) { " + m.assign("p", "sh[lid - s]") + "}\n    barrier();\n";
  s += "    if (lid >= s) " + m.combine("sh[lid]", "p", "sh[lid]") + "\n  }\n  barrier();\n}\n";
  return s;
}

std::string total_address(const ScanSpec& spec, size_t values, size_t k, const std::string& tile) {
  return fmt::format("{} + uint64_t({}) * {}ul + {}ul", spec.totals, tile, 8 * values, 8 * k);
}

std::string load_totals(const ScanSpec& spec, const FlatMonoids& m, const std::string& name,
                        const std::string& tile) {
  std::string s;
  for (size_t k = 0; k < m.size(); k++) {
    s += fmt::format("{} {}{} = {}; ", glsl::glsl_type(m.types[k]), name, k,
                     glsl::load(m.types[k], total_address(spec, m.size(), k, tile)));
  }
  return s;
}
std::string store_totals(const ScanSpec& spec, const FlatMonoids& m, const std::string& name,
                         const std::string& tile) {
  std::string s;
  for (size_t k = 0; k < m.size(); k++) {
    s += glsl::store(m.types[k], total_address(spec, m.size(), k, tile),
                     fmt::format("{}{}", name, k)) +
         " ";
  }
  return s;
}
std::string out_address(const ScanSpec& spec, const FlatMonoids& m, size_t k) {
  return fmt::format("{} + uint64_t(i) * {}ul", spec.out[k], prim_size(m.types[k]));
}
std::string store_out(const ScanSpec& spec, const FlatMonoids& m, const std::string& name) {
  std::string s;
  for (size_t k = 0; k < m.size(); k++) {
    s += glsl::store(m.types[k], out_address(spec, m, k), fmt::format("{}{}", name, k)) + " ";
  }
  return s;
}
std::string load_out(const ScanSpec& spec, const FlatMonoids& m, const std::string& name) {
  std::string s;
  for (size_t k = 0; k < m.size(); k++) {
    s += fmt::format("{} {}{} = {}; ", glsl::glsl_type(m.types[k]), name, k,
                     glsl::load(m.types[k], out_address(spec, m, k)));
  }
  return s;
}

std::string tile_range(const ScanSpec& spec) {
  return fmt::format(
      "  int64_t first = group * {}l + int64_t(lid) * {}l;\n"
      "  int64_t end = min(first + {}l, {});\n",
      kScanTile, kScanPerThread, kScanPerThread, spec.width);
}

}  // namespace

PrimitiveText scan_tiles_text(const ScanSpec& spec) {
  const FlatMonoids m(spec.monoids);
  PrimitiveText t;
  t.globals = shared_scan(m);
  // A thread's own elements are scanned on the way to the result, then combined with what stands
  // before the thread.
  t.main = tile_range(spec) + "  " + m.declare_neutral("acc") + "\n";
  t.main += "  for (int64_t i = first; i < end; i++) {\n    " + m.declare("x") + "\n    elem(i, " +
            m.list("x") + ");\n    if (i == first) { " + m.assign("acc", "x") + "} else " +
            m.combine("acc", "acc", "x") + "\n    " + store_out(spec, m, "acc") + "\n  }\n";
  t.main += "  " + m.assign("sh[lid]", "acc") + "\n  scan_workgroup();\n";
  t.main += fmt::format("  if (lid == {}u) {{ ", kScanWorkgroup - 1) + m.declare("total") +
            m.assign("total", "sh[lid]") + store_totals(spec, m, "total", "group") + "}\n";
  t.main +=
      "  if (lid == 0u) return;\n  " + m.declare("before") + m.assign("before", "sh[lid - 1u]");
  t.main += "\n  for (int64_t i = first; i < end; i++) {\n    " + load_out(spec, m, "y") +
            "\n    " + m.combine("y", "before", "y") + "\n    " + store_out(spec, m, "y") +
            "\n  }\n";
  return t;
}

PrimitiveText scan_totals_text(const ScanSpec& spec) {
  const FlatMonoids m(spec.monoids);
  PrimitiveText t;
  t.globals = shared_scan(m);
  t.main = fmt::format(
      "  int64_t tiles = ({} + {}l) / {}l;\n"
      "  int64_t share = (tiles + {}l) / {}l;\n"
      "  int64_t first = int64_t(lid) * share;\n  int64_t end = min(first + share, tiles);\n",
      spec.width, kScanTile - 1, kScanTile, kScanWorkgroup - 1, kScanWorkgroup);
  t.main += "  " + m.declare_neutral("acc") + "\n  for (int64_t g = first; g < end; g++) {\n    " +
            load_totals(spec, m, "x", "g") + "\n    " + m.combine("acc", "acc", "x") + "\n  }\n";
  t.main += "  " + m.assign("sh[lid]", "acc") + "\n  scan_workgroup();\n";
  t.main += "  " + m.declare_neutral("run") + "\n  if (lid > 0u) { " +
            m.assign("run", "sh[lid - 1u]") + "}\n";
  t.main += "  for (int64_t g = first; g < end; g++) {\n    " + load_totals(spec, m, "x", "g") +
            "\n    " + m.combine("run", "run", "x") + "\n    " + store_totals(spec, m, "run", "g") +
            "\n  }\n";
  return t;
}

PrimitiveText scan_add_text(const ScanSpec& spec) {
  const FlatMonoids m(spec.monoids);
  PrimitiveText t;
  t.main = "  if (group == 0l) return;\n  " + load_totals(spec, m, "before", "(group - 1l)") + "\n";
  t.main += fmt::format(
      "  int64_t end = min((group + 1l) * {0}l, {1});\n"
      "  for (int64_t i = group * {0}l + int64_t(lid); i < end; i += {2}l) {{\n",
      kScanTile, spec.width, kScanWorkgroup);
  t.main += "    " + load_out(spec, m, "y") + "\n    " + m.combine("y", "before", "y") + "\n    " +
            store_out(spec, m, "y") + "\n  }\n";
  return t;
}

}  // namespace kenaz::primitives
