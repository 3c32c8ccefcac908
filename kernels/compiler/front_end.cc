// The front end's door: reading files, and checking.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "kernels/compiler.h"
#include "kernels/futhark/check/check.h"

namespace kenaz::compiler {

SourceReader file_reader() {
  return [](const std::string& path) -> Result<std::string> {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) return bad_request(std::strerror(EISDIR));
    std::ifstream in(path, std::ios::binary);
    if (!in) return bad_request(std::strerror(errno));
    std::ostringstream text;
    text << in.rdbuf();
    if (in.bad()) return bad_request("cannot read it");
    return text.str();
  };
}

Result<core::Checked> front_end(const std::string& path, const FrontEndOptions& options) {
  return check::check_program(path, options.read);
}

}  // namespace kenaz::compiler
