#include "server/host/renewing_engine.h"

#include <mutex>
#include <utility>

namespace kenaz::host {
namespace {

/// A leaf on one of the devices that there have been.
struct RenewedLeaf : Leaf {
  RenewedLeaf(LeafPtr leaf, const RenewedDevice* on, uint64_t number)
      : inner(std::move(leaf)), device(on), generation(number) {
    prim = inner->prim;
    shape = inner->shape;
  }
  std::optional<PrimValue> scalar() const override { return inner->scalar(); }
  const LeafPtr inner;
  const RenewedDevice* const device;  // only compared: it may be gone
  const uint64_t generation;
};

tl::unexpected<Error> value_lost() {
  return fail(ErrorKind::kDeviceLost, "The device was lost, and this value with it.");
}

class RenewingEngine : public Engine, public RenewedDevice::User {
 public:
  RenewingEngine(std::shared_ptr<RenewedDevice> device, EngineFactory factory,
                 std::unique_ptr<Engine> first)
      : device_(std::move(device)),
        factory_(std::move(factory)),
        types_(first->types()),
        entries_(first->entries()),
        tuning_params_(first->tuning_params()),
        name_(first->name()),
        engine_(std::move(first)) {
    device_->add(*this);
  }
  ~RenewingEngine() override { device_->remove(*this); }
  RenewingEngine(const RenewingEngine&) = delete;
  RenewingEngine& operator=(const RenewingEngine&) = delete;
  void device_lost() override { replace(nullptr); }

  const TypeTable& types() const override { return types_; }
  const std::vector<EntrySignature>& entries() const override { return entries_; }
  std::string name() const override { return name_; }
  std::optional<program::Target> target() const override {
    return engine_ ? engine_->target() : std::nullopt;
  }
  const std::vector<program::TuningParam>& tuning_params() const override { return tuning_params_; }
  std::vector<Comparison> comparisons() const override {
    return engine_ ? engine_->comparisons() : std::vector<Comparison>();
  }
  std::vector<device::KernelTime> kernel_times() const override {
    return engine_ ? engine_->kernel_times() : std::vector<device::KernelTime>();
  }

  Status prepare() override {
    return with_engine([](Engine& e) { return e.prepare(); });
  }
  Result<LeafPtr> put(const data::Value& value) override {
    return wrapped(with_engine([&](Engine& e) { return e.put(value); }));
  }
  Result<data::Value> get(const Leaf& leaf) override {
    KENAZ_ASSIGN(const LeafPtr inner, unwrapped(leaf));
    return with_engine([&](Engine& e) { return e.get(*inner); });
  }
  Result<std::unique_ptr<LeafWriter>> writer(PrimType prim, std::vector<int64_t> shape) override;
  Result<std::unique_ptr<LeafReader>> reader(LeafPtr leaf) override;
  Result<LeafPtr> element(const LeafPtr& array, int rank, int64_t number) override {
    KENAZ_ASSIGN(const LeafPtr inner, unwrapped(*array));
    return wrapped(with_engine([&](Engine& e) { return e.element(inner, rank, number); }));
  }
  Result<LeafPtr> with_element(const LeafPtr& array, int64_t number, const LeafPtr& element,
                               bool in_place) override;
  Result<LeafPtr> join(PrimType prim, std::vector<int64_t> shape,
                       std::span<const LeafPtr> elements) override;
  Result<std::vector<LeafPtr>> call(const std::string& entry,
                                    std::span<const LeafPtr> args) override;

  void set_call_timeout(std::chrono::microseconds timeout) override {
    timeout_ = timeout;
    if (engine_) engine_->set_call_timeout(timeout);
  }
  void set_call_bytes(int64_t bytes) override {
    call_bytes_ = bytes;
    if (engine_) engine_->set_call_bytes(bytes);
  }
  void set_owner(uint64_t owner) override {
    owner_ = owner;
    if (engine_) engine_->set_owner(owner);
  }
  void set_step_aside(StepAside step_aside) override {
    step_aside_ = std::move(step_aside);
    if (engine_) engine_->set_step_aside(step_aside_);
  }
  void cancel() override {
    if (const auto engine = present()) engine->cancel();
  }
  bool polls_device() const override {
    const auto engine = present();
    return engine && engine->polls_device();
  }
  bool may_go() const override {
    const auto engine = present();
    return !engine || engine->may_go();
  }
  void cancel_calls_of(uint64_t owner) override {
    if (const auto engine = present()) engine->cancel_calls_of(owner);
  }
  void clear_caches() override {
    if (engine_) engine_->clear_caches();
  }
  device::MemoryStats memory() const override {
    const auto engine = present();
    return engine ? engine->memory() : device::MemoryStats{};
  }

