#include "protocol/base/replace_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace kenaz {

Status replace_file(const std::string& path,
                    const std::function<Status(const std::string& path)>& write,
                    std::optional<mode_t> mode) {
  struct stat old {};
  const bool exists = ::stat(path.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) return write(path);
  std::error_code error;
  std::string target = path;
  // A link to what there is not yet is replaced: where it leads may not be a folder of ours.
  if (exists) target = std::filesystem::canonical(path, error).string();
  const std::string unfinished = fmt::format("{}.{}.part", target, ::getpid());
  const auto failed = [&] {
    return bad_request(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  };
  if (error) return bad_request(fmt::format("cannot write {}: {}", path, error.message()));
  Status written = write(unfinished);
  if (exists && !mode) mode = old.st_mode & 07777;
  if (written && mode && ::chmod(unfinished.c_str(), *mode) != 0) written = failed();
  if (written && std::rename(unfinished.c_str(), target.c_str()) != 0) written = failed();
  if (!written) ::unlink(unfinished.c_str());
  return written;
}

}  // namespace kenaz
