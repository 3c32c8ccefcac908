#include "client/lib/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <span>

#include "client/lib/values.h"
#include "protocol/data/binary_format.h"
#include "protocol/data/values.h"

namespace kenaz::client {
namespace {

using protocol::Reply;

constexpr size_t kChunk = size_t{1} << 20;

Reply failure(std::string text) { return {{}, std::move(text)}; }

/// A file descriptor that is closed.
class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

/// Fills `out` from an offset; false at a premature end or an error.
bool read_at(int fd, int64_t offset, std::span<std::byte> out) {
  while (!out.empty()) {
    const ssize_t n = ::pread(fd, out.data(), out.size(), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    offset += n;
    out = out.subspan(static_cast<size_t>(n));
  }
  return true;
}

bool write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return true;
}

/// A value in the binary format: a part of the file, or (if it was text there) its bytes.
struct Piece {
  int64_t offset = 0, size = 0;
  std::string bytes;  // not empty: instead of the part of the file
};

/// What a file holds up to the first thing that is no value.
struct Contents {
  std::vector<Piece> pieces;
  std::optional<std::string> error;  // what is wrong after the pieces
};

/// The pieces of a regular file that holds nothing but binary values; nothing for any other.
std::optional<Contents> scan_binary(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  const int64_t size = info.st_size;
  Contents contents;
  for (int64_t offset = 0; offset < size;) {
    std::vector<std::byte> header(data::kBinaryHeaderMin);
    if (!read_at(fd, offset, header) || header[0] != std::byte{'b'}) return std::nullopt;
    header.resize(data::binary_header_bytes(header));
    if (!read_at(fd, offset, header)) return std::nullopt;
    data::ByteSource source({reinterpret_cast<const char*>(header.data()), header.size()});
    const auto read = data::read_binary_header(source);
    if (!read) return std::nullopt;
    const auto elements = data::checked_bytes(read->type, read->shape);
    const auto begin = static_cast<int64_t>(header.size());
    if (!elements || *elements > size - offset - begin) return std::nullopt;
    contents.pieces.push_back({offset, begin + *elements, ""});
    offset += begin + *elements;
  }
  return contents;
}

/// The leaves of a value; nothing if only the server can tell them apart.
std::optional<std::vector<LeafType>> leaves_of(Connection& server, const std::string& type) {
  if (const auto leaf = transparent_leaf(type)) return std::vector<LeafType>{*leaf};
  const auto fields = server.fields(type);
  if (!fields || !*fields) return std::nullopt;
  std::vector<LeafType> leaves;
  for (const auto& [name, field_type] : **fields) {
    const auto more = leaves_of(server, field_type);
    if (!more) return std::nullopt;
    leaves.insert(leaves.end(), more->begin(), more->end());
  }
  return leaves;
}

/// The values of any file. Text is read as the variables' types want it, as far as they are known.
Contents read_any(data::ByteSource& source, const std::vector<LeafType>& types) {
  Contents contents;
  for (size_t i = 0;; ++i) {
    auto value =
        data::read_value(source, i < types.size() ? std::optional(types[i]) : std::nullopt);
    if (!value) {
      contents.error = value.error().message;
      return contents;
    }
    if (!*value) return contents;
    Piece piece;
    data::append_binary(**value, piece.bytes);
    piece.size = static_cast<int64_t>(piece.bytes.size());
    contents.pieces.push_back(std::move(piece));
  }
}

class Restore {
 public:
  Restore(Connection& server, std::string path, int fd, const std::vector<std::string>& words,
          Contents contents)
      : server_(server), path_(std::move(path)), fd_(fd), contents_(std::move(contents)) {
    for (size_t i = 0; i + 1 < words.size(); i += 2) {
      names_.push_back(words[i]);
      types_.push_back(words[i + 1]);
    }
  }

  Result<Reply> run() {
    auto reply = in_one_or_one_by_one();
    // After some refusals the server closes the connection: why it did so is worth more than that
    // it did.
    if (!reply && server_.broken() && latest_.failure) return latest_;
    return reply;
  }

 private:
  Result<Reply> in_one_or_one_by_one() {
    const auto count = contents_.pieces.size();
    const bool opaque = std::any_of(types_.begin(), types_.end(),
                                    [](const auto& type) { return !transparent_leaf(type); });
    if (names_.empty()) return count == 0 && !contents_.error ? Reply() : more_than_wanted();
    // Where all is well, one upload makes all variables.
    if (!contents_.error && (opaque || count == names_.size())) {
      KENAZ_ASSIGN(auto reply, upload(0, names_.size(), 0, count));
      if (!reply.failure) return reply;
    }
    return one_by_one();
  }

  /// The failure is not about the data.
  static bool is_about_names(const std::string& text) {
    return text.starts_with("Variable already exists");
  }

  Reply more_than_wanted() const {
    return failure(
        fmt::format("Expected EOF after reading {} values from {}", names_.size(), path_));
  }

  /// The variables first.. take pieces begin..end.
  Result<Reply> upload(size_t first, size_t variables, size_t begin, size_t end) {
    int64_t total = 0;
    for (size_t i = begin; i < end; ++i) total += contents_.pieces[i].size;
    std::vector<std::string> words = {"upload", std::to_string(total)};
    for (size_t i = first; i < first + variables; ++i) {
      words.push_back(names_[i]);
      words.push_back(types_[i]);
    }
    if (const auto sent = server_.send(words); !sent) {
      if (server_.broken()) return tl::make_unexpected(sent.error());
      return failure(sent.error().message);
    }
    for (size_t i = begin; i < end; ++i) KENAZ_TRY(send(contents_.pieces[i]));
    KENAZ_ASSIGN(auto reply, server_.receive());
    latest_ = reply;
    return reply;
  }

