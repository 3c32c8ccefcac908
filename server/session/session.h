// A session: one client's variables, and what the commands do. Requests in, replies out; knows no
// transport. A command that fails changes nothing, except that `restore` keeps the variables that
// it read before the one that failed, and `free` those it freed, as the protocol documents.
//
// One thread at a time uses a session. Commands of Where::kDevice, and Stream::work(), use the
// engine, so they run where its turn is. Commands of Where::kAside, and Stream::aside(), use none
// and take long.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/command.h"
#include "protocol/reply.h"
#include "server/client_memory.h"
#include "server/host/engine.h"
#include "server/metrics/metrics.h"
#include "server/session/chosen_program.h"
#include "server/session/files.h"
#include "server/session/shapes.h"
#include "server/session/shared_memory.h"
#include "server/session/stream.h"
#include "server/variables/variables.h"

namespace kenaz {

struct SessionOptions {
  bool log = false;      // say in replies what was done
  bool profile = false;  // record an event per call, for `report`
  VariableLimits limits;
  int64_t max_upload = 0;   // bytes; 0: any number
  double file_seconds = 0;  // that reading a file may take; 0: any
  FileAccess files;
  std::shared_ptr<Metrics> metrics;         // may be null
  std::shared_ptr<ClientMemory> memory;     // may be null
  std::shared_ptr<ClientPrograms> clients;  // what clients load; null: they may not
  std::string client;  // whose session it is, where that limits anything; may be empty
};

class Session {
 public:
  Session(const std::shared_ptr<DevicePool>& pool, SessionOptions options)
      : program_(pool, options.clients),
        options_(std::move(options)),
        variables_(options_.limits, options_.memory),
        recording_(options_.profile),
        events_share_(options_.memory, ClientMemory::Use::kKept) {}
  Session(std::shared_ptr<Programs> programs, SessionOptions options)
      : Session(only_device(std::move(programs)), std::move(options)) {}
  Session(std::shared_ptr<host::Engine> engine, SessionOptions options)
      : Session(only_program(std::move(engine)), std::move(options)) {}

  /// Carries out a command that is no stream of the client's bytes. A file is read or
  /// written at once, on the engine's turn; begin() is for those who would rather not.
  protocol::Reply execute(const protocol::Request& request);
  protocol::Reply execute(std::string_view line);

  /// Starts a command of Where::kStream or kFile. An upload whose arguments are wrong is a stream
  /// too: it takes its bytes and fails at the end. An error means that nobody knows how many bytes
  /// follow.
  Result<std::unique_ptr<Stream>> begin(const protocol::Request& request);
  /// The reply to a stream that is done.
  protocol::Reply end(Stream& stream);

  /// By any thread, while a call is at hand: it ends soon, or does not begin, and fails. What comes
  /// between its beginning here and on the device is missed: say it again.
  void cancel_call() {
    cancelled_ = true;
    program_.cancel();
  }
  /// Forgets cancel_call(): the next call is another.
  void next_call() { cancelled_ = false; }

  const Variables& variables() const { return variables_; }
  /// The file of the program that the last command was about.
  const std::string& program_path() const { return program_.path(); }
  /// The number of the device that the session is on, and how many there are.
  size_t device() const { return program_.placement().number(); }
  size_t devices() const { return program_.placement().pool()->size(); }
  /// A call is at hand, until it has ended: for the device's figures and the program's limits.
  /// Fails if the program has as many as it may; then there is none.
  Status call_begins() {
    KENAZ_TRY(program_.begin_call());
    program_.placement().call_begins();
    return {};
  }
  void call_ended() {
    program_.end_call();
    program_.placement().call_ended();
  }
  Metrics* metrics() const { return options_.metrics.get(); }  // may be null
  /// Of the program that the last command was about, if there was one (see host::Engine).
  bool polls_device() const { return engine() && engine()->polls_device(); }

