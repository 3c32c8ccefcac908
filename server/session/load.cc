#include "server/session/load.h"

#include <algorithm>
#include <utility>

namespace kenaz {

namespace {
constexpr size_t kFirst = size_t{4} << 10, kWaste = size_t{64} << 10;
}

Load::Load(std::shared_ptr<ClientPrograms> all, std::string name, std::string client,
           std::string device, int64_t bytes, Status allowed, std::shared_ptr<ClientMemory> memory,
           Keep keep)
    : all_(std::move(all)),
      name_(std::move(name)),
      client_(std::move(client)),
      device_name_(std::move(device)),
      announced_(bytes),
      left_(bytes),
      keep_(std::move(keep)),
      share_(std::move(memory), ClientMemory::Use::kPassing) {
  if (!allowed) give_up(std::move(allowed).error());
}

void Load::give_up(Error error) {
  error_ = std::move(error);
  std::string().swap(sources_);
  have_ = 0;
  share_.set(0);
}

Stream::Want Load::want() const {
  if (left_ > 0) return Want::kInput;
  return error_ || program_ ? Want::kDone : Want::kAside;
}

std::span<std::byte> Load::input() {
  const auto left = static_cast<size_t>(left_);
  if (!error_ && have_ == sources_.size()) {
    const size_t next = have_ + std::min(left, std::max(kFirst, have_));
    if (share_.set(static_cast<int64_t>(next))) {
      sources_.resize(next);
    } else {
      give_up(no_client_memory().value());
    }
  }
  if (error_ && sources_.size() < std::min(left, kWaste)) sources_.resize(std::min(left, kWaste));
  const auto all = std::as_writable_bytes(std::span(sources_)).subspan(have_);
  return all.first(std::min(all.size(), left));
}

void Load::advance(size_t n) {
  left_ -= static_cast<int64_t>(n);
  if (!error_) have_ += n;
}

void Load::aside() {
  auto status = without_exceptions([&]() -> Status {
    sources_.resize(have_);
    KENAZ_ASSIGN(program_, all_->load(name_, sources_, {client_, device_name_}, attempt_));
    return {};
  });
  if (!status) give_up(std::move(status).error());
}

Status Load::finish(Variables&) {
  if (error_) return tl::make_unexpected(*error_);
  keep_(std::move(program_));
  return {};
}

}  // namespace kenaz
