// The engine without a device: the reference evaluator, for tests and for machines without Vulkan.
#include "server/host/reference_engine.h"

#include <cstring>

#include "kernels/ir/eval/evaluator.h"
#include "server/host/call_stop.h"

namespace kenaz::host {
namespace {

namespace eval = ir::eval;

struct ReferenceLeaf : Leaf {
  std::optional<PrimValue> scalar() const override {
    return shape.empty() ? std::optional(PrimValue{prim, value.bits}) : std::nullopt;
  }
  eval::Value value;
};

std::shared_ptr<ReferenceLeaf> make_leaf(eval::Value value) {
  auto leaf = std::make_shared<ReferenceLeaf>();
  leaf->prim = value.type.prim;
  leaf->shape = value.array.shape;
  leaf->value = std::move(value);
  return leaf;
}

class ReferenceEngine : public Engine {
 public:
  ReferenceEngine(ir::Lowered lowered, eval::Evaluator evaluator, eval::SegOptions segs)
      : types_(std::move(lowered.types)), evaluator_(std::move(evaluator)), segs_(std::move(segs)) {
    for (const ir::Tune& t : evaluator_.program().tunes) {
      auto cls = program::TuningClass::kNumber;
      if (t.cls == ir::TuneClass::kThreshold) cls = program::TuningClass::kThreshold;
      if (t.cls == ir::TuneClass::kUser) cls = program::TuningClass::kUser;
      tuning_params_.push_back({t.name, cls, t.fallback.value_or(1)});
    }
    for (const auto& e : lowered.entries) {
      EntrySignature s;
      s.name = e.name;
      s.result = e.result;
      s.result_unique = e.result_unique;
      s.attrs = e.attrs;
      s.doc = e.doc;
      for (const auto& t : tuning_params_) s.tuning.push_back(t.name);
      for (const auto& p : e.params) {
        s.params.push_back({p.name, p.type, p.unique, static_cast<int>(leaves_of(p.type))});
      }
      entries_.push_back(std::move(s));
    }
    evaluator_.set_interrupt([this] { return stop_.check(); });
  }

  const TypeTable& types() const override { return types_; }
  const std::vector<EntrySignature>& entries() const override { return entries_; }

  const std::vector<program::TuningParam>& tuning_params() const override { return tuning_params_; }

  void set_call_timeout(std::chrono::microseconds timeout) override { stop_.set_timeout(timeout); }
  void cancel() override { stop_.cancel(); }
  void set_owner(uint64_t owner) override { owner_ = owner; }
  void cancel_calls_of(uint64_t owner) override {
    if (owner_ == owner) stop_.cancel();
  }

  Status prepare() override {
    tune();
    stop_.begin();
    const Status computed = evaluator_.prepare();
    KENAZ_TRY(stop_.end());
    return computed;
  }
  Result<LeafPtr> put(const data::Value& value) override {
    eval::Value v;
    v.type.prim = value.type;
    if (value.shape.empty()) {
      v.bits = value.at(0).bits;
      return make_leaf(std::move(v));
    }
    KENAZ_ASSIGN(v.array, evaluator_.allocate(value.type, value.shape));
    if (!value.bytes.empty()) {
      std::memcpy(v.array.buffer->data.get(), value.bytes.data(), value.bytes.size());
    }
    return make_leaf(std::move(v));
  }

  Result<data::Value> get(const Leaf& leaf) override {
    const auto* own = dynamic_cast<const ReferenceLeaf*>(&leaf);
    if (!own) return internal_error("a value of another engine");
    if (leaf.shape.empty()) return data::Value::scalar({leaf.prim, own->value.bits});
    data::Value v;
    v.type = leaf.prim;
    v.shape = leaf.shape;
    KENAZ_ASSIGN(const int64_t bytes, data::checked_bytes(leaf.prim, leaf.shape));
    const auto& a = own->value.array;
    const std::byte* from = a.buffer->data.get() + a.offset * prim_size(leaf.prim);
    v.bytes.assign(from, from + bytes);
    return v;
  }

  Result<std::vector<LeafPtr>> call(const std::string& entry,
                                    std::span<const LeafPtr> args) override {
    for (const auto& e : evaluator_.program().entries) {
      if (e.name != entry) continue;
      std::vector<eval::Value> values;
      for (const auto& a : args) {
        const auto* own = dynamic_cast<const ReferenceLeaf*>(a.get());
        if (!own) return internal_error("a value of another engine");
        values.push_back(own->value);
      }
      tune();
      stop_.begin();
      auto called = evaluator_.call(e.fun, std::move(values));
      KENAZ_TRY(stop_.end());
      KENAZ_ASSIGN(auto results, std::move(called));
      std::vector<LeafPtr> leaves;
      for (auto& r : results) {
        KENAZ_TRY(result_bytes(r.type.prim, r.array.shape));
        leaves.push_back(make_leaf(std::move(r)));
      }
      return leaves;
    }
    return bad_request("Unknown entry point: " + entry);
  }

 private:
  void tune() {
    for (const auto& p : tuning_params_) segs_.tunes[p.name] = tuned_value(p, tuning().get());
    evaluator_.set_seg_options(segs_);
  }
  size_t leaves_of(const std::string& type) const {
    const auto it = types_.find(type);
    return it == types_.end() ? 1 : it->second.leaves.size();
  }

  TypeTable types_;
  std::vector<EntrySignature> entries_;
  eval::Evaluator evaluator_;
  eval::SegOptions segs_;
  std::vector<program::TuningParam> tuning_params_;
  CallStop stop_;
  std::atomic<uint64_t> owner_ = 0;
};

}  // namespace

Result<std::unique_ptr<Engine>> make_reference_engine(ir::Lowered lowered, eval::SegOptions segs) {
  eval::Evaluator evaluator(std::move(lowered.ir));
  return std::make_unique<ReferenceEngine>(std::move(lowered), std::move(evaluator),
                                           std::move(segs));
}

}  // namespace kenaz::host
