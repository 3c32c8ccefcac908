#include "client/lib/client.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <deque>
#include <exception>
#include <new>
#include <optional>

#include "client/lib/temp_dir.h"
#include "client/lib/values.h"
#include "protocol/data/binary_format.h"

namespace kenaz::client {
namespace {

using Lines = std::vector<std::string>;

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<Lines> receive_lines(Connection& server) {
  KENAZ_ASSIGN(auto reply, server.receive());
  if (reply.failure) return fail(ErrorKind::kProgramFailure, *reply.failure);
  return std::move(reply.output);
}

Status receive_nothing(Connection& server) {
  KENAZ_TRY(receive_lines(server));
  return {};
}

Result<std::chrono::microseconds> receive_runtime(Connection& server) {
  KENAZ_ASSIGN(const Lines lines, receive_lines(server));
  constexpr std::string_view kRuntime = "runtime: ";
  for (const auto& line : lines) {
    int64_t n = 0;
    if (!line.starts_with(kRuntime)) continue;
    const char* end = line.data() + line.size();
    if (std::from_chars(line.data() + kRuntime.size(), end, n).ptr == end) {
      return std::chrono::microseconds(n);
    }
  }
  return internal_error("the server does not say how long the call took");
}

struct Header {
  PrimType type;
  Shape shape;
  int64_t bytes;  // of elements
};

/// The header of the next value of a download: `take` fills what it is given with the next bytes,
/// of which there are `most`.
template <class Take>
Result<Header> take_header(Take take, int64_t most) {
  std::string text(7, '\0');
  KENAZ_TRY(take(std::as_writable_bytes(std::span(text))));
  const auto rank = static_cast<unsigned char>(text[2]);
  if (rank > data::kMaxRank) return internal_error("the server sends a value of too high a rank");
  Header header{PrimType::kI8, Shape(rank), 0};
  KENAZ_TRY(take(std::as_writable_bytes(std::span(header.shape))));
  std::string_view name = std::string_view(text).substr(3);
  while (name.starts_with(' ')) name.remove_prefix(1);
  const auto type = prim_from_name(name);
  if (!type || data::binary_header(*type, header.shape).substr(0, 7) != text) {
    return internal_error("the server sends what is no value in the binary format");
  }
  header.type = *type;
  KENAZ_ASSIGN(header.bytes, data::checked_bytes(header.type, header.shape));
  const auto before = static_cast<int64_t>(text.size() + sizeof(int64_t) * rank);
  if (header.bytes > most - before) {
    return internal_error("the values that the server sends end too early");
  }
  return header;
}

Result<Header> take_header(Connection& server) {
  return take_header([&](std::span<std::byte> out) { return server.take(out); }, server.untaken());
}

Result<std::vector<data::Value>> receive_values(Connection& server) {
  KENAZ_TRY(server.receive_count());
  std::vector<data::Value> values;
  Status status;
  while (status && server.untaken() > 0) {
    status = [&]() -> Status {
      KENAZ_ASSIGN(Header header, take_header(server));
      data::Value value{header.type, std::move(header.shape), {}};
      value.bytes.resize(static_cast<size_t>(header.bytes));
      KENAZ_TRY(server.take(value.bytes));
      values.push_back(std::move(value));
      return {};
    }();
  }
  KENAZ_TRY(server.receive_end());
  KENAZ_TRY(status);
  return values;
}

/// What a variable of another type than the caller expects is told.
tl::unexpected<Error> other_type(const std::string& name, PrimType wanted, const std::string& got) {
  return bad_request(fmt::format("{} is of type {}; asked for are elements of type {}", name, got,
                                 prim_name(wanted)));
}

/// What follows the count of a download of one value.
Status receive_elements(Connection& server, const std::string& name, PrimType type,
                        const Client::Allocate& allocate) {
  const auto received = [&]() -> Status {
    KENAZ_ASSIGN(const Header header, take_header(server));
    if (header.bytes < server.untaken()) return other_type(name, type, "several values");
    if (header.type != type) {
      return other_type(name, type, data::Value{header.type, header.shape, {}}.type_name());
    }
    return server.take(allocate(
        header.shape, static_cast<size_t>(header.bytes) / static_cast<size_t>(prim_size(type))));
  }();
  KENAZ_TRY(server.receive_end());
  return received;
}

/// Thrown where a reply was to be kept.
Error thrown(const std::exception& e) {
  const bool memory = dynamic_cast<const std::bad_alloc*>(&e) != nullptr;
  return {memory ? ErrorKind::kOutOfMemory : ErrorKind::kInternal,
          memory ? "no memory for the server's reply" : e.what(),
          {}};
}

template <class T>
std::future<Result<T>> ready(Error error) {
  return std::async(std::launch::deferred, [error = std::move(error)]() -> Result<T> {
    return tl::make_unexpected(error);
  });
}

}  // namespace

/// Shared with the futures, which receive replies when they are asked.
struct Client::Core {
  /// A reply that has not been received, or whose outcome has not been asked for.
  struct Pending {
    std::function<void(Connection&)> receive;
    bool done = false;
  };

