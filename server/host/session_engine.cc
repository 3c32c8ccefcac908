#include "server/host/engine.h"

namespace kenaz::host {
namespace {

class SessionEngine : public Engine {
 public:
  SessionEngine(std::shared_ptr<Engine> engine, uint64_t owner)
      : engine_(std::move(engine)), owner_(owner) {}

  const TypeTable& types() const override { return engine_->types(); }
  const std::vector<EntrySignature>& entries() const override { return engine_->entries(); }
  std::string name() const override { return engine_->name(); }
  const std::vector<program::TuningParam>& tuning_params() const override {
    return engine_->tuning_params();
  }
  std::vector<Comparison> comparisons() const override { return engine_->comparisons(); }
  std::vector<device::KernelTime> kernel_times() const override { return engine_->kernel_times(); }
  void set_call_timeout(std::chrono::microseconds timeout) override {
    engine_->set_call_timeout(timeout);
  }
  void cancel() override { engine_->cancel_calls_of(owner_); }
  void clear_caches() override { engine_->clear_caches(); }
  device::MemoryStats memory() const override { return engine_->memory(); }

  Status prepare() override { return own().prepare(); }
  Result<LeafPtr> put(const data::Value& value) override { return own().put(value); }
  Result<data::Value> get(const Leaf& leaf) override { return own().get(leaf); }
  Result<std::unique_ptr<LeafWriter>> writer(PrimType prim, std::vector<int64_t> shape) override {
    return own().writer(prim, std::move(shape));
  }
  Result<std::unique_ptr<LeafReader>> reader(LeafPtr leaf) override {
    return own().reader(std::move(leaf));
  }
  Result<LeafPtr> element(const LeafPtr& array, int rank, int64_t number) override {
    return own().element(array, rank, number);
  }
  Result<LeafPtr> with_element(const LeafPtr& array, int64_t number, const LeafPtr& element,
                               bool in_place) override {
    return own().with_element(array, number, element, in_place);
  }
  Result<LeafPtr> join(PrimType prim, std::vector<int64_t> shape,
                       std::span<const LeafPtr> elements) override {
    return own().join(prim, std::move(shape), elements);
  }
  Result<std::vector<LeafPtr>> call(const std::string& entry,
                                    std::span<const LeafPtr> args) override {
    return own().call(entry, args);
  }

 private:
  Engine& own() {
    engine_->set_owner(owner_);
    engine_->set_tuning(tuning());
    engine_->set_profiled(profiled());
    return *engine_;
  }

  const std::shared_ptr<Engine> engine_;
  const uint64_t owner_;
};

}  // namespace

std::shared_ptr<Engine> engine_for_session(std::shared_ptr<Engine> engine, uint64_t owner) {
  return std::make_shared<SessionEngine>(std::move(engine), owner);
}

}  // namespace kenaz::host
