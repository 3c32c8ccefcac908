#include "server/host/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "server/host/elements.h"
#include "server/host/failures.h"

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

const std::vector<program::TuningParam>& Engine::tuning_params() const {
  static const std::vector<program::TuningParam> kNone;
  return kNone;
}

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

Result<int64_t> result_bytes(PrimType prim, std::vector<int64_t>& shape) {
  // What would have such elements, if it had any, is empty.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) {
    for (int64_t& d : shape) d = std::max<int64_t>(d, 0);
  }
  auto bytes = data::checked_bytes(prim, shape);
  if (bytes) return bytes;
  const std::string type = data::shape_text(shape) + std::string(prim_name(prim));
  if (std::any_of(shape.begin(), shape.end(), [](int64_t d) { return d < 0; })) {
    return program_failure(fmt::format("A result of type {} has a negative size.", type), "");
  }
  return program_failure(fmt::format("A result of type {} is larger than values can be.", type),
                         "");
}

// ---- parts of arrays

Result<LeafPtr> Engine::element(const LeafPtr& array, int rank, int64_t number) {
  KENAZ_ASSIGN(const data::Value whole, get(*array));
  KENAZ_ASSIGN(const ElementPlace place, element_place(*array, rank, number));
  data::Value part{whole.type, {whole.shape.begin() + rank, whole.shape.end()}, {}};
  const auto from = whole.bytes.begin() + place.offset;
  part.bytes.assign(from, from + place.bytes);
  return put(part);
}

Result<LeafPtr> Engine::with_element(const LeafPtr& array, int64_t number, const LeafPtr& element,
                                     bool) {
  KENAZ_ASSIGN(const ElementPlace place, element_place(*array, *element, number));
  KENAZ_ASSIGN(data::Value whole, get(*array));
  KENAZ_ASSIGN(const data::Value part, get(*element));
  std::copy(part.bytes.begin(), part.bytes.end(), whole.bytes.begin() + place.offset);
  return put(whole);
}

Result<LeafPtr> Engine::join(PrimType prim, std::vector<int64_t> shape,
                             std::span<const LeafPtr> elements) {
  KENAZ_ASSIGN(const int64_t bytes, joined_bytes(prim, shape, elements));
  data::Value whole{prim, std::move(shape), {}};
  whole.bytes.reserve(static_cast<size_t>(bytes));
  for (const LeafPtr& element : elements) {
    KENAZ_ASSIGN(const data::Value part, get(*element));
    whole.bytes.insert(whole.bytes.end(), part.bytes.begin(), part.bytes.end());
  }
  return put(whole);
}

}  // namespace kenaz::host