  explicit Core(std::unique_ptr<Connection> c, bool streaming)
      : connection(std::move(c)), streams(streaming) {}

  /// Receives replies until this one has come.
  void settle(const Pending& wanted) {
    while (!wanted.done) settle_next();
  }
  void settle_next() {
    const auto next = std::move(queue.front());
    queue.pop_front();
    next->receive(*connection);
    next->receive = nullptr;
    next->done = true;
  }

  /// For a command that has been sent: how its reply is received.
  template <class T, class Receive>
  static std::future<Result<T>> expect(const std::shared_ptr<Core>& core, Receive receive) {
    auto outcome = std::make_shared<std::optional<Result<T>>>();
    auto pending = std::make_shared<Pending>();
    pending->receive = [outcome, receive = std::move(receive)](Connection& c) mutable {
      try {
        outcome->emplace(receive(c));
      } catch (const std::exception& e) {
        // The rest of this reply would be taken for those that follow.
        Error error = thrown(e);
        c.give_up(error.message);
        outcome->emplace(tl::make_unexpected(std::move(error)));
      }
    };
    core->queue.push_back(pending);
    return std::async(std::launch::deferred, [core, pending, outcome]() -> Result<T> {
      core->settle(*pending);
      return std::move(**outcome);
    });
  }

  Result<std::string> new_file() {
    if (!scratch) {
      KENAZ_ASSIGN(auto dir, TempDir::make());
      scratch.emplace(std::move(dir));
    }
    return scratch->file(std::to_string(files++));
  }

  /// A server of ours that is too old for `download`, and hence for `upload`, still has files.
  void find_out_whether_it_streams() {
    const auto reply = connection->command({"download", "?"});
    streams = reply && reply->failure && !reply->failure->starts_with("Unknown command");
  }

