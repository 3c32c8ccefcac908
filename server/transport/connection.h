// One client's connection: takes lines and data in, has its session carry them out, sends replies
// in order. All of it happens on the I/O thread, except for what is posted to the queues.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "server/limits.h"
#include "server/transport/device_queues.h"
#include "server/transport/input_buffer.h"
#include "server/transport/shared_session.h"
#include "server/transport/socket.h"

namespace kenaz {

class Connection;

/// What all connections share. Outlives them.
struct Hub {
  asio::io_context& io;
  DeviceQueues& devices;
  JobQueue& aside;  // for what takes long without the device
  Limits limits;
  std::string token;  // empty: none is asked for
  std::shared_ptr<Metrics> metrics;
  std::shared_ptr<ClientMemory> memory;  // may be null
  bool log_calls;
  SessionList sessions;
  MakeSession new_session;
  NamedSessions named;
  std::chrono::milliseconds wrong_token_delay;
  // whether one more that has shown the token may stay; it then counts until it is gone
  std::function<bool()> admit;
  // called once, when a connection has closed and nothing of it is being carried out
  std::function<void(Connection&)> gone;
};

std::string too_many_connections(const Limits& limits);  // a complaint

/// Who is at the other end.
struct Peer {
  std::string name;  // for the log: connection 7 from 192.0.2.1:4242
  std::string key;   // the same for all connections of one machine, or of one local user
  // the server's own user, or root, on this machine: sees all sessions
  bool is_operator = false;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  /// `own`: the host memory that it takes before it has sent anything.
  Connection(Hub& hub, std::unique_ptr<Socket> socket, Peer peer, MemoryShare own)
      : hub_(hub),
        socket_(std::move(socket)),
        peer_(std::move(peer)),
        own_(std::move(own)),
        share_(hub.memory, ClientMemory::Use::kPassing),
        authenticated_(hub.token.empty()),
        begun_(std::chrono::steady_clock::now()),
        active_(begun_) {}
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start();
  /// Closes when nothing is being carried out, and the client, once it has its replies, asks for no
  /// more within a second. No calls are begun any more.
  void drain();
  void close(const char* why);
  /// Gives up on the turn that it waits for, if any, and on the file that it reads.
  void abandon();
  bool authenticated() const { return authenticated_; }
  bool closed() const { return closed_; }
  const Peer& peer() const { return peer_; }
  SteadyTime begun() const { return begun_; }
  /// Closes it if it has idled, or hesitated to say who it is, for too long.
  void check_time(SteadyTime now);  // throws nothing

 private:
  /// A command that waits, with the memory that it takes.
  struct Held {
    protocol::Request request;
    MemoryShare share;
  };
  struct Errand;
  /// Back to the I/O thread; false if there is no memory for that now.
  static bool post_back(const std::shared_ptr<Errand>& errand);
  void pump();
  bool pump_once();
  bool pump_stream();
  void handle(const std::string& line);
  void handle_auth(const Result<protocol::Request>& request);
  void refuse_later(std::string why);
  void attach(const std::string& name);
  void use_session(SharedSessionPtr session, std::string name);
  void list_sessions();
  void cancel(const std::string& token);
  void log_call(const protocol::Request& call, const protocol::Reply& reply) const;
  void run(protocol::Request request);
  /// `use` when it is this connection's turn in its session, unless it has closed by then. Until
  /// settled() was called nothing else happens here.
  void take_turn(std::function<void(Session&, const TurnPtr&)> use);
  void settled();
  /// No exception leaves `step`; this connection ends instead.
  template <class Step>
  void guarded(Step&& step) {
    try {
      step();
    } catch (const std::exception& e) {
      broke(e);
    }
  }
  void broke(const std::exception& e);
  /// Tells the client why, and closes when that is sent, or at the next look at the time.
  void end_with(const std::string& why);
  void look_at_time(SteadyTime now);
  bool upload_stalls(SteadyTime now);  // keeps count: to be asked every second or so
  void begin_stream(const protocol::Request& request, Session& session, const TurnPtr& turn);
  void end_stream();
  /// `job` on a thread of the queue's, unless this connection has closed by then; afterwards `then`
  /// here. If the last one of its kind was short, this thread may come to run it (`quick`, may be
  /// null, says so, and is told).
  void run_job(JobQueue& queue, bool* quick, std::function<void()> job, std::function<void()> then);
  /// A command on the queue's thread, and its reply.
  void carry_out(JobQueue& queue, Session& session, const std::shared_ptr<const Held>& held,
                 const TurnPtr& turn);
  bool give_input();
  bool send_output();
  /// Or that there is no memory for it.
  void reply(const protocol::Reply& reply);
  void refuse(const Error& why);
  void counts_as_mistake();
  void read();
  void was_read(std::error_code error, size_t n, bool into_stream);
  bool flush();
  void was_written(std::error_code error, size_t n, bool from_stream);
  void leave_session();
  /// Counts what it has, if the buffer for input had `input` bytes. False: that is too much.
  bool account(size_t input);
  size_t unsent() const { return out_.size() + sending_.size() - sending_at_; }

  Hub& hub_;
  const std::unique_ptr<Socket> socket_;
  const Peer peer_;
  const MemoryShare own_;
  MemoryShare share_;  // what it takes beyond
  SharedSessionPtr session_;
  std::string session_name_;  // empty: it has none
  bool authenticated_;
  int mistakes_ = 0, wrong_tokens_ = 0;  // the latter are some of the former
  const SteadyTime begun_;
  SteadyTime active_;

  InputBuffer in_;
  std::string out_;      // to be sent after sending_
  std::string sending_;  // from sending_at_ on not yet sent; never moved while a write is under way
  size_t sending_at_ = 0;
  TurnPtr stream_turn_;  // in the session, of a stream that needs all of it; else null
  std::unique_ptr<Stream> stream_;
  SteadyTime stream_mark_;     // when stream_bytes_ were there of an upload
  int64_t stream_bytes_ = -1;  // -1: it has not been looked at

  bool ready_ = false;  // the greeting may be sent
  bool busy_ = false;   // a command is being carried out
  bool away_ = false;   // elsewhere: what brings it back is under way
  bool draining_ = false;
  bool dying_ = false;         // says why, and closes
  bool line_dropped_ = false;  // for want of memory
  bool reading_ = false, writing_ = false;
  bool pumping_ = false;
  bool quick_command_ = true, quick_piece_ = true;  // see run_job: the last command, stream's step
  bool ended_ = false;                              // nothing more comes from the client
  bool closing_ = false;                            // no more commands; closes when all is sent
  std::atomic<bool> closed_ = false;                // jobs look at it, before they begin
};

}  // namespace kenaz
