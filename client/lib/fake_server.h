// For tests: a small server on a socket, on a thread of its own. It keeps values as bytes and knows
// upload, download, free, discard, kind, call (which copies its first input; the entry point `fail`
// fails), load (what is named `bad` has errors), unload, program, device, auth, attach, and quit.
#pragma once

#include <fmt/format.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/read.hpp>
#include <asio/read_until.hpp>
#include <asio/ssl.hpp>
#include <asio/streambuf.hpp>
#include <asio/write.hpp>
#include <atomic>
#include <cstdint>
#include <istream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "client/lib/temp_dir.h"

namespace kenaz::client {

/// A certificate for `name` ("DNS:localhost", "IP:127.0.0.1"), its own authority.
inline void make_certificate(const std::string& name, const std::string& cert_file,
                             const std::string& key_file) {
  EVP_PKEY* key = EVP_RSA_gen(2048);
  X509* cert = X509_new();
  X509_set_version(cert, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(cert), 1);
  X509_gmtime_adj(X509_getm_notBefore(cert), -60);
  X509_gmtime_adj(X509_getm_notAfter(cert), 3600);
  X509_set_pubkey(cert, key);
  X509_NAME* subject = X509_get_subject_name(cert);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("kenaz test"), -1, -1, 0);
  X509_set_issuer_name(cert, subject);
  X509_EXTENSION* names = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, name.c_str());
  X509_add_ext(cert, names, -1);
  X509_EXTENSION_free(names);
  X509_sign(cert, key, EVP_sha256());
  std::FILE* out = std::fopen(cert_file.c_str(), "w");
  PEM_write_X509(out, cert);
  std::fclose(out);
  out = std::fopen(key_file.c_str(), "w");
  PEM_write_PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr);
  std::fclose(out);
  X509_free(cert);
  EVP_PKEY_free(key);
}

class FakeServer {
 public:
  enum class Kind { kTcp, kTls, kUnix };
  struct Options {
    Kind kind = Kind::kUnix;
    std::string token;    // wanted; empty: none
    std::string refusal;  // instead of the greeting
    std::string certificate = "IP:127.0.0.1";
    bool silent = false;           // accepts and says nothing
    std::string bad_download;      // a failure after the bytes of every download
    size_t max_upload = SIZE_MAX;  // bytes; after more of them are refused, it closes
  };

