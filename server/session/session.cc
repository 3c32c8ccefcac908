#include "server/session/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <set>

namespace kenaz {

Session::Handler Session::handler(protocol::CommandId id) {
  static constexpr Handler kHandlers[] = {
#define COMMAND(e, name, min, max, where, reply, args, help) &Session::do_##name,
#include "protocol/commands.def"
#undef COMMAND
  };
  return kHandlers[static_cast<size_t>(id)];
}

protocol::Reply Session::guarded(const std::function<Status()>& body) {
  reply_ = {};
  Status status;
  // Containers throw where memory ends, also on a client's account: that fails the command only.
  try {
    program_.begin();
    status = body();
  } catch (const std::bad_alloc&) {
    status = fail(ErrorKind::kOutOfMemory, "The server has no memory left for this command.");
  } catch (const std::exception& e) {
    status = internal_error(fmt::format("Internal error: {}", e.what()));
  }
  program_.end();
  if (!status) {
    reply_.failure = status.error().text();
    if (options_.metrics) options_.metrics->failed(status.error().kind);
  }
  return std::move(reply_);
}

protocol::Reply Session::execute(const protocol::Request& request) {
  return guarded([&] { return (this->*handler(request.command->id))(request.args); });
}

protocol::Reply Session::execute(std::string_view line) {
  return guarded([&]() -> Status {
    KENAZ_ASSIGN(const protocol::Request request, protocol::parse_request(line));
    return (this->*handler(request.command->id))(request.args);
  });
}

Result<const host::EntrySignature*> Session::find_entry(const std::string& name) {
  KENAZ_TRY(program_.served());
  for (const auto& entry : engine()->entries()) {
    if (entry.name == name) return &entry;
  }
  return bad_request("Unknown entry point: " + name);
}

Result<const ValueType*> Session::find_type(const std::string& name) {
  KENAZ_TRY(program_.served());
  const auto it = types().find(name);
  if (it == types().end()) {
    return bad_request("Unknown type: " + name +
                       "\nThe command `types` lists them; one with spaces goes in quotes.");
  }
  return &it->second;
}

namespace {

Result<const ValueType*> of_kind(const ValueType* type, TypeKind kind) {
  if (type->kind == kind) return type;
  switch (kind) {
    case TypeKind::kArray: return bad_request("Not an array type");
    case TypeKind::kRecord: return bad_request("Not a record type");
    case TypeKind::kSum: return bad_request("Not a sum type");
    default: return bad_request("Not such a type");
  }
}

}  // namespace

Result<const ValueType*> Session::find_type(const std::string& name, TypeKind kind) {
  KENAZ_ASSIGN(const ValueType* type, find_type(name));
  return of_kind(type, kind);
}

Result<const ValueType*> Session::type_of(const Variable& v, const std::string& name) {
  const auto it = v.types->table.find(name);
  if (it == v.types->table.end()) return internal_error("the type table contradicts itself");
  return &it->second;
}

Result<const ValueType*> Session::type_of(const Variable& v, TypeKind kind) {
  KENAZ_ASSIGN(const ValueType* type, type_of(v));
  return of_kind(type, kind);
}

Result<Session::Leaves> Session::gather(std::span<const ValueType::Field> fields,
                                        Args variables) const {
  Leaves leaves;
  for (size_t i = 0; i < fields.size(); ++i) {
    KENAZ_ASSIGN(const Variable* v, variables_.find(variables[i]));
    if (!has_type(*v, fields[i].type, *program_.types())) {
      return bad_request(fmt::format("Field {} mismatch: expected type {}, got {}", fields[i].name,
                                     fields[i].type,
                                     type_text(*v, fields[i].type, *program_.types())));
    }
    leaves.insert(leaves.end(), v->leaves.begin(), v->leaves.end());
  }
  return leaves;
}

Status Session::scatter(const TypesPtr& of, std::span<const std::string> types, Args names,
                        const Leaves& leaves) {
  std::set<std::string> seen;
  for (const auto& name : names) {
    KENAZ_TRY(variables_.check_free(name));
    if (!seen.insert(name).second) return bad_request("Variable already exists: " + name);
  }
  std::vector<Variable> parts;
  auto next = leaves.begin();
  for (const auto& type_name : types) {
    const auto type = of->table.find(type_name);
    const auto n = type == of->table.end() ? std::ptrdiff_t{-1} : std::ssize(type->second.leaves);
    if (n < 0 || leaves.end() - next < n) {
      return internal_error("the type table contradicts itself");
    }
    parts.push_back({type_name, {next, next + n}, of});
    next += n;
  }
  for (size_t i = 0; i < names.size(); ++i) {
    auto added = variables_.add(names[i], std::move(parts[i]));
    if (added) continue;
    while (i > 0) KENAZ_TRY(variables_.remove(names[--i]));
    return added;
  }
  return {};
}

// ---- commands that something else carries out

Status Session::do_auth(Args) { return bad_request("No token is asked for here."); }

Status Session::do_attach(Args) {
  return bad_request("Only connections to a socket can join named sessions.");
}

Status Session::do_sessions(Args) { return bad_request("Only a server on sockets has sessions."); }

Status Session::do_cancel(Args) { return bad_request("Only a server on sockets has sessions."); }

Status Session::do_upload(Args) { return internal_error("upload is a stream"); }

Status Session::do_download_shared(Args) { return internal_error("download_shared is a stream"); }

Status Session::do_share(Args args) {
  const auto failed = [&](const Error& why) {
    return bad_request(fmt::format("Failed to open {}: {}", args[0], why.message));
  };
  const auto file = options_.files.open_shared(args[0]);
  if (!file) return failed(file.error());
  auto memory = SharedMemory::map(*file);
  if (!memory) return failed(memory.error());
  shared_ = std::move(*memory);
  return {};
}

Status Session::do_load(Args) { return internal_error("load is a stream"); }

Status Session::do_devices(Args) {
  for (const DeviceFigures& d : program_.placement().pool()->figures()) {
    std::string name = d.name;
    std::replace(name.begin(), name.end(), '"', '\'');
    const std::string words[] = {d.number,
                                 d.lost ? "lost" : "ready",
                                 std::to_string(d.sessions),
                                 std::to_string(d.calls_at_hand),
                                 std::to_string(d.memory.used),
                                 std::move(name)};
    KENAZ_ASSIGN(std::string line, protocol::join_words(words));
    print(std::move(line));
  }
  return {};
}

Status Session::do_download(Args) { return internal_error("download is a stream"); }

// ---- programs

Status Session::do_programs(Args) {
  for (const ProgramPtr& program : program_.all().all()) {
    const std::string words[] = {program->name, program->version,
                                 std::to_string(program->engine->entries().size())};
    KENAZ_ASSIGN(std::string line, protocol::join_words(words));
    print(std::move(line));
  }
  for (const auto& [name, program] : program_.loaded()) {
    const std::string words[] = {name, program->version,
                                 std::to_string(program->signature.entries.size())};
    KENAZ_ASSIGN(std::string line, protocol::join_words(words));
    print(std::move(line));
  }
  return {};
}

Status Session::do_unload(Args args) { return program_.unload(args[0]); }

Status Session::do_program(Args args) { return program_.choose(args[0]); }

// ---- help and figures

Status Session::do_help(Args args) {
  const auto usage = [](const protocol::CommandInfo& c) {
    return fmt::format("{}{}{}", c.name, c.args.empty() ? "" : " ", c.args);
  };
  if (!args.empty()) {
    const auto* command = protocol::find_command(args[0]);
    if (command == nullptr) return help_on_entry(args[0]);
    print(usage(*command));
    print(std::string(command->help));
    return {};
  }
  for (const auto& c : protocol::commands()) print(fmt::format("{:<32} {}", usage(c), c.help));
  return {};
}

Status Session::help_on_entry(const std::string& name) {
  const auto entry = find_entry(name);
  if (!entry) return bad_request(fmt::format("Unknown command: {}", name));
  std::string usage = fmt::format("call {} OUT", name);
  for (const auto& p : (*entry)->params) usage += " " + (p.name.empty() ? "IN" : p.name);
  print(usage);
  for (const auto& p : (*entry)->params) {
    print(fmt::format("{}: {}", p.name.empty() ? "IN" : p.name, p.type));
  }
  for (const auto& attr : (*entry)->attrs) print(attr);
  return {};
}

Status Session::do_stats(Args) {
  if (!options_.metrics) return bad_request("This server keeps no figures.");
  const auto devices = program_.placement().pool()->figures();
  for (auto& line : options_.metrics->lines(devices, program_.loaded_figures()))
    print(std::move(line));
  return {};
}

// ---- tuning

namespace {

const program::TuningParam* find_param(const host::Engine& engine, const std::string& name) {
  for (const auto& param : engine.tuning_params()) {
    if (param.name == name) return &param;
  }
  return nullptr;
}

}  // namespace

Status Session::do_set_tuning_param(Args args) {
  const auto refuse = [&](const char* why) {
    return bad_request(
        fmt::format("Failed to set tuning parameter {} to {}\n{}", args[0], args[1], why));
  };
  KENAZ_TRY(program_.served());
  if (find_param(*engine(), args[0]) == nullptr) {
    return refuse("The program has no such parameter.");
  }
  const auto value = host::tuning_value(args[1]);
  if (!value) return refuse("The value must be an integer; 0 is the default.");
  program_.tune(args[0], *value);
  return {};
}

Status Session::do_tuning_params(Args args) {
  KENAZ_ASSIGN(const auto* entry, find_entry(args[0]));
  for (const auto& name : entry->tuning) print(name);
  return {};
}

Status Session::do_tuning_param_class(Args args) {
  KENAZ_TRY(program_.served());
  const program::TuningParam* param = find_param(*engine(), args[0]);
  if (param == nullptr) return bad_request("Unknown tuning parameter: " + args[0]);
  print(program::class_text(*param));
  return {};
}

}  // namespace kenaz
