// One client's connection: takes lines and data in, has its session carry them out, sends replies
// in order. All of it happens on the I/O thread, except for what is posted to the device's queue.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "server/limits.h"
#include "server/transport/device_queue.h"
#include "server/transport/input_buffer.h"
#include "server/transport/shared_session.h"
#include "server/transport/socket.h"

namespace kenaz {

class Connection;

/// What all connections share. Outlives them.
struct Hub {
  asio::io_context& io;
  DeviceQueue& device;
  Limits limits;
  std::string token;  // empty: none is asked for
  std::shared_ptr<Metrics> metrics;
  std::function<SharedSessionPtr()> new_session;
  NamedSessions named;
  // called once, when a connection has closed and nothing of it is being carried out
  std::function<void(Connection&)> gone;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Hub& hub, std::unique_ptr<Socket> socket, std::string peer)
      : hub_(hub),
        socket_(std::move(socket)),
        peer_(std::move(peer)),
        authenticated_(hub.token.empty()),
        begun_(std::chrono::steady_clock::now()),
        active_(begun_) {}
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start();
  /// Finishes the command at hand, sends its reply, and closes.
  void drain();
  void close(const char* why);
  /// Gives up on the turn that it waits for, if any.
  void drop_waiting();
  /// Closes it if it has idled, or hesitated to say who it is, for too long.
  void check_time(SteadyTime now);

 private:
  void pump();
  bool pump_once();
  bool pump_stream();
  void handle(const std::string& line);
  void handle_auth(const Result<protocol::Request>& request);
  void attach(const std::string& name);
  void run(const std::shared_ptr<const protocol::Request>& request);
  /// `use` when it is this connection's turn in its session, unless it has closed by then. Until
  /// settled() was called nothing else happens here.
  void take_turn(std::function<void(Session&, const TurnPtr&)> use);
  void settled();
  /// No exception leaves `step`; this connection ends instead.
  void guarded(const std::function<void()>& step);
  void begin_stream(const protocol::Request& request, Session& session);
  void end_stream();
  void work_on_stream();
  bool give_input();
  bool send_output();
  void reply(const protocol::Reply& reply);
  /// `job` on the device's thread; then `then` here.
  void on_device(std::function<void()> job, std::function<void()> then);
  void counts_as_mistake();
  void read();
  void was_read(std::error_code error, size_t n, bool into_stream);
  bool flush();
  void was_written(std::error_code error, size_t n, bool from_stream);
  void leave_session();
  size_t unsent() const { return out_.size() + sending_.size() - sending_at_; }

  Hub& hub_;
  const std::unique_ptr<Socket> socket_;
  const std::string peer_;
  SharedSessionPtr session_;
  std::string session_name_;  // empty: it has none
  bool authenticated_;
  int wrong_tokens_ = 0;
  const SteadyTime begun_;
  SteadyTime active_;

  InputBuffer in_;
  std::string out_;      // to be sent after sending_
  std::string sending_;  // from sending_at_ on not yet sent; never moved while a write is under way
  size_t sending_at_ = 0;
  std::unique_ptr<Stream> stream_;

  bool ready_ = false;  // the greeting may be sent
  bool busy_ = false;   // a command is being carried out elsewhere
  bool reading_ = false, writing_ = false;
  bool pumping_ = false;
  bool ended_ = false;                // nothing more comes from the client
  bool closing_ = false;              // no more commands; closes when all is sent
  std::atomic<bool> closed_ = false;  // jobs look at it, before they begin
};

}  // namespace kenaz
