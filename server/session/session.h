// A session: one client, its variables, and what the commands do. Lines in, replies out; knows no
// transport. A command that fails changes nothing, except that `restore` keeps the variables that
// it read before the one that failed, and `free` those it freed, as the protocol documents.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/command.h"
#include "protocol/reply.h"
#include "server/host/engine.h"
#include "server/variables/variables.h"

namespace kenaz {

struct SessionOptions {
  bool log = false;      // say in replies what was done
  bool profile = false;  // record an event per call, for `report`
};

class Session {
 public:
  Session(std::unique_ptr<host::Engine> engine, const SessionOptions& options)
      : engine_(std::move(engine)), options_(options), recording_(options.profile) {}

  protocol::Reply execute(std::string_view line);

 private:
  using Args = std::span<const std::string>;
  using Leaves = std::vector<host::LeafPtr>;
  using Handler = Status (Session::*)(Args);

  Status dispatch(std::string_view line);
  static Handler handler(protocol::CommandId id);
#define COMMAND(e, name, min, max, usage, help) Status do_##name(Args args);
#include "protocol/commands.def"
#undef COMMAND

  Result<const host::EntrySignature*> find_entry(const std::string& name) const;
  Result<const ValueType*> find_type(const std::string& name) const;
  /// Also fails if the type is not of that kind: "Not a record type".
  Result<const ValueType*> find_type(const std::string& name, TypeKind kind) const;
  void print(std::string line) { reply_.output.push_back(std::move(line)); }

  /// The leaves of variables in order, which must have these types, one each.
  Result<Leaves> gather(std::span<const ValueType::Field> fields, Args variables) const;
  /// Checks that the names are free and different, and that there are as many as types; then gives
  /// each the next leaves.
  Status scatter(std::span<const std::string> types, Args names, const Leaves& leaves);
  Result<size_t> variant_of(const Variable& value, const ValueType& sum);
  Result<std::vector<int64_t>> outer_shape(const Variable& v, const ValueType& array) const;
  Result<data::Value> join_leaf(const LeafType& type, const std::vector<int64_t>& outer,
                                const std::vector<const Variable*>& elements, size_t k);
  Result<data::Value> get(const host::LeafPtr& leaf) { return engine_->get(*leaf); }

  std::unique_ptr<host::Engine> engine_;
  const SessionOptions options_;
  Variables variables_;
  protocol::Reply reply_;  // of the command being executed

  struct Event {
    std::string name;
    double microseconds;
  };
  bool recording_;
  std::vector<Event> events_;
};

}  // namespace kenaz
