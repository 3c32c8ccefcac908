#include "server/cache/program_cache.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "kernels/program/serialise.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace kenaz::cache {

namespace {

void put_number(std::vector<std::byte>& out, uint64_t n) {
  const auto* p = reinterpret_cast<const std::byte*>(&n);
  out.insert(out.end(), p, p + sizeof n);
}
void put_text(std::vector<std::byte>& out, const std::string& text) {
  put_number(out, text.size());
  const auto* p = reinterpret_cast<const std::byte*>(text.data());
  out.insert(out.end(), p, p + text.size());
}

bool take_number(std::span<const std::byte>& in, uint64_t& n) {
  if (in.size() < sizeof n) return false;
  std::memcpy(&n, in.data(), sizeof n);
  in = in.subspan(sizeof n);
  return true;
}
bool take_text(std::span<const std::byte>& in, std::string& text) {
  uint64_t n = 0;
  if (!take_number(in, n) || n > in.size()) return false;
  text.assign(reinterpret_cast<const char*>(in.data()), n);
  in = in.subspan(n);
  return true;
}

}  // namespace

uint64_t hash_text(const std::string& text) { return XXH3_64bits(text.data(), text.size()); }

uint64_t hash_of(const Result<std::string>& text) {
  if (text) return std::max(kUnreadable + 1, hash_text(*text));
  return text.error().kind == ErrorKind::kNoSuchFile ? kAbsent : kUnreadable;
}

std::string RecordingReader::version() const {
  std::string hashes;
  for (const auto& [path, hash] : seen_) hashes += fmt::format("{:016x}", hash);
  return fmt::format("{:016x}", hash_text(hashes));
}

Result<std::string> RecordingReader::operator()(const std::string& path) {
  auto text = read_(path);
  seen_[path] = hash_of(text);
  return text;
}

std::string ProgramCache::key(const std::string& path) const {
  std::error_code ignored;
  // Messages name files by the path given, and imports are found beside it.
  return path + '\n' + std::filesystem::absolute(path, ignored).string() + '\n' + compiler_;
}

std::optional<CachedProgram> ProgramCache::find(const std::string& path, const Read& read) const {
  if (compiler_.empty()) return std::nullopt;
  const auto stored = store_.get(key(path));
  if (!stored) return std::nullopt;
  std::span<const std::byte> in = std::as_bytes(std::span(*stored));
  uint64_t sources = 0, warnings = 0;
  if (!take_number(in, sources) || sources == 0) return std::nullopt;
  for (uint64_t i = 0; i < sources; ++i) {
    std::string source;
    uint64_t hash = 0;
    if (!take_text(in, source) || !take_number(in, hash)) return std::nullopt;
    if (hash_of(read(source)) != hash) return std::nullopt;
  }
  CachedProgram cached;
  if (!take_number(in, warnings)) return std::nullopt;
  for (uint64_t i = 0; i < warnings; ++i) {
    if (!take_text(in, cached.warnings.emplace_back())) return std::nullopt;
  }
  auto program = program::deserialise(in);
  if (!program) return std::nullopt;
  cached.program = std::move(*program);
  return cached;
}

void ProgramCache::keep(const std::string& path, const RecordingReader& sources,
                        const CachedProgram& program) const {
  if (compiler_.empty()) return;
  std::vector<std::byte> out;
  put_number(out, sources.seen().size());
  for (const auto& [source, hash] : sources.seen()) {
    put_text(out, source);
    put_number(out, hash);
  }
  put_number(out, program.warnings.size());
  for (const auto& warning : program.warnings) put_text(out, warning);
  const auto bytes = program::serialise(program.program);
  out.insert(out.end(), bytes.begin(), bytes.end());
  store_.put(key(path), out);
}

std::string build_id() {
  std::string id;
  const auto look = [](dl_phdr_info* info, size_t, void* to) {
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const auto& segment = info->dlpi_phdr[i];
      if (segment.p_type != PT_NOTE) continue;
      const auto* p = reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr);
      const auto* end = p + segment.p_memsz;
      while (end - p >= static_cast<ptrdiff_t>(sizeof(ElfW(Nhdr)))) {
        ElfW(Nhdr) note;
        std::memcpy(&note, p, sizeof note);
        const char* name = p + sizeof note;
        const char* text = name + (note.n_namesz + 3) / 4 * 4;
        if (end - text < static_cast<ptrdiff_t>(note.n_descsz)) break;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            std::memcmp(name, "GNU", 4) == 0) {
          static_cast<std::string*>(to)->assign(text, note.n_descsz);
        }
        p = text + (note.n_descsz + 3) / 4 * 4;
      }
    }
    return 1;  // the first object is the executable; no more
  };
  dl_iterate_phdr(look, &id);
  return id;
}

}  // namespace kenaz::cache