  explicit FakeServer(Options options)
      : options_(std::move(options)),
        dir_(*TempDir::make()),
        tcp_(io_),
        local_(io_),
        tls_(asio::ssl::context::tls_server) {
    if (options_.kind == Kind::kUnix) {
      listen(local_, asio::local::stream_protocol::endpoint(dir_.file("socket")));
    } else {
      listen(tcp_, asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    }
    if (options_.kind == Kind::kTls) {
      make_certificate(options_.certificate, ca_file(), dir_.file("key"));
      tls_.use_certificate_file(ca_file(), asio::ssl::context::pem);
      tls_.use_private_key_file(dir_.file("key"), asio::ssl::context::pem);
    }
    thread_ = std::thread([this] { run(); });
  }
  ~FakeServer() {
    stopping_ = true;
    // Wakes the one that accepts.
    asio::error_code ignored;
    if (options_.kind == Kind::kUnix) {
      asio::local::stream_protocol::socket s(io_);
      s.connect(local_.local_endpoint(), ignored);
    } else {
      asio::ip::tcp::socket s(io_);
      s.connect(tcp_.local_endpoint(), ignored);
    }
    thread_.join();
  }

  std::string url() const {
    if (options_.kind == Kind::kUnix) return "unix://" + dir_.file("socket");
    return fmt::format("{}://127.0.0.1:{}", options_.kind == Kind::kTls ? "tls" : "tcp", port());
  }
  int port() const { return tcp_.local_endpoint().port(); }
  std::string ca_file() const { return dir_.file("cert"); }

 private:
  template <class Acceptor, class Endpoint>
  static void listen(Acceptor& acceptor, const Endpoint& endpoint) {
    acceptor.open(endpoint.protocol());
    acceptor.bind(endpoint);
    acceptor.listen();
  }

  void run() {
    while (!stopping_) {
      asio::error_code error;
      if (options_.kind == Kind::kUnix) {
        asio::local::stream_protocol::socket s(io_);
        local_.accept(s, error);
        if (!stopping_ && !error) serve(s);
        continue;
      }
      asio::ip::tcp::socket s(io_);
      tcp_.accept(s, error);
      if (stopping_ || error) continue;
      if (options_.kind == Kind::kTcp) {
        serve(s);
      } else {
        asio::ssl::stream<asio::ip::tcp::socket> tls(std::move(s), tls_);
        tls.handshake(asio::ssl::stream_base::server, error);
        if (!error) serve(tls);
      }
    }
  }

  template <class Socket>
  void serve(Socket& socket) {
    asio::error_code error;
    asio::streambuf buffer;
    auto say = [&](const std::string& text) { asio::write(socket, asio::buffer(text), error); };
    if (!options_.refusal.empty()) {
      say("%%% FAILURE\n" + options_.refusal + "\n%%% OK\n");
      return;
    }
    if (!options_.silent) say("%%% OK\n");
    bool trusted = options_.token.empty();
    std::string session;
    while (asio::read_until(socket, buffer, '\n', error) > 0 && !error) {
      if (options_.silent) continue;
      std::istream in(&buffer);
      std::string line;
      std::getline(in, line);
      std::istringstream words(line);
      std::string command;
      words >> command;
      auto word = [&] {
        std::string w;
        words >> w;
        return w;
      };
      auto refuse = [&](const std::string& why) { say("%%% FAILURE\n" + why + "\n%%% OK\n"); };
      auto& variables = sessions_[session];
      // The bytes after a line.
      auto take = [&](size_t size) {
        std::string bytes(size, '\0');
        const size_t here = std::min(bytes.size(), buffer.size());
        in.read(bytes.data(), static_cast<std::streamsize>(here));
        asio::read(socket, asio::buffer(bytes.data() + here, bytes.size() - here), error);
        return bytes;
      };
      if (command == "auth") {
        trusted = word() == options_.token;
        if (!trusted) {
          refuse("Wrong token");
          return;
        }
      } else if (!trusted) {
        refuse("auth TOKEN comes first");
        return;
      } else if (command == "attach") {
        session = word();
      } else if (command == "quit") {
        return;
      } else if (command == "upload") {
        const size_t size = std::stoull(word());
        if (size > options_.max_upload) {
          refuse("That many bytes are not allowed");
          return;
        }
        std::string bytes = take(size);
        const std::string name = word();
        if (variables.contains(name)) {
          refuse("Variable already exists: " + name);
          continue;
        }
        if (bytes.empty()) {
          refuse("The data ends before the value does");
          continue;
        }
        variables[name] = std::move(bytes);
      } else if (command == "download") {
        const std::string name = word();
        if (!variables.contains(name)) {
          refuse("Unknown variable: " + name);
          continue;
        }
        say(std::to_string(variables[name].size()) + "\n");
        say(variables[name]);
        if (!options_.bad_download.empty()) {
          refuse(options_.bad_download);
          continue;
        }
      } else if (command == "load") {
        const std::string name = word(), sources = take(std::stoull(word()));
        if (name == "bad") {
          refuse("Error at " + sources);
          continue;
        }
        programs_.insert(name);
      } else if (command == "unload" || command == "program") {
        const std::string name = word();
        if (!programs_.contains(name)) {
          refuse("Unknown program: " + name);
          continue;
        }
        if (command == "unload") programs_.erase(name);
      } else if (command == "device") {
        const std::string wanted = word();
        if (wanted.empty()) say(device_ + "\n");
        if (!wanted.empty()) device_ = wanted;
      } else if (command == "kind") {
        say("primitive\n");
      } else if (command == "free") {
        variables.erase(word());
      } else if (command == "discard") {
        for (std::string name = word(); !name.empty(); name = word()) variables.erase(name);
      } else if (command == "call") {
        const std::string entry = word();
        const std::string out = word();
        if (entry == "fail") {
          refuse("It fails");
          continue;
        }
        variables[out] = variables[word()];
        say("a log line\nruntime: 42\n");
      } else {
        refuse("Unknown command: " + command);
        continue;
      }
      say("%%% OK\n");
    }
  }

  const Options options_;
  TempDir dir_;
  asio::io_context io_;
  asio::ip::tcp::acceptor tcp_;
  asio::local::stream_protocol::acceptor local_;
  asio::ssl::context tls_;
  std::atomic<bool> stopping_ = false;
  std::map<std::string, std::map<std::string, std::string>> sessions_;
  std::set<std::string> programs_;
  std::string device_ = "#0";
  std::thread thread_;
};

}  // namespace kenaz::client
