// The commands that are streams: what they are made of.
#include <fmt/format.h>

#include <cstdint>
#include <new>
#include <set>

#include "protocol/base/whole_number.h"
#include "server/session/leaf_checks.h"
#include "server/session/load.h"
#include "server/session/move.h"
#include "server/session/restore.h"
#include "server/session/session.h"
#include "server/session/store.h"

namespace kenaz {

namespace {

Result<int64_t> byte_count(const std::string& word) {
  const auto bytes = whole_number<int64_t>(word);
  if (bytes && *bytes >= 0) return *bytes;
  return bad_request(fmt::format("`{}` is no number of bytes.", word));
}

}  // namespace

Result<std::vector<Upload::Target>> Session::upload_targets(Args pairs) {
  if (pairs.size() % 2 != 0) {
    return bad_request(
        fmt::format("Variable {} has no type.\nUsage: upload BYTES VAR TYPE ..", pairs.back()));
  }
  std::vector<Upload::Target> targets;
  std::set<std::string> seen;
  for (size_t i = 0; i < pairs.size(); i += 2) {
    KENAZ_TRY(variables_.check_free(pairs[i]));
    if (!seen.insert(pairs[i]).second) return bad_request("Variable already exists: " + pairs[i]);
    KENAZ_ASSIGN(const ValueType* type, find_type(pairs[i + 1]));
    targets.push_back({pairs[i], type, constructor_counts(types(), *type), program_.types()});
  }
  return targets;
}

Result<std::unique_ptr<Stream>> Session::begin_upload(Args args) {
  KENAZ_ASSIGN(const int64_t bytes, byte_count(args[0]));
  if (options_.max_upload != 0 && bytes > options_.max_upload) {
    return fail(ErrorKind::kOutOfMemory,
                fmt::format("An upload of {} bytes; {} are allowed.", bytes, options_.max_upload));
  }
  std::vector<Upload::Target> targets;
  std::optional<Error> refused;
  if (auto wanted = upload_targets(args.subspan(1)); wanted) {
    targets = std::move(*wanted);
  } else {
    refused = std::move(wanted).error();
  }
  const int64_t room = variables_.room();
  auto reserved = variables_.reserve(refused ? 0 : bytes);
  return std::make_unique<Upload>(engine(), std::move(targets), bytes, room, std::move(reserved),
                                  options_.memory, std::move(refused));
}

namespace {

/// The part OFFSET BYTES.
Result<std::span<std::byte>> part_of_shared(const SharedMemoryPtr& memory,
                                            std::span<const std::string> words) {
  if (!memory) return bad_request("There is no shared memory; the command `share` names some.");
  KENAZ_ASSIGN(const int64_t offset, byte_count(words[0]));
  KENAZ_ASSIGN(const int64_t bytes, byte_count(words[1]));
  return memory->part(offset, bytes);
}

}  // namespace

Result<std::unique_ptr<Stream>> Session::begin_upload_shared(Args args) {
  KENAZ_ASSIGN(const auto part, part_of_shared(shared_, args));
  const auto bytes = static_cast<int64_t>(part.size());
  if (options_.max_upload != 0 && bytes > options_.max_upload) {
    return fail(ErrorKind::kOutOfMemory,
                fmt::format("An upload of {} bytes; {} are allowed.", bytes, options_.max_upload));
  }
  KENAZ_ASSIGN(auto targets, upload_targets(args.subspan(2)));
  const int64_t room = variables_.room();
  Upload upload(engine(), std::move(targets), bytes, room, variables_.reserve(bytes),
                options_.memory, std::nullopt);
  return std::make_unique<SharedUpload>(shared_, part, std::move(upload));
}

Result<std::unique_ptr<Stream>> Session::begin_download_shared(Args args) {
  KENAZ_ASSIGN(const auto part, part_of_shared(shared_, args));
  Leaves leaves;
  int64_t bytes = 0;
  for (const auto& name : args.subspan(2)) {
    KENAZ_ASSIGN(const Variable* v, variables_.find(name));
    for (const auto& leaf : v->leaves) {
      bytes += static_cast<int64_t>(data::binary_header(leaf->prim, leaf->shape).size());
      bytes += leaf->bytes();
      leaves.push_back(leaf);
    }
  }
  auto loan = variables_.lend(leaves);
  if (bytes > static_cast<int64_t>(part.size())) {
    return std::make_unique<Download>(engine(), std::move(leaves), std::move(loan));
  }
  return std::make_unique<SharedDownload>(shared_, part, engine(), std::move(leaves),
                                          std::move(loan));
}

Result<std::unique_ptr<Stream>> Session::begin_load(Args args) {
  const std::string& name = args[0];
  KENAZ_ASSIGN(const int64_t bytes, byte_count(args[1]));
  if (bytes > ClientPrograms::kMostSource) {
    return fail(ErrorKind::kOutOfMemory, fmt::format("Sources of {} bytes; {} are allowed.", bytes,
                                                     ClientPrograms::kMostSource));
  }
  const auto allowed = [&]() -> Status {
    if (!options_.clients) {
      return bad_request("This server takes no programs from its clients (--allow-load).");
    }
    KENAZ_TRY(program_.check_name(name));
    // What has ended would keep its place for nothing.
    const auto former = program_.loaded().find(name);
    const bool ended = former != program_.loaded().end() && former->second->process->has_ended();
    if (ended) KENAZ_TRY(program_.unload(name));
    return {};
  };
  return std::make_unique<Load>(options_.clients, name, options_.client,
                                program_.placement().device().selector, bytes, allowed(),
                                options_.memory,
                                [this](ClientProgramPtr made) { program_.keep(std::move(made)); });
}

Result<std::unique_ptr<Stream>> Session::begin_download(Args args) {
  Leaves leaves;
  for (const auto& name : args) {
    KENAZ_ASSIGN(const Variable* v, variables_.find(name));
    leaves.insert(leaves.end(), v->leaves.begin(), v->leaves.end());
  }
  auto loan = variables_.lend(leaves);
  return std::make_unique<Download>(engine(), std::move(leaves), std::move(loan));
}

Result<std::unique_ptr<Stream>> Session::begin_restore(Args args) {
  const std::string& path = args[0];
  const Args pairs = args.subspan(1);
  if (pairs.size() % 2 != 0) {
    return bad_request(
        fmt::format("Variable {} has no type.\nUsage: restore FILE VAR TYPE ..", pairs.back()));
  }
  for (size_t i = 1; i < pairs.size(); i += 2) KENAZ_TRY(find_type(pairs[i]));
  const auto no_file = [&](const Error& why) {
    return bad_request(fmt::format("Failed to open {}: {}", path, why.message));
  };
  auto file = options_.files.open(path, false);
  if (!file) return no_file(file.error());
  auto source = data::ByteSource::adopt(std::move(*file));
  if (!source) return no_file(source.error());
  // Values before one whose name is taken are restored.
  size_t good = 0;
  std::set<std::string> seen;
  Status free;
  for (; good < pairs.size() && free; good += 2) {
    free = seen.insert(pairs[good]).second ? variables_.check_free(pairs[good])
                                           : bad_request("Variable already exists: " + pairs[good]);
    if (!free) break;
  }
  KENAZ_ASSIGN(auto targets, upload_targets(pairs.first(good)));
  Restore::Bounds bounds{variables_.room(), nullptr, options_.file_seconds, options_.memory};
  // A byte of text is at most one of a string, or with another byte a number of eight.
  constexpr int64_t kMostPerByte = 4;
  const int64_t size = source->remaining().value_or(0);
  bounds.reserved = variables_.reserve(std::min(size, INT64_MAX / kMostPerByte) * kMostPerByte);
  std::optional<Error> then;
  if (!free) then = std::move(free).error();
  return std::make_unique<Restore>(engine(), Restore::File{path, std::move(*source)},
                                   std::move(targets), std::move(bounds), std::move(then));
}

Result<std::unique_ptr<Stream>> Session::begin_store(Args args) {
  const std::string& path = args[0];
  Leaves leaves;
  for (const auto& name : args.subspan(1)) {
    KENAZ_ASSIGN(const Variable* v, variables_.find(name));
    leaves.insert(leaves.end(), v->leaves.begin(), v->leaves.end());
  }
  auto file = options_.files.open(path, true);
  if (!file) {
    return bad_request(fmt::format("Failed to open {}: {}", path, file.error().message));
  }
  auto loan = variables_.lend(leaves);
  return std::make_unique<Store>(engine(), Store::to_file(path, std::move(*file)),
                                 std::move(leaves), std::move(loan));
}

Result<std::unique_ptr<Stream>> Session::begin_device(Args args) {
  const Move::End from{engine(), device()};
  if (args.empty()) {
    return std::make_unique<Move>(from, from, Leaves(),
                                  [this] { print(DevicePool::name_of(device())); });
  }
  const auto& pool = program_.placement().pool();
  const auto wanted = pool->find(args[0]);
  if (!wanted) {
    return bad_request(
        fmt::format("Unknown device: {}\nThe command `devices` lists them.", args[0]));
  }
  if (*wanted == device()) return std::make_unique<Move>(from, from, Leaves(), [] {});
  if (streams_.use_count() > 1) {
    return bad_request("Values are on their way to this session; they must be there first.");
  }
  const auto place = std::make_shared<Placement>(pool, *wanted);
  Leaves leaves;
  std::set<const host::Leaf*> seen;
  for (const auto& [name, variable] : variables_.all()) {
    for (const auto& leaf : variable.leaves) {
      if (seen.insert(leaf.get()).second) leaves.push_back(leaf);
    }
  }
  return std::make_unique<Move>(from, Move::End{ChosenProgram::engine_for_values(*place), *wanted},
                                std::move(leaves),
                                [this, place] { program_.move_to(std::move(*place)); });
}

/// All of a stream that needs no client.
Status Session::run_through(Stream& stream) {
  while (true) {
    switch (stream.want()) {
      case Stream::Want::kWork: stream.work(); break;
      case Stream::Want::kAside: stream.aside(); break;
      default: return stream.finish(variables_);
    }
  }
}

Status Session::do_restore(Args args) {
  KENAZ_ASSIGN(const auto stream, begin_restore(args));
  return run_through(*stream);
}

Status Session::do_upload_shared(Args args) {
  KENAZ_ASSIGN(const auto stream, begin_upload_shared(args));
  return run_through(*stream);
}

Status Session::do_store(Args args) {
  KENAZ_ASSIGN(const auto stream, begin_store(args));
  return run_through(*stream);
}

Status Session::do_device(Args args) {
  KENAZ_ASSIGN(const auto stream, begin_device(args));
  return run_through(*stream);
}

Result<std::unique_ptr<Stream>> Session::begin(const protocol::Request& request) {
  Result<std::unique_ptr<Stream>> stream = internal_error("no stream");
  try {
    program_.begin();
    switch (request.command->id) {
      case protocol::CommandId::kUpload: stream = begin_upload(request.args); break;
      case protocol::CommandId::kLoad: stream = begin_load(request.args); break;
      case protocol::CommandId::kDownload: stream = begin_download(request.args); break;
      case protocol::CommandId::kUploadShared: stream = begin_upload_shared(request.args); break;
      case protocol::CommandId::kDownloadShared:
        stream = begin_download_shared(request.args);
        break;
      case protocol::CommandId::kRestore: stream = begin_restore(request.args); break;
      case protocol::CommandId::kStore: stream = begin_store(request.args); break;
      case protocol::CommandId::kDevice: stream = begin_device(request.args); break;
      default: break;
    }
    if (stream) (*stream)->set_device(device());
    const bool makes_variables = request.command->id == protocol::CommandId::kUpload ||
                                 request.command->id == protocol::CommandId::kUploadShared ||
                                 request.command->id == protocol::CommandId::kRestore;
    if (stream && makes_variables) (*stream)->keep(streams_);
  } catch (const std::bad_alloc&) {
    stream = fail(ErrorKind::kOutOfMemory, "The server has no memory left for this command.");
  }
  program_.end();
  return stream;
}

protocol::Reply Session::end(Stream& stream) {
  return guarded([&] { return stream.finish(variables_); });
}

}  // namespace kenaz