  uint64_t generation() const { return device_->generation(); }
  std::shared_ptr<Engine> present() const {
    std::lock_guard lock(mutex_);
    return engine_;
  }
  /// `operation` on the engine, made anew if there is none.
  template <class F>
  auto with_engine(F operation) -> decltype(operation(std::declval<Engine&>())) {
    KENAZ_TRY(renew());
    const std::shared_ptr<Engine> engine =
        engine_;  // a call may lose its turn, and then its engine
    const uint64_t generation = this->generation();
    engine->set_tuning(tuning());
    engine->set_profiled(profiled());
    auto result = operation(*engine);
    note(result, generation);
    return result;
  }
  /// The device is dropped if the result, of that generation, says that it is lost.
  template <class R>
  void note(R& result, uint64_t generation) {
    if (result || result.error().kind != ErrorKind::kDeviceLost) return;
    result.error().context.push_back("all values on the device are lost with it");
    device_->lost(generation);
  }
  Result<LeafPtr> wrapped(Result<LeafPtr> leaf) const {
    if (!leaf) return leaf;
    return std::make_shared<RenewedLeaf>(std::move(*leaf), device_.get(), generation());
  }
  Result<LeafPtr> unwrapped(const Leaf& leaf) const;
  Result<std::vector<LeafPtr>> unwrapped(std::span<const LeafPtr> leaves) const;

 private:
  Status renew();
  void replace(std::shared_ptr<Engine> engine);

