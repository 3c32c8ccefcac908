// An engine that another one does the work of, for engines that change a part of that.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/host/engine.h"

namespace kenaz::host {

/// Values are the other engine's. What is about programs, and how they run, is not forwarded.
class ForwardingEngine : public Engine {
 public:
  /// Not null.
  explicit ForwardingEngine(std::shared_ptr<Engine> engine) : engine_(std::move(engine)) {}

  std::string name() const override { return engine_->name(); }
  bool polls_device() const override { return engine_->polls_device(); }
  void clear_caches() override { engine_->clear_caches(); }
  device::MemoryStats memory() const override { return engine_->memory(); }

  Result<LeafPtr> put(const data::Value& value) override { return ready().put(value); }
  Result<data::Value> get(const Leaf& leaf) override { return ready().get(leaf); }
  Result<std::unique_ptr<LeafWriter>> writer(PrimType prim, std::vector<int64_t> shape) override {
    return ready().writer(prim, std::move(shape));
  }
  Result<std::unique_ptr<LeafReader>> reader(LeafPtr leaf) override {
    return ready().reader(std::move(leaf));
  }
  Result<LeafPtr> element(const LeafPtr& array, int rank, int64_t number) override {
    return ready().element(array, rank, number);
  }
  Result<LeafPtr> with_element(const LeafPtr& array, int64_t number, const LeafPtr& element,
                               bool in_place) override {
    return ready().with_element(array, number, element, in_place);
  }
  Result<LeafPtr> join(PrimType prim, std::vector<int64_t> shape,
                       std::span<const LeafPtr> elements) override {
    return ready().join(prim, std::move(shape), elements);
  }

 protected:
  Engine& forwarded() const { return *engine_; }
  const std::shared_ptr<Engine>& shared() const { return engine_; }
  /// The engine, prepared for an operation on values that follows.
  virtual Engine& ready() { return *engine_; }

 private:
  const std::shared_ptr<Engine> engine_;
};

}  // namespace kenaz::host