  Status send(const Piece& piece) {
    if (!piece.bytes.empty()) return server_.send_bytes(piece.bytes);
    chunk_.resize(kChunk);
    for (int64_t done = 0; done < piece.size;) {
      const auto part = std::span(chunk_).first(
          static_cast<size_t>(std::min<int64_t>(piece.size - done, kChunk)));
      if (!read_at(fd_, piece.offset + done, part)) {
        // The server waits for bytes that there are no longer.
        return internal_error(fmt::format("{} has become shorter while it was read", path_));
      }
      KENAZ_TRY(server_.send_bytes({reinterpret_cast<const char*>(part.data()), part.size()}));
      done += static_cast<int64_t>(part.size());
    }
    return {};
  }

  /// One upload per variable, so that those before the one that fails stay. Unknown types fail a
  /// `restore` before it begins.
  Result<Reply> one_by_one() {
    for (const auto& type : types_) {
      KENAZ_ASSIGN(auto known, server_.command({"kind", type}));
      if (known.failure) return Reply{{}, std::move(known.failure)};
    }
    size_t next = 0;
    for (size_t i = 0; i < names_.size(); ++i) {
      KENAZ_ASSIGN(auto reply, one(i, next));
      if (!reply.failure) continue;
      if (is_about_names(*reply.failure)) return reply;
      const bool ours = next == contents_.pieces.size() && contents_.error;
      return failure(
          fmt::format("Failed to restore variable {}.\nPossibly malformed data in {} ({})",
                      names_[i], path_, ours ? *contents_.error : *reply.failure));
    }
    return next == contents_.pieces.size() && !contents_.error ? Reply() : more_than_wanted();
  }

  /// An opaque value has as many leaves as the server accepts.
  Result<Reply> one(size_t variable, size_t& next) {
    const size_t left = contents_.pieces.size() - next;
    const bool one_leaf = transparent_leaf(types_[variable]).has_value();
    const size_t most = one_leaf ? std::min<size_t>(1, left) : left;
    Reply last;
    for (size_t leaves = one_leaf ? most : 0; leaves <= most; ++leaves) {
      KENAZ_ASSIGN(last, upload(variable, 1, next, next + leaves));
      if (!last.failure) {
        next += leaves;
        return last;
      }
      if (is_about_names(*last.failure)) return last;
    }
    return last;
  }

  Connection& server_;
  const std::string path_;
  const int fd_;
  std::vector<std::string> names_, types_;
  Contents contents_;
  std::vector<std::byte> chunk_;
  Reply latest_;  // to an upload
};

}  // namespace

Result<Reply> store_here(Connection& server, const std::string& path,
                         const std::vector<std::string>& variables) {
  if (!variables.empty()) {
    std::vector<std::string> words = {"download"};
    words.insert(words.end(), variables.begin(), variables.end());
    if (const auto sent = server.send(words); !sent) {
      if (server.broken()) return tl::make_unexpected(sent.error());
      return failure(sent.error().message);
    }
    if (const auto count = server.receive_count(); !count) {
      if (count.error().kind == ErrorKind::kProgramFailure) return failure(count.error().message);
      return tl::make_unexpected(count.error());
    }
  }
  std::optional<std::string> problem;
  const File file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file) problem = fmt::format("Failed to open {}: {}", path, std::strerror(errno));
  if (variables.empty()) return Reply{{}, problem};
  std::vector<std::byte> chunk(kChunk);
  while (!problem && server.untaken() > 0) {
    const auto part =
        std::span(chunk).first(static_cast<size_t>(std::min<int64_t>(server.untaken(), kChunk)));
    KENAZ_TRY(server.take(part));
    if (!write_all(file.get(), part)) {
      problem = fmt::format("Failed to write {}: {}", path, std::strerror(errno));
    }
  }
  if (const auto end = server.receive_end(); !end) {
    if (server.broken()) return tl::make_unexpected(end.error());
    problem = end.error().message;
  }
  return Reply{{}, problem};
}

Result<Reply> restore_here(Connection& server, const std::string& path,
                           const std::vector<std::string>& names_and_types) {
  if (names_and_types.size() % 2 != 0) {
    return failure(fmt::format("Variable {} has no type.\nUsage: restore FILE VAR TYPE ..",
                               names_and_types.back()));
  }
  const auto cannot_open = [&](const std::string& why) {
    return failure(fmt::format("Failed to open {}: {}", path, why));
  };
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return cannot_open(std::strerror(errno));
  auto contents = scan_binary(file.get());
  if (!contents) {
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(::fdopen(::dup(file.get()), "rb"),
                                                           std::fclose);
    if (!stream) return cannot_open(std::strerror(errno));
    auto source = data::ByteSource::adopt(std::move(stream));
    if (!source) return cannot_open(source.error().message);
    std::vector<LeafType> types;
    for (size_t i = 1; i < names_and_types.size(); i += 2) {
      const auto leaves = leaves_of(server, names_and_types[i]);
      if (!leaves) break;
      types.insert(types.end(), leaves->begin(), leaves->end());
    }
    contents = read_any(*source, types);
  }
  return Restore(server, path, file.get(), names_and_types, std::move(*contents)).run();
}

}  // namespace kenaz::client
