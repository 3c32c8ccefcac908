// The front end's door: reading files, and checking.
#include "kernels/compiler.h"
#include "kernels/futhark/check/check.h"
#include "protocol/base/read_file.h"

namespace kenaz::compiler {

namespace {
constexpr int64_t kMaxSource = int64_t{64} << 20;
}

SourceReader file_reader() {
  return [](const std::string& path) { return read_regular_file(path, kMaxSource); };
}

Result<core::Checked> front_end(const std::string& path, const FrontEndOptions& options) {
  return check::check_program(path, options.read, options.warnings);
}

}  // namespace kenaz::compiler
