#include "client/lib/program_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "protocol/base/read_file.h"

namespace kenaz::client {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostBytes = int64_t{1} << 30;  // of a file

std::string without_comments(std::string_view text) {
  std::string kept;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    kept.append(line.substr(0, line.find("--"))) += '\n';
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return kept;
}

bool is_of_a_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// What stands in quotes after the word `import`.
std::vector<std::string> imports_of(const std::string& text) {
  constexpr std::string_view kImport = "import";
  const std::string code = without_comments(text);
  std::vector<std::string> names;
  for (size_t at = code.find(kImport); at != std::string::npos; at = code.find(kImport, at + 1)) {
    if (at > 0 && is_of_a_name(code[at - 1])) continue;
    const size_t quote = code.find_first_not_of(" \t\n", at + kImport.size());
    if (quote == std::string::npos || code[quote] != '"') continue;
    const size_t end = code.find_first_of("\"\n", quote + 1);
    if (end == std::string::npos || code[end] != '"') continue;
    names.push_back(code.substr(quote + 1, end - quote - 1));
  }
  return names;
}

bool is_below(const fs::path& path, const fs::path& folder) {
  const fs::path relative = path.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

struct Found {
  fs::path path;  // absolute
  std::string text;
};

/// The file and all that it imports, one after the other.
Result<std::vector<Found>> follow_imports(const fs::path& main) {
  std::vector<Found> found;
  std::vector<fs::path> waiting{main};
  while (!waiting.empty()) {
    const fs::path path = std::move(waiting.back());
    waiting.pop_back();
    const bool known = std::any_of(found.begin(), found.end(),
                                   [&](const Found& file) { return file.path == path; });
    if (known) continue;
    auto text = read_regular_file(path.string(), kMostBytes);
    // The compiler looks elsewhere for what is not there, or says so.
    const bool absent = !text && text.error().kind == ErrorKind::kNoSuchFile;
    if (absent && !found.empty()) continue;
    if (!text) return bad_request(fmt::format("{}: {}", path.string(), text.error().message));
    for (const auto& name : imports_of(*text)) {
      if (name.starts_with('/')) continue;  // of the compiler's own
      waiting.push_back((path.parent_path() / (name + ".fut")).lexically_normal());
    }
    found.push_back({path, std::move(*text)});
  }
  return found;
}

}  // namespace

Result<std::vector<SourceFile>> read_program(const std::string& path) {
  std::error_code error;
  const fs::path main = fs::absolute(path, error).lexically_normal();
  if (error) return bad_request(fmt::format("{}: {}", path, error.message()));
  KENAZ_ASSIGN(auto found, follow_imports(main));
  fs::path folder = main.parent_path();
  for (const Found& file : found) {
    while (!is_below(file.path, folder)) folder = folder.parent_path();
  }
  std::vector<SourceFile> files;
  for (Found& file : found) {
    files.push_back({file.path.lexically_relative(folder).generic_string(), std::move(file.text)});
  }
  return files;
}

Result<std::string> source_archive(std::span<const SourceFile> files) {
  std::string archive;
  for (const SourceFile& file : files) {
    if (file.path.find_first_of("\"\n") != std::string::npos) {
      return bad_request(file.path + ": a file of this name cannot be sent");
    }
    archive += fmt::format("file \"{}\" {}\n", file.path, file.text.size());
    archive += file.text;
  }
  return archive;
}

}  // namespace kenaz::client