  const std::shared_ptr<RenewedDevice> device_;
  const EngineFactory factory_;
  const TypeTable types_;
  const std::vector<EntrySignature> entries_;
  const std::vector<program::TuningParam> tuning_params_;
  const std::string name_;
  std::chrono::microseconds timeout_{0};
  int64_t call_bytes_ = 0;
  uint64_t owner_ = 0;
  StepAside step_aside_;
  mutable std::mutex mutex_;        // for engine_, as far as other threads look at it
  std::shared_ptr<Engine> engine_;  // null: the device was lost
};

void RenewingEngine::replace(std::shared_ptr<Engine> engine) {
  std::unique_lock lock(mutex_);
  engine_.swap(engine);
  lock.unlock();  // the old one goes now, which may take a while
}

Status RenewingEngine::renew() {
  if (engine_) return {};
  KENAZ_ASSIGN(auto device, device_->get());
  auto made = factory_(std::move(device));
  if (!made && made.error().kind == ErrorKind::kOutOfMemory) {
    // Others have filled the device since it was made anew; there may be room at the next attempt.
    made.error().context.push_back("while starting the program anew on a new device");
    return tl::make_unexpected(std::move(made).error());
  }
  if (!made) return tl::make_unexpected(device_->failed(std::move(made).error()));
  (*made)->set_call_timeout(timeout_);
  (*made)->set_call_bytes(call_bytes_);
  (*made)->set_owner(owner_);
  (*made)->set_step_aside(step_aside_);
  replace(std::move(*made));
  return {};
}

Result<LeafPtr> RenewingEngine::unwrapped(const Leaf& leaf) const {
  const auto* own = dynamic_cast<const RenewedLeaf*>(&leaf);
  if (own == nullptr) return internal_error("a value of another engine");
  if (own->device != device_.get()) return internal_error("a value of another device");
  if (own->generation != generation()) return value_lost();
  return own->inner;
}

Result<std::vector<LeafPtr>> RenewingEngine::unwrapped(std::span<const LeafPtr> leaves) const {
  std::vector<LeafPtr> inner;
  for (const LeafPtr& leaf : leaves) {
    KENAZ_ASSIGN(LeafPtr own, unwrapped(*leaf));
    inner.push_back(std::move(own));
  }
  return inner;
}

Result<LeafPtr> RenewingEngine::with_element(const LeafPtr& array, int64_t number,
                                             const LeafPtr& element, bool in_place) {
  KENAZ_ASSIGN(const LeafPtr inner, unwrapped(*array));
  KENAZ_ASSIGN(const LeafPtr part, unwrapped(*element));
  auto made = with_engine([&](Engine& e) { return e.with_element(inner, number, part, in_place); });
  if (made && *made == inner) return array;
  return wrapped(std::move(made));
}

Result<LeafPtr> RenewingEngine::join(PrimType prim, std::vector<int64_t> shape,
                                     std::span<const LeafPtr> elements) {
  KENAZ_ASSIGN(const auto inner, unwrapped(elements));
  return wrapped(with_engine([&](Engine& e) { return e.join(prim, shape, inner); }));
}

Result<std::vector<LeafPtr>> RenewingEngine::call(const std::string& entry,
                                                  std::span<const LeafPtr> args) {
  KENAZ_ASSIGN(const auto inner, unwrapped(args));
  uint64_t generation = 0;
  auto results = with_engine([&](Engine& e) {
    generation = this->generation();  // while it runs there may be another
    return e.call(entry, inner);
  });
  if (!results) return results;
  for (LeafPtr& leaf : *results) {
    leaf = std::make_shared<RenewedLeaf>(std::move(leaf), device_.get(), generation);
  }
  return results;
}

// ---- in pieces

/// What readers and writers have in common: they fail once the engine that they are of is gone.
template <class Piecewise>
class RenewedPieces : public Piecewise {
 public:
  RenewedPieces(RenewingEngine& engine, std::unique_ptr<Piecewise> inner)
      : engine_(engine),
        of_(engine.present()),
        generation_(engine.generation()),
        inner_(std::move(inner)) {}
  decltype(std::declval<Piecewise>().window()) window() override { return inner_->window(); }
  void advance(size_t n) override { inner_->advance(n); }
  Status work() override {
    if (is_lost()) return value_lost();
    Status status = inner_->work();
    engine_.note(status, generation_);
    return status;
  }

 protected:
  bool is_lost() const { return generation_ != engine_.generation(); }
  RenewingEngine& engine_;
  const std::shared_ptr<Engine> of_;
  const uint64_t generation_;
  const std::unique_ptr<Piecewise> inner_;  // goes before its engine
};

using RenewedReader = RenewedPieces<LeafReader>;

class RenewedWriter : public RenewedPieces<LeafWriter> {
 public:
  using RenewedPieces::RenewedPieces;
  Result<LeafPtr> finish() override {
    if (is_lost()) return value_lost();
    auto leaf = inner_->finish();
    engine_.note(leaf, generation_);
    return engine_.wrapped(std::move(leaf));
  }
};

Result<std::unique_ptr<LeafWriter>> RenewingEngine::writer(PrimType prim,
                                                           std::vector<int64_t> shape) {
  KENAZ_ASSIGN(auto inner, with_engine([&](Engine& e) { return e.writer(prim, shape); }));
  return std::make_unique<RenewedWriter>(*this, std::move(inner));
}

Result<std::unique_ptr<LeafReader>> RenewingEngine::reader(LeafPtr leaf) {
  KENAZ_ASSIGN(LeafPtr own, unwrapped(*leaf));
  KENAZ_ASSIGN(auto inner, with_engine([&](Engine& e) { return e.reader(own); }));
  return std::make_unique<RenewedReader>(*this, std::move(inner));
}

}  // namespace

Result<std::unique_ptr<Engine>> make_renewing_engine(std::shared_ptr<RenewedDevice> device,
                                                     EngineFactory factory) {
  KENAZ_ASSIGN(auto on, device->get());
  KENAZ_ASSIGN(auto first, factory(std::move(on)));
  return std::make_unique<RenewingEngine>(std::move(device), std::move(factory), std::move(first));
}

}  // namespace kenaz::host
