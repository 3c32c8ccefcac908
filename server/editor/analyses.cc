#include "server/editor/analyses.h"

#include <algorithm>
#include <utility>

#include "kernels/futhark/service/service.h"
#include "protocol/base/read_file.h"

namespace kenaz::editor {

namespace {
constexpr int64_t kMaxSource = int64_t{64} << 20;
}

SourceReader reader_of(std::shared_ptr<const Texts> texts) {
  return [texts = std::move(texts)](const std::string& path) -> Result<std::string> {
    const auto open = texts->find(path);
    if (open != texts->end()) return *open->second;
    return read_regular_file(path, kMaxSource);
  };
}

// ---- Worker

Worker::Worker()
    : watch_([this](const std::stop_token& end) { watch(end); }), thread_([this] { run(); }) {}

Worker::~Worker() {
  const std::lock_guard lock(mutex_);
  ending_ = true;
  waiting_.clear();
  stop_.request_stop();
  changed_.notify_all();
}

void Worker::add(Job job, const std::string& key) {
  const std::lock_guard lock(mutex_);
  if (!key.empty()) {
    std::erase_if(waiting_, [&](const Waiting& w) { return w.key == key; });
    if (running_ && running_key_ == key) stop_.request_stop();
  }
  waiting_.push_back({key, std::move(job)});
  changed_.notify_all();
}

void Worker::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_.empty() && !running_; });
}

void Worker::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ending_ || !waiting_.empty(); });
    if (ending_) return;
    const Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    running_ = true;
    running_key_ = next.key;
    stop_ = std::stop_source();
    since_ = std::chrono::steady_clock::now();
    const std::stop_token token = stop_.get_token();
    changed_.notify_all();
    lock.unlock();
    next.job(token);
    lock.lock();
    running_ = false;
    changed_.notify_all();
  }
}

void Worker::watch(const std::stop_token& end) {
  std::unique_lock lock(mutex_);
  while (!end.stop_requested()) {
    if (!changed_.wait(lock, end, [&] { return running_; })) return;
    const auto began = since_;
    const auto over = [&] { return !running_ || since_ != began; };
    if (!changed_.wait_until(lock, end, began + kLongest, over)) {
      stop_.request_stop();
      changed_.wait(lock, end, over);
    }
  }
}

// ---- Analyses

const check::Examined* Analyses::of(const std::string& path,
                                    const std::shared_ptr<const Texts>& texts,
                                    const std::stop_token& stop) {
  const SourceReader read = reader_of(texts);
  const auto source = [&](const std::string& file) -> std::optional<std::string> {
    auto text = read(file);
    return text ? std::optional(std::move(*text)) : std::nullopt;
  };
  const auto known = known_.find(path);
  if (known != known_.end()) {
    const auto& sources = known->second.sources;
    const bool same = std::all_of(sources.begin(), sources.end(),
                                  [&](const auto& s) { return source(s.first) == s.second; });
    if (same) return &known->second.examined;
  }
  Known now;
  now.examined = service::analyse(path, read, stop);
  if (stop.stop_requested()) return nullptr;
  for (const auto& file : now.examined.files) now.sources[file] = source(file);
  return &(known_[path] = std::move(now)).examined;
}

}  // namespace kenaz::editor
