#include "server/host/forwarding_engine.h"

namespace kenaz::host {
namespace {

class SessionEngine : public ForwardingEngine {
 public:
  SessionEngine(std::shared_ptr<Engine> engine, uint64_t owner)
      : ForwardingEngine(std::move(engine)), owner_(owner) {}

  const TypeTable& types() const override { return forwarded().types(); }
  const std::vector<EntrySignature>& entries() const override { return forwarded().entries(); }
  std::optional<program::Target> target() const override { return forwarded().target(); }
  const std::vector<program::TuningParam>& tuning_params() const override {
    return forwarded().tuning_params();
  }
  std::vector<Comparison> comparisons() const override { return forwarded().comparisons(); }
  std::vector<device::KernelTime> kernel_times() const override {
    return forwarded().kernel_times();
  }
  void set_call_timeout(std::chrono::microseconds timeout) override {
    forwarded().set_call_timeout(timeout);
  }
  void cancel() override { forwarded().cancel_calls_of(owner_); }

  Status prepare() override { return ready().prepare(); }
  Result<std::vector<LeafPtr>> call(const std::string& entry,
                                    std::span<const LeafPtr> args) override {
    return ready().call(entry, args);
  }

 private:
  Engine& ready() override {
    forwarded().set_owner(owner_);
    forwarded().set_tuning(tuning());
    forwarded().set_profiled(profiled());
    return forwarded();
  }

  const uint64_t owner_;
};

}  // namespace

std::shared_ptr<Engine> engine_for_session(std::shared_ptr<Engine> engine, uint64_t owner) {
  return std::make_shared<SessionEngine>(std::move(engine), owner);
}

}  // namespace kenaz::host
