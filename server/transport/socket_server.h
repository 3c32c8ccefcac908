// Serves connections on sockets: one thread for their input and output (run), and whichever thread
// runs the devices' queues for the work.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/limits.h"
#include "server/session/session.h"
#include "server/transport/device_queues.h"

namespace kenaz {

struct SocketOptions {
  std::vector<std::string> listen;                    // URLs, see listen.h
  uint32_t socket_mode = 0600;                        // of Unix sockets
  std::string tls_cert, tls_key;                      // PEM files; with them, tcp:// speaks TLS
  std::string token;                                  // empty: none is asked for
  std::string metrics_file;                           // empty: none
  bool log_calls = false;                             // a line for each, at level info
  std::chrono::milliseconds wrong_token_delay{1000};  // before the answer to one
  Limits limits;
  SessionOptions session;           // session.metrics must be there; session.memory is for all
  std::function<void()> on_hangup;  // what a SIGHUP is for; null: it ends the server, as SIGTERM
};

class SocketServer {
 public:
  /// Binds and listens; nobody is served before run(). A TCP address that other machines reach
  /// needs both TLS and a token. The queues, one for each device of the pool, must outlive the
  /// server.
  static Result<std::unique_ptr<SocketServer>> create(const SocketOptions& options,
                                                      std::shared_ptr<DevicePool> pool,
                                                      DeviceQueues& queues);
  virtual ~SocketServer() = default;

  /// Where it listens, with the ports that were chosen.
  virtual std::vector<std::string> addresses() const = 0;
  /// Serves until SIGTERM or SIGINT has come (or stop()) and the commands at hand are done, or the
  /// time for that is over, or the signal comes again: calls are then cancelled. Where
  /// `on_hangup` is null, a SIGHUP is the same, unless it was ignored before, as by nohup.
  virtual void run() = 0;
  /// Any thread: as SIGTERM.
  virtual void stop() = 0;
};

/// For a process whose server has run, and is to be destroyed: from now on SIGTERM and SIGINT do
/// nothing. It has been told to end, and would end with their status.
void heed_no_signals();

}  // namespace kenaz