 private:
  using Args = std::span<const std::string>;
  using Leaves = std::vector<host::LeafPtr>;
  using Handler = Status (Session::*)(Args);

  protocol::Reply guarded(const std::function<Status()>& body);
  static Handler handler(protocol::CommandId id);
#define COMMAND(e, name, min, max, where, reply, usage, help) Status do_##name(Args args);
#include "protocol/commands.def"
#undef COMMAND

  Result<std::unique_ptr<Stream>> begin_upload(Args args);
  Result<std::unique_ptr<Stream>> begin_download(Args args);
  Result<std::unique_ptr<Stream>> begin_upload_shared(Args args);
  Result<std::unique_ptr<Stream>> begin_download_shared(Args args);
  Result<std::unique_ptr<Stream>> begin_restore(Args args);
  Result<std::unique_ptr<Stream>> begin_store(Args args);
  Result<std::unique_ptr<Stream>> begin_load(Args args);
  Result<std::unique_ptr<Stream>> begin_device(Args args);
  Status run_through(Stream& stream);
  Result<std::vector<Upload::Target>> upload_targets(Args pairs);
  Status own_consumed(const host::EntrySignature& entry, Leaves& leaves);
  /// The variables that a call makes: one, or one per component (see do_outputs).
  Status add_results(const host::EntrySignature& entry, Args outs, Leaves leaves);
  /// What `help` says of an entry point.
  Status help_on_entry(const std::string& name);
  Result<const host::EntrySignature*> find_entry(const std::string& name);
  /// A type of the program's.
  Result<const ValueType*> find_type(const std::string& name);
  /// Also fails if the type is not of that kind: "Not a record type".
  Result<const ValueType*> find_type(const std::string& name, TypeKind kind);
  /// A variable's type, as of the program that made it.
  static Result<const ValueType*> type_of(const Variable& v, const std::string& name);
  static Result<const ValueType*> type_of(const Variable& v) { return type_of(v, v.type); }
  static Result<const ValueType*> type_of(const Variable& v, TypeKind kind);
  const TypeTable& types() const { return program_.types()->table; }
  const std::shared_ptr<host::Engine>& engine() const { return program_.engine(); }
  void print(std::string line) { reply_.output.push_back(std::move(line)); }

  /// The leaves of variables in order, which must have these types, one each.
  Result<Leaves> gather(std::span<const ValueType::Field> fields, Args variables) const;
  /// Checks that the names are free and different, and that there are as many as types, which are
  /// of the table `of`; then gives each the next leaves.
  Status scatter(const TypesPtr& of, std::span<const std::string> types, Args names,
                 const Leaves& leaves);
  Result<size_t> variant_of(const Variable& value, const ValueType& sum);
  Result<std::vector<int64_t>> outer_shape(const Variable& v, const ValueType& array);
  Result<host::LeafPtr> join_leaf(const LeafType& type, const std::vector<int64_t>& outer,
                                  const std::vector<const Variable*>& elements, size_t k);
  Result<data::Value> get(const host::LeafPtr& leaf) { return engine()->get(*leaf); }

  ChosenProgram program_;
  const SessionOptions options_;
  Variables variables_;
  protocol::Reply reply_;  // of the command being executed

  /// Of a call or a kernel, for `report`.
  struct Event {
    const std::string *entry, *program;  // in event_names_; null: not a call
    device::KernelTime time;             // of a call only the microseconds
  };
  void record(Event event);
  /// A call, and what it ran on the device.
  void record_call(const std::string& entry, double microseconds);

  std::atomic<bool> cancelled_ = false;
  SharedMemoryPtr shared_;  // null: the client shares none
  /// Those that make variables of their values when they end have it, too.
  std::shared_ptr<void> streams_ = std::make_shared<char>();
  bool recording_;
  std::vector<Event> events_;
  std::set<std::string> event_names_;  // programs may go before their events
  int64_t lost_events_ = 0;            // since the last report, for want of room
  MemoryShare events_share_;
};

}  // namespace kenaz