  std::unique_ptr<Connection> connection;
  bool is_ours = false;  // this client started the server
  bool streams;          // values come and go through the connection, not through files
  std::optional<TempDir> scratch;
  int files = 0;
  std::deque<std::shared_ptr<Pending>> queue;
};

Result<Client> Client::start(const ServerOptions& options, Deadline deadline) {
  KENAZ_ASSIGN(auto connection, Connection::start(options, deadline));
  auto core = std::make_shared<Core>(std::move(connection), false);
  core->is_ours = true;
  // Futhark's own servers end at a command that they do not know: they are not asked.
  if (!options.program.empty()) core->find_out_whether_it_streams();
  return Client(std::move(core));
}

Result<Client> Client::connect(std::string_view url, const ConnectOptions& options,
                               Deadline deadline) {
  KENAZ_ASSIGN(auto connection, Connection::connect(url, options, deadline));
  return Client(std::move(connection));
}

Client::Client(std::unique_ptr<Connection> connection)
    : core_(std::make_shared<Core>(std::move(connection), true)) {}

void Client::set_deadline(Deadline deadline) { core_->connection->set_deadline(deadline); }

Connection& Client::connection() { return *core_->connection; }

bool Client::broken() const { return core_->connection->broken(); }

Client::Future<void> Client::put_async(const std::string& name, const data::Value& value) {
  const Piece piece{value.type, value.shape, value.bytes};
  return upload(name, "", {&piece, 1});
}

Client::Future<void> Client::put_opaque_async(const std::string& name, const std::string& type,
                                              std::span<const data::Value> leaves) {
  std::vector<Piece> pieces;
  for (const auto& leaf : leaves) pieces.push_back({leaf.type, leaf.shape, leaf.bytes});
  return upload(name, type, pieces);
}

Client::Future<void> Client::upload(const std::string& name, const std::string& type,
                                    std::span<const Piece> pieces) {
  size_t total = 0;
  std::vector<std::string> headers;
  for (const auto& piece : pieces) {
    const auto bytes = data::checked_bytes(piece.type, piece.shape);
    if (!bytes) return ready<void>(bytes.error());
    if (static_cast<size_t>(*bytes) != piece.bytes.size()) {
      return ready<void>(
          Error{ErrorKind::kBadRequest,
                fmt::format("{}: {} elements do not make an array of shape {}", name,
                            piece.bytes.size() / static_cast<size_t>(prim_size(piece.type)),
                            data::shape_text(piece.shape)),
                {}});
    }
    headers.push_back(data::binary_header(piece.type, piece.shape));
    total += headers.back().size() + piece.bytes.size();
  }
  const std::string type_name =
      type.empty() ? data::Value{pieces[0].type, pieces[0].shape, {}}.type_name() : type;
  Connection& server = *core_->connection;
  if (!core_->streams) {
    const auto path = core_->new_file();
    if (!path) return ready<void>(path.error());
    std::string contents;
    for (size_t i = 0; i < pieces.size(); ++i) {
      contents.append(headers[i]).append(as_text(pieces[i].bytes));
    }
    if (auto written = write_file(*path, contents); !written) return ready<void>(written.error());
    if (auto sent = server.send({"restore", *path, name, type_name}); !sent) {
      return ready<void>(sent.error());
    }
    return Core::expect<void>(core_, [path = *path](Connection& c) {
      auto status = receive_nothing(c);
      ::unlink(path.c_str());
      return status;
    });
  }
  auto sent = server.send({"upload", std::to_string(total), name, type_name});
  for (size_t i = 0; sent && i < pieces.size(); ++i) {
    sent = server.send_bytes(headers[i]);
    if (sent) sent = server.send_bytes(as_text(pieces[i].bytes));
  }
  if (!sent) return ready<void>(sent.error());
  return Core::expect<void>(core_, receive_nothing);
}

Client::Future<std::vector<data::Value>> Client::get_values_async(const std::string& name) {
  using Values = std::vector<data::Value>;
  if (core_->streams) {
    if (auto sent = core_->connection->send({"download", name}); !sent) {
      return ready<Values>(sent.error());
    }
    return Core::expect<Values>(core_, receive_values);
  }
  const auto path = core_->new_file();
  if (!path) return ready<Values>(path.error());
  if (auto sent = core_->connection->send({"store", *path, name}); !sent) {
    return ready<Values>(sent.error());
  }
  return Core::expect<Values>(core_, [path = *path](Connection& c) -> Result<Values> {
    const auto status = receive_nothing(c);
    auto values = status ? read_value_file(path) : tl::make_unexpected(status.error());
    ::unlink(path.c_str());
    return values;
  });
}

Client::Future<void> Client::download(const std::string& name, PrimType type, Allocate allocate) {
  if (!core_->streams) {
    auto values = get_values_async(name);
    return std::async(std::launch::deferred,
                      [name, type, allocate = std::move(allocate),
                       values = std::move(values)]() mutable -> Status {
                        KENAZ_ASSIGN(const auto got, values.get());
                        if (got.size() != 1) return other_type(name, type, "an opaque value");
                        if (got[0].type != type) return other_type(name, type, got[0].type_name());
                        try {
                          const auto place =
                              allocate(got[0].shape, static_cast<size_t>(got[0].count()));
                          std::copy(got[0].bytes.begin(), got[0].bytes.end(), place.begin());
                        } catch (const std::exception& e) {
                          return tl::make_unexpected(thrown(e));
                        }
                        return {};
                      });
  }
  if (auto sent = core_->connection->send({"download", name}); !sent) {
    return ready<void>(sent.error());
  }
  return Core::expect<void>(core_,
                            [name, type, allocate = std::move(allocate)](Connection& c) -> Status {
                              KENAZ_TRY(c.receive_count());
                              return receive_elements(c, name, type, allocate);
                            });
}

// ---- shared memory

std::shared_ptr<SharedMemory> Client::share(size_t bytes) {
  if (!core_->is_ours || !core_->streams) return nullptr;
  auto memory = SharedMemory::make(bytes);
  if (!memory || !request({"share", (*memory)->path()})) return nullptr;
  return std::move(*memory);
}

size_t Client::shared_header_bytes(size_t rank) {
  return data::binary_header(PrimType::kI8, Shape(rank)).size();
}

Client::Future<void> Client::put_shared_async(const std::string& name, PrimType type,
                                              const SharedMemory& memory, size_t at,
                                              const Shape& shape) {
  const auto bytes = data::checked_bytes(type, shape);
  if (!bytes) return ready<void>(bytes.error());
  const std::string header = data::binary_header(type, shape);
  const std::span<std::byte> all = memory.bytes();
  if (at < header.size() || at > all.size() || static_cast<size_t>(*bytes) > all.size() - at) {
    return ready<void>(Error{ErrorKind::kBadRequest, name + ": not in shared memory", {}});
  }
  const size_t first = at - header.size();
  std::memcpy(all.data() + first, header.data(), header.size());
  const std::string count = std::to_string(header.size() + static_cast<size_t>(*bytes));
  const std::string type_name = data::Value{type, shape, {}}.type_name();
  auto sent =
      core_->connection->send({"upload_shared", std::to_string(first), count, name, type_name});
  if (!sent) return ready<void>(sent.error());
  return Core::expect<void>(core_, receive_nothing);
}

namespace {

/// The value that a server has written to shared memory, whose `count` bytes begin there.
Status find_value(const std::string& name, PrimType type, std::span<const std::byte> bytes,
                  const Client::Found& found) {
  std::span<const std::byte> rest = bytes;
  const auto take = [&](std::span<std::byte> out) -> Status {
    if (out.size() > rest.size()) {
      return internal_error("the values that the server sends end too early");
    }
    if (!out.empty()) std::memcpy(out.data(), rest.data(), out.size());
    rest = rest.subspan(out.size());
    return {};
  };
  KENAZ_ASSIGN(const Header header, take_header(take, static_cast<int64_t>(bytes.size())));
  if (header.bytes < static_cast<int64_t>(rest.size())) {
    return other_type(name, type, "several values");
  }
  if (header.type != type) {
    return other_type(name, type, data::Value{header.type, header.shape, {}}.type_name());
  }
  found(header.shape, rest);
  return {};
}

}  // namespace

Client::Future<void> Client::get_shared_async(const std::string& name, PrimType type,
                                              const SharedPlace& place, Found found,
                                              Allocate allocate) {
  const std::span<const std::byte> all = place.memory->bytes();
  if (place.at > all.size() || place.room > all.size() - place.at) {
    return ready<void>(Error{ErrorKind::kBadRequest, name + ": not in shared memory", {}});
  }
  const auto sent = core_->connection->send(
      {"download_shared", std::to_string(place.at), std::to_string(place.room), name});
  if (!sent) return ready<void>(sent.error());
  const auto there = all.subspan(place.at, place.room);
  return Core::expect<void>(
      core_,
      [name, type, there, memory = place.memory, found = std::move(found),
       allocate = std::move(allocate)](Connection& c) -> Status {
        KENAZ_ASSIGN(const int64_t count, c.receive_count(static_cast<int64_t>(there.size())));
        if (static_cast<size_t>(count) > there.size()) {
          return receive_elements(c, name, type, allocate);
        }
        KENAZ_TRY(c.receive_end());
        return find_value(name, type, there.first(static_cast<size_t>(count)), found);
      });
}

Client::Future<std::chrono::microseconds> Client::call_async(const std::string& entry,
                                                             const std::string& out,
                                                             const Lines& ins) {
  Lines words = {"call", entry, out};
  words.insert(words.end(), ins.begin(), ins.end());
  if (auto sent = core_->connection->send(words); !sent) {
    return ready<std::chrono::microseconds>(sent.error());
  }
  return Core::expect<std::chrono::microseconds>(core_, receive_runtime);
}

Client::Future<void> Client::free_async(const Lines& names) {
  Lines words = {"free"};
  words.insert(words.end(), names.begin(), names.end());
  if (auto sent = core_->connection->send(words); !sent) return ready<void>(sent.error());
  return Core::expect<void>(core_, receive_nothing);
}

Client::Future<Lines> Client::request_async(const Lines& words) {
  if (auto sent = core_->connection->send(words); !sent) return ready<Lines>(sent.error());
  return Core::expect<Lines>(core_, receive_lines);
}

Client::Future<void> Client::load_async(const std::string& name,
                                        std::span<const SourceFile> files) {
  const auto archive = source_archive(files);
  if (!archive) return ready<void>(archive.error());
  Connection& server = *core_->connection;
  auto sent = server.send({"load", name, std::to_string(archive->size())});
  if (sent) sent = server.send_bytes(*archive);
  if (!sent) return ready<void>(sent.error());
  return Core::expect<void>(core_, [](Connection& c) {
    Status loaded = receive_nothing(c);
    // Anything else that is refused begins otherwise.
    if (!loaded && loaded.error().message.starts_with("Error at ")) {
      loaded = fail(ErrorKind::kCompile, loaded.error().message);
    }
    return loaded;
  });
}

Result<std::string> Client::device() {
  KENAZ_ASSIGN(const Lines lines, request({"device"}));
  if (lines.size() != 1) return internal_error("the server does not say which device it is");
  return lines[0];
}

Status Client::finish() {
  while (!core_->queue.empty()) core_->settle_next();
  KENAZ_ASSIGN(const auto status, core_->connection->finish());
  if (!status.success()) return internal_error("the server " + status.text());
  return {};
}

}  // namespace kenaz::client
