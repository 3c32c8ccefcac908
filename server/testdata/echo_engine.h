// For tests: an engine that computes nothing.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "server/host/engine.h"

namespace kenaz {

struct HostLeaf : host::Leaf {
  explicit HostLeaf(std::shared_ptr<std::atomic<int>> count) : living(std::move(count)) {
    ++*living;
  }
  ~HostLeaf() override { --*living; }
  HostLeaf(const HostLeaf&) = delete;
  HostLeaf& operator=(const HostLeaf&) = delete;
  std::optional<PrimValue> scalar() const override {
    return shape.empty() ? std::optional(value.at(0)) : std::nullopt;
  }
  const std::shared_ptr<std::atomic<int>> living;  // leaves may outlive their engine
  data::Value value;
};

/// Keeps values as they are; `same` gives its argument back, `fail` fails, `sleep` takes that many
/// milliseconds. Counts the leaves that live.
class EchoEngine : public host::Engine {
 public:
  EchoEngine() {
    for (int i = 0; i < kPrimTypeCount; ++i) {
      const auto t = static_cast<PrimType>(i);
      const std::string name(prim_name(t));
      types_[name] = {name, TypeKind::kPrimitive, {{t, 0}}, 0, "", {}, {}};
      types_["[]" + name] = {"[]" + name, TypeKind::kArray, {{t, 1}}, 1, name, {}, {}};
    }
    const LeafType i32{PrimType::kI32, 0}, boolean{PrimType::kBool, 0};
    types_["(i32, bool)"] = {
        "(i32, bool)", TypeKind::kRecord, {i32, boolean}, 0, "", {{"0", "i32"}, {"1", "bool"}}, {}};
    types_["[](i32, bool)"] = {"[](i32, bool)",
                               TypeKind::kArray,
                               {{PrimType::kI32, 1}, {PrimType::kBool, 1}},
                               1,
                               "(i32, bool)",
                               {{"0", "[]i32"}, {"1", "[]bool"}},
                               {}};
    types_["sum"] = {"sum",
                     TypeKind::kSum,
                     {{PrimType::kI8, 0}, i32, {PrimType::kI32, 1}},
                     0,
                     "",
                     {},
                     {{"none", {}, {}}, {"some", {"[]i32", "i32"}, {{2}, {1}}}}};
    entries_ = {{"fail", {{"x", "i32", false, 1}}, "i32", false, {}},
                {"id", {{"xs", "[]i32", false, 1}}, "[]i32", false, {}},
                {"same", {{"x", "(i32, bool)", true, 2}}, "(i32, bool)", false, {"a", "b(1)"}},
                {"sleep", {{"ms", "i32", false, 1}}, "i32", false, {}}};
  }
  const TypeTable& types() const override { return types_; }
  const std::vector<host::EntrySignature>& entries() const override { return entries_; }
  Result<host::LeafPtr> put(const data::Value& value) override {
    auto leaf = std::make_shared<HostLeaf>(living_);
    leaf->prim = value.type;
    leaf->shape = value.shape;
    leaf->value = value;
    return leaf;
  }
  Result<data::Value> get(const host::Leaf& leaf) override {
    return static_cast<const HostLeaf&>(leaf).value;
  }
  Result<std::vector<host::LeafPtr>> call(const std::string& entry,
                                          std::span<const host::LeafPtr> args) override {
    ++calls;
    caller = std::this_thread::get_id();
    if (entry == "fail") {
      return kenaz::fail(ErrorKind::kProgramFailure, "Error: no\n\nBacktrace:\n-> #0  a.fut:1:1-2");
    }
    if (entry == "sleep") {
      const auto& ms = static_cast<const HostLeaf&>(*args[0]).value;
      cancelled_ = false;
      for (auto left = std::min(ms.at(0).as_i64(), longest_sleep); left > 0; --left) {
        if (cancelled_) return kenaz::fail(ErrorKind::kProgramFailure, "cancelled");
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
    return std::vector<host::LeafPtr>(args.begin(), args.end());
  }

  std::atomic<int> calls{0};
  std::atomic<std::thread::id> caller;  // the thread of the last call
  int64_t longest_sleep = INT64_MAX;    // ms

 private:
  const std::shared_ptr<std::atomic<int>> living_ = std::make_shared<std::atomic<int>>(0);

 public:
  const std::atomic<int>& living = *living_;

  void cancel() override { cancelled_ = true; }
  void set_owner(uint64_t owner) override { owner_ = owner; }
  void cancel_calls_of(uint64_t owner) override {
    if (owner_ == owner) cancelled_ = true;
  }

 private:
  std::atomic<bool> cancelled_{false};
  std::atomic<uint64_t> owner_{0};
  TypeTable types_;
  std::vector<host::EntrySignature> entries_;
};

}  // namespace kenaz
