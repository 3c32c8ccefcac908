#include "server/host/engine.h"

#include <fmt/format.h>

#include <new>

namespace kenaz::host {
namespace {

class HostWriter : public LeafWriter {
 public:
  HostWriter(Engine& engine, data::Value value) : engine_(engine), value_(std::move(value)) {}
  std::span<std::byte> window() override { return std::span(value_.bytes).subspan(done_); }
  void advance(size_t n) override { done_ += n; }
  Status work() override { return {}; }
  Result<LeafPtr> finish() override { return engine_.put(value_); }

 private:
  Engine& engine_;
  data::Value value_;
  size_t done_ = 0;
};

class HostReader : public LeafReader {
 public:
  HostReader(Engine& engine, LeafPtr leaf) : engine_(engine), leaf_(std::move(leaf)) {}
  std::span<const std::byte> window() override { return std::span(value_.bytes).subspan(done_); }
  void advance(size_t n) override { done_ += n; }
  Status work() override {
    if (!leaf_) return {};
    KENAZ_ASSIGN(value_, engine_.get(*leaf_));
    leaf_.reset();
    return {};
  }

 private:
  Engine& engine_;
  LeafPtr leaf_;  // until it has been read
  data::Value value_;
  size_t done_ = 0;
};

}  // namespace

Result<std::unique_ptr<LeafWriter>> Engine::writer(PrimType prim, std::vector<int64_t> shape) {
  KENAZ_ASSIGN(const int64_t bytes, data::checked_bytes(prim, shape));
  data::Value value{prim, std::move(shape), {}};
  try {
    value.bytes.resize(static_cast<size_t>(bytes));
  } catch (const std::exception&) {  // bad_alloc, length_error
    return fail(ErrorKind::kOutOfMemory, fmt::format("no memory for a value of {} bytes", bytes));
  }
  return std::make_unique<HostWriter>(*this, std::move(value));
}

Result<std::unique_ptr<LeafReader>> Engine::reader(LeafPtr leaf) {
  return std::make_unique<HostReader>(*this, std::move(leaf));
}

}  // namespace kenaz::host
