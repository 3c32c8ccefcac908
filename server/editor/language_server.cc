#include "server/editor/language_server.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>

#include "kernels/futhark/service/service.h"
#include "server/editor/answers.h"
#include "server/editor/frames.h"

namespace kenaz::editor {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::chrono::milliseconds kQuiet{150};  // without a change, before a text is checked
constexpr int kParseError = -32700, kInvalidRequest = -32600, kMethodNotFound = -32601,
              kInvalidParams = -32602, kNotInitialized = -32002;

/// A line or a column.
int64_t count(const json& number) {
  constexpr int64_t kMost = int64_t{1} << 31;
  if (!number.is_number_integer()) throw json::type_error::create(302, "no integer", &number);
  return std::clamp<int64_t>(number.get<int64_t>(), 0, kMost);
}

/// Messages to the editor, from any thread.
class Output {
 public:
  explicit Output(int fd) : fd_(fd) {}

  void notify(const char* method, json params) {
    send({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}});
  }
  void reply(const json& id, json result) {
    send({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
  }
  void refuse(const json& id, int code, const std::string& why) {
    send({{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", why}}}});
  }

 private:
  /// An editor that has gone needs no answer.
  void send(const json& message) {
    const std::string bytes = framed(message.dump(-1, ' ', false, json::error_handler_t::replace));
    const std::lock_guard lock(mutex_);
    for (size_t at = 0; at < bytes.size();) {
      const ssize_t n = ::write(fd_, bytes.data() + at, bytes.size() - at);
      if (n < 0 && errno != EINTR) return;
      if (n > 0) at += static_cast<size_t>(n);
    }
  }

  int fd_;
  std::mutex mutex_;
};

class LanguageServer {
 public:
  LanguageServer(int in, int out) : in_(in), out_(out) {}
  int serve();

 private:
  using Jobs = std::function<json(const Answers&, const check::Index&)>;

  void message(const std::string& body);
  void request(const std::string& method, const json& id, const json& params);
  void notification(const std::string& method, const json& params);
  json initialize(const json& params);
  /// Answers with what `make` says of the analysis of the file, as it is now.
  void answer(const json& id, const std::string& path, Jobs make);
  void complete(const json& id, const std::string& path, SourcePos at);
  bool at_name(const std::string& method, const json& id, const json& params);
  void open(const std::string& uri, std::string text);
  void change(const std::string& path, const json& changes);
  void close(const std::string& path);
  void publish();
  void publish_in_worker(const OpenFiles& files, const std::stop_token& stop);
  /// Milliseconds until there is something to do, or -1.
  int patience() const;

  int in_;
  Output out_;
  FrameReader frames_;
  OpenFiles files_;
  Units units_ = Units::kUtf16;
  enum { kNew, kReady, kDown, kGone } state_ = kNew;
  std::optional<Clock::time_point> due_;  // when to publish
  // For the worker's thread only:
  Analyses analyses_;
  std::map<std::string, std::map<std::string, json>> published_;  // by root, then by file
  Worker worker_;                                                 // last: its jobs use all others
};

int LanguageServer::patience() const {
  if (!due_) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*due_ - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 1000));
}

int LanguageServer::serve() {
  bool whole = false;  // `shutdown` came before the end
  std::array<char, 65536> buffer;
  while (state_ != kGone) {
    pollfd fd{in_, POLLIN, 0};
    const int ready = ::poll(&fd, 1, patience());
    if (due_ && Clock::now() >= *due_) publish();
    if (ready <= 0) continue;
    const ssize_t n = ::read(in_, buffer.data(), buffer.size());
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) break;
    frames_.feed({buffer.data(), static_cast<size_t>(n)});
    while (state_ != kGone) {
      const auto body = frames_.next();
      if (!body) break;
      whole = whole || state_ == kDown;
      message(*body);
      whole = whole || state_ == kDown;
    }
  }
  return whole && state_ == kGone ? 0 : 1;
}

void LanguageServer::message(const std::string& body) {
  const json m = json::parse(body, nullptr, false);
  if (m.is_discarded()) return out_.refuse(nullptr, kParseError, "This is no JSON.");
  const bool has_id = m.is_object() && m.contains("id");
  const json id = has_id && (m["id"].is_string() || m["id"].is_number()) ? m["id"] : json();
  if (!m.is_object() || !m.contains("method") || !m["method"].is_string()) {
    if (m.is_object() && (m.contains("result") || m.contains("error"))) return;  // an answer
    return out_.refuse(id, kInvalidRequest, "This is no request.");
  }
  const auto method = m["method"].get<std::string>();
  const json params = m.value("params", json::object());
  try {
    if (has_id) {
      request(method, id, params);
    } else {
      notification(method, params);
    }
  } catch (const json::exception& e) {
    if (has_id) out_.refuse(id, kInvalidParams, e.what());
  }
}

json LanguageServer::initialize(const json& params) {
  const json encodings =
      params.value(json::json_pointer("/capabilities/general/positionEncodings"), json::array());
  const bool utf8 = std::find(encodings.begin(), encodings.end(), "utf-8") != encodings.end();
  units_ = utf8 ? Units::kUtf8 : Units::kUtf16;
  return {{"serverInfo", {{"name", "kenaz"}}},
          {"capabilities",
           {{"positionEncoding", utf8 ? "utf-8" : "utf-16"},
            {"textDocumentSync", {{"openClose", true}, {"change", 2}, {"save", true}}},
            {"hoverProvider", true},
            {"definitionProvider", true},
            {"documentSymbolProvider", true},
            {"completionProvider", {{"triggerCharacters", {"."}}}}}}};
}

void LanguageServer::request(const std::string& method, const json& id, const json& params) {
  if (state_ == kNew) {
    if (method != "initialize") {
      return out_.refuse(id, kNotInitialized, "The first request is initialize.");
    }
    json result = initialize(params);
    state_ = kReady;
    return out_.reply(id, std::move(result));
  }
  if (state_ == kDown || method == "initialize") {
    return out_.refuse(id, kInvalidRequest, method + " cannot be answered now.");
  }
  if (method == "shutdown") {
    worker_.finish();
    state_ = kDown;
    return out_.reply(id, nullptr);
  }
  if (method == "textDocument/documentSymbol") {
    const std::string path = path_of_uri(params.at("textDocument").at("uri").get<std::string>());
    const auto text = files_.texts->find(path);
    const Answers answers(units_, files_);
    const bool open = text != files_.texts->end();
    return out_.reply(id, open ? answers.symbols(*text->second) : json::array());
  }
  if (!at_name(method, id, params)) {
    out_.refuse(id, kMethodNotFound, "There is no " + method + ".");
  }
}

/// The requests that are about a place; false if it is none of them.
bool LanguageServer::at_name(const std::string& method, const json& id, const json& params) {
  const bool hover = method == "textDocument/hover";
  const bool completion = method == "textDocument/completion";
  if (!hover && !completion && method != "textDocument/definition") return false;
  const std::string path = path_of_uri(params.at("textDocument").at("uri").get<std::string>());
  const json& position = params.at("position");
  const auto text = files_.texts->find(path);
  if (text == files_.texts->end()) {
    out_.reply(id, nullptr);
    return true;
  }
  const Place place{count(position.at("line")), count(position.at("character"))};
  const SourcePos at = to_position(*text->second, place, units_);
  if (completion) {
    complete(id, path, at);
  } else {
    answer(id, path, [=](const Answers& answers, const check::Index& index) {
      return hover ? answers.hover(index, path, at) : answers.definition(index, path, at);
    });
  }
  return true;
}

void LanguageServer::answer(const json& id, const std::string& path, Jobs make) {
  worker_.add([=, this, files = files_](const std::stop_token& stop) {
    const check::Examined* examined = analyses_.of(path, files.texts, stop);
    out_.reply(id, examined ? make(Answers(units_, files), examined->index) : json());
  });
}

void LanguageServer::complete(const json& id, const std::string& path, SourcePos at) {
  worker_.add([=, this, files = files_](const std::stop_token& stop) {
    const auto names = service::complete(path, reader_of(files.texts), at, stop);
    out_.reply(id, Answers::completion(names));
  });
}

void LanguageServer::notification(const std::string& method, const json& params) {
  if (method == "exit") {
    state_ = kGone;
    return;
  }
  if (state_ != kReady) return;
  const std::string kind = method.substr(0, method.find('/'));
  if (method == "workspace/didChangeWatchedFiles") return publish();
  if (kind != "textDocument") return;
  const json& document = params.at("textDocument");
  const auto uri = document.at("uri").get<std::string>();
  if (method == "textDocument/didOpen") {
    open(uri, document.at("text").get<std::string>());
    publish();
  } else if (method == "textDocument/didChange") {
    change(path_of_uri(uri), params.at("contentChanges"));
    due_ = Clock::now() + kQuiet;
  } else if (method == "textDocument/didSave") {
    publish();
  } else if (method == "textDocument/didClose") {
    close(path_of_uri(uri));
    publish();
  }
}

void LanguageServer::open(const std::string& uri, std::string text) {
  const std::string path = path_of_uri(uri);
  auto texts = std::make_shared<Texts>(*files_.texts);
  auto uris = std::make_shared<std::map<std::string, std::string>>(*files_.uris);
  (*texts)[path] = std::make_shared<const std::string>(std::move(text));
  (*uris)[path] = uri;
  files_ = {std::move(texts), std::move(uris)};
}

void LanguageServer::change(const std::string& path, const json& changes) {
  const auto known = files_.texts->find(path);
  if (known == files_.texts->end()) return;
  std::string text = *known->second;
  for (const json& c : changes) {
    const auto& with = c.at("text").get_ref<const std::string&>();
    if (!c.contains("range")) {
      text = with;
      continue;
    }
    const auto byte = [&](const char* end) {
      const json& p = c["range"].at(end);
      return byte_of(text, {count(p.at("line")), count(p.at("character"))}, units_);
    };
    const size_t begin = byte("start"), end = std::max(begin, byte("end"));
    text.replace(begin, end - begin, with);
  }
  auto texts = std::make_shared<Texts>(*files_.texts);
  (*texts)[path] = std::make_shared<const std::string>(std::move(text));
  files_.texts = std::move(texts);
}

void LanguageServer::close(const std::string& path) {
  auto texts = std::make_shared<Texts>(*files_.texts);
  auto uris = std::make_shared<std::map<std::string, std::string>>(*files_.uris);
  texts->erase(path);
  uris->erase(path);
  files_ = {std::move(texts), std::move(uris)};
}

void LanguageServer::publish() {
  due_.reset();
  worker_.add(
      [this, files = files_](const std::stop_token& stop) { publish_in_worker(files, stop); },
      "publish");
}

/// Checks all open files, most of which have not changed, and sends what is new.
void LanguageServer::publish_in_worker(const OpenFiles& files, const std::stop_token& stop) {
  const Answers answers(units_, files);
  auto now = published_;
  std::erase_if(now, [&](const auto& root) {
    if (files.texts->count(root.first) > 0) return false;
    analyses_.forget(root.first);
    return true;
  });
  for (const auto& [path, text] : *files.texts) {
    const check::Examined* examined = analyses_.of(path, files.texts, stop);
    if (examined) now[path] = answers.diagnostics(examined->diagnostics, path);
  }
  const auto by_file = [](const auto& roots) {
    std::map<std::string, json> all;
    for (const auto& [root, parts] : roots) {
      for (const auto& [file, list] : parts) {
        json& whole = all.try_emplace(file, json::array()).first->second;
        for (const json& d : list) {
          if (std::find(whole.begin(), whole.end(), d) == whole.end()) whole.push_back(d);
        }
      }
    }
    return all;
  };
  const auto before = by_file(published_), after = by_file(now);
  for (const auto& [file, list] : after) {
    const auto old = before.find(file);
    if (old != before.end() && old->second == list) continue;
    out_.notify("textDocument/publishDiagnostics",
                {{"uri", files.uri_of(file)}, {"diagnostics", list}});
  }
  for (const auto& [file, list] : before) {
    if (after.count(file) > 0) continue;
    out_.notify("textDocument/publishDiagnostics",
                {{"uri", files.uri_of(file)}, {"diagnostics", json::array()}});
  }
  published_ = std::move(now);
}

}  // namespace

int serve_editor(int in, int out) { return LanguageServer(in, out).serve(); }

}  // namespace kenaz::editor
