// Copies on the device are submitted with a barrier after them and not waited for: calls start with
// what lies behind a barrier, and transfers are in order anyway. Only recorded, they would be lost
// with the next submission if that failed, after this one's client was told that all is well.
#include "server/host/device_elements.h"

#include <atomic>

#include "server/host/device_leaf.h"
#include "server/host/elements.h"

namespace kenaz::host {
namespace {

Result<const DeviceArray*> on_device(const LeafPtr& leaf) {
  const auto* array = dynamic_cast<const DeviceArray*>(leaf.get());
  if (array == nullptr) return internal_error("a value of another engine");
  return array;
}

/// Submits copies that were recorded; also those before one that failed, whose memory others get.
Status submitted(device::Device& device, const Status& recorded) {
  Status done = device.barrier();
  if (done) done = device.submit();
  return recorded ? done : recorded;
}

/// An element's bytes at an offset of a block.
Status place(device::Device& device, const device::BlockPtr& block, int64_t offset,
             const LeafPtr& element, int64_t bytes) {
  if (bytes == 0) return {};
  if (const auto* scalar = dynamic_cast<const HostScalar*>(element.get())) {
    const data::Value value = data::Value::scalar(scalar->value);
    return device.write(block, offset, value.bytes);
  }
  KENAZ_ASSIGN(const DeviceArray* array, on_device(element));
  return device.copy(block, offset, array->block, 0, bytes);
}

}  // namespace

Result<LeafPtr> device_element(device::Device& device, const LeafPtr& array, int rank,
                               int64_t number) {
  KENAZ_ASSIGN(const DeviceArray* from, on_device(array));
  KENAZ_ASSIGN(const ElementPlace at, element_place(*array, rank, number));
  if (static_cast<size_t>(rank) == array->shape.size()) {
    uint64_t bits = 0;
    const auto bytes = std::as_writable_bytes(std::span(&bits, 1));
    const device::ReadBack piece = {from->block, at.offset,
                                    bytes.first(static_cast<size_t>(at.bytes))};
    KENAZ_TRY(device.submit_and_read({&piece, 1}));
    return std::make_shared<HostScalar>(PrimValue{array->prim, bits});
  }
  KENAZ_ASSIGN(auto block, device.allocate_unseen(at.bytes));
  KENAZ_TRY(submitted(device, device.copy(block, 0, from->block, at.offset, at.bytes)));
  return std::make_shared<DeviceArray>(
      array->prim, std::vector<int64_t>(array->shape.begin() + rank, array->shape.end()),
      std::move(block));
}

Result<LeafPtr> device_with_element(device::Device& device, const LeafPtr& array, int64_t number,
                                    const LeafPtr& element, bool in_place) {
  KENAZ_ASSIGN(const DeviceArray* old, on_device(array));
  KENAZ_ASSIGN(const ElementPlace at, element_place(*array, *element, number));
  // Readers and other values may share the block.
  if (in_place && old->block.use_count() == 1) {
    std::atomic_thread_fence(std::memory_order_acquire);  // as where calls consume arguments
    KENAZ_TRY(submitted(device, place(device, old->block, at.offset, element, at.bytes)));
    return array;
  }
  KENAZ_ASSIGN(const int64_t bytes, data::checked_bytes(array->prim, array->shape));
  KENAZ_ASSIGN(auto block, device.allocate_unseen(bytes));
  const auto record = [&]() -> Status {
    KENAZ_TRY(device.copy(block, 0, old->block, 0, bytes));
    KENAZ_TRY(device.barrier());
    return place(device, block, at.offset, element, at.bytes);
  };
  KENAZ_TRY(submitted(device, record()));
  return std::make_shared<DeviceArray>(array->prim, array->shape, std::move(block));
}

Result<LeafPtr> device_join(device::Device& device, PrimType prim, std::vector<int64_t> shape,
                            std::span<const LeafPtr> elements) {
  KENAZ_ASSIGN(const int64_t bytes, joined_bytes(prim, shape, elements));
  KENAZ_ASSIGN(auto block, device.allocate_unseen(bytes));
  if (!elements.empty() && elements.front()->shape.empty()) {
    std::vector<std::byte> all;
    for (const LeafPtr& element : elements) {
      const auto* scalar = dynamic_cast<const HostScalar*>(element.get());
      if (scalar == nullptr) return internal_error("a value of another engine");
      const data::Value value = data::Value::scalar(scalar->value);
      all.insert(all.end(), value.bytes.begin(), value.bytes.end());
    }
    KENAZ_TRY(device.upload(block, 0, all));
  } else {
    const auto record = [&]() -> Status {
      int64_t offset = 0;
      for (const LeafPtr& element : elements) {
        KENAZ_ASSIGN(const int64_t part, data::checked_bytes(prim, element->shape));
        KENAZ_TRY(place(device, block, offset, element, part));
        offset += part;
      }
      return {};
    };
    KENAZ_TRY(submitted(device, record()));
  }
  return std::make_shared<DeviceArray>(prim, std::move(shape), std::move(block));
}

}  // namespace kenaz::host
