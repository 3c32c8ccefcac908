// The commands that are streams: what they are made of.
#include <fmt/format.h>

#include <charconv>
#include <new>
#include <set>

#include "server/session/session.h"

namespace kenaz {

Result<std::vector<Upload::Target>> Session::upload_targets(Args pairs) const {
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
    targets.push_back({pairs[i], type});
  }
  return targets;
}

Result<std::unique_ptr<Stream>> Session::begin_upload(Args args) {
  int64_t bytes = 0;
  const auto [end, error] = std::from_chars(args[0].data(), args[0].data() + args[0].size(), bytes);
  if (error != std::errc() || end != args[0].data() + args[0].size() || bytes < 0) {
    return bad_request(fmt::format("`{}` is no number of bytes.", args[0]));
  }
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
  return std::make_unique<Upload>(engine_, std::move(targets), bytes, room, std::move(reserved),
                                  std::move(refused));
}

Result<std::unique_ptr<Stream>> Session::begin_download(Args args) {
  Leaves leaves;
  for (const auto& name : args) {
    KENAZ_ASSIGN(const Variable* v, variables_.find(name));
    leaves.insert(leaves.end(), v->leaves.begin(), v->leaves.end());
  }
  auto loan = variables_.lend(leaves);
  return std::make_unique<Download>(engine_, std::move(leaves), std::move(loan));
}

Result<std::unique_ptr<Stream>> Session::begin(const protocol::Request& request) {
  try {
    return request.command->id == protocol::CommandId::kUpload ? begin_upload(request.args)
                                                               : begin_download(request.args);
  } catch (const std::bad_alloc&) {
    return fail(ErrorKind::kOutOfMemory, "The server has no memory left for this command.");
  }
}

protocol::Reply Session::end(Stream& stream) {
  return guarded([&] { return stream.finish(variables_); });
}

}  // namespace kenaz
