#include "server/device/vulkan/buffer.h"

#include <initializer_list>
#include <optional>

namespace kenaz::device::vulkan {

namespace {

constexpr VkMemoryPropertyFlags kLocal = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
constexpr VkMemoryPropertyFlags kVisible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
constexpr VkMemoryPropertyFlags kCoherent = VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
constexpr VkMemoryPropertyFlags kCached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
constexpr VkMemoryPropertyFlags kUsual = kLocal | kVisible | kCoherent | kCached;
constexpr VkMemoryPropertyFlags kUnified = kUsual;

struct Wish {
  VkMemoryPropertyFlags with, without;
};

std::optional<uint32_t> find_type(const PhysicalDevice& device, uint32_t allowed,
                                  std::initializer_list<Wish> wishes) {
  for (const Wish& wish : wishes) {
    for (uint32_t i = 0; i < device.memory.memoryTypeCount; ++i) {
      const VkMemoryPropertyFlags flags = device.memory.memoryTypes[i].propertyFlags;
      if ((allowed >> i & 1) == 0 || (flags & ~kUsual) != 0) continue;  // no protected or odd ones
      if ((flags & wish.with) == wish.with && (flags & wish.without) == 0) return i;
    }
  }
  return std::nullopt;
}

std::optional<uint32_t> choose_type(const PhysicalDevice& device, uint32_t allowed,
                                    Placement placement) {
  switch (placement) {
    case Placement::kDevice:
      if (device_memory_is_mapped(device)) {
        if (auto t = find_type(device, allowed, {{kUnified, 0}})) return t;
      }
      return find_type(device, allowed, {{kLocal, kVisible}, {kLocal, 0}, {0, 0}});
    case Placement::kStash:
      return find_type(device, allowed,
                       {{kLocal | kVisible | kCoherent, 0}, {kVisible | kCoherent, 0}});
    case Placement::kShared:
      return find_type(device, allowed, {{kLocal | kVisible | kCoherent, 0}});
    case Placement::kMail:
      return find_type(device, allowed,
                       {{kVisible | kCached | kCoherent, kLocal}, {kVisible | kCoherent, 0}});
    case Placement::kStaging:
      return find_type(device, allowed,
                       {{kVisible | kCached | kCoherent, kLocal},
                        {kVisible | kCached | kCoherent, 0},
                        {kVisible | kCached, 0},
                        {kVisible | kCoherent, 0}});
  }
  return std::nullopt;
}

VkMappedMemoryRange whole_range(const Buffer& buffer) {
  VkMappedMemoryRange range{VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE};
  range.memory = buffer.memory.get();
  range.size = VK_WHOLE_SIZE;
  return range;
}

}  // namespace

bool has_shared_memory(const PhysicalDevice& device) {
  return choose_type(device, ~0u, Placement::kShared).has_value();
}

bool device_memory_is_mapped(const PhysicalDevice& device) {
  if (!device.may_map) return false;
  if (device.type != VK_PHYSICAL_DEVICE_TYPE_CPU &&
      device.type != VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU) {
    return false;
  }
  return find_type(device, ~0u, {{kUnified, 0}}).has_value();
}

Status Buffer::flush(const Context& context) const {
  if (coherent) return {};
  const VkMappedMemoryRange range = whole_range(*this);
  return check_vk(context.vk().vkFlushMappedMemoryRanges(context.device(), 1, &range),
                  "vkFlushMappedMemoryRanges");
}

Status Buffer::invalidate(const Context& context) const {
  if (coherent) return {};
  const VkMappedMemoryRange range = whole_range(*this);
  return check_vk(context.vk().vkInvalidateMappedMemoryRanges(context.device(), 1, &range),
                  "vkInvalidateMappedMemoryRanges");
}

Result<Buffer> Buffer::create(const ContextPtr& context, int64_t size, Placement placement) {
  const Functions& vk = context->vk();
  const VkDevice device = context->device();
  Buffer b;
  b.size = size;
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = static_cast<VkDeviceSize>(size);
  info.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
               VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  VkBuffer buffer = VK_NULL_HANDLE;
  KENAZ_TRY(check_vk(vk.vkCreateBuffer(device, &info, nullptr, &buffer), "vkCreateBuffer"));
  b.buffer = OwnedBuffer(context, buffer);
  VkMemoryRequirements needs;
  vk.vkGetBufferMemoryRequirements(device, buffer, &needs);
  const auto type = choose_type(context->physical(), needs.memoryTypeBits, placement);
  if (!type) return internal_error("the device has no memory of a fitting kind");

  VkMemoryAllocateFlagsInfo flags{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO};
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &flags};
  allocate.allocationSize = needs.size;
  allocate.memoryTypeIndex = *type;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  KENAZ_TRY(check_vk(vk.vkAllocateMemory(device, &allocate, nullptr, &memory), "vkAllocateMemory"));
  b.memory = OwnedMemory(context, memory);
  KENAZ_TRY(check_vk(vk.vkBindBufferMemory(device, buffer, memory, 0), "vkBindBufferMemory"));

  const VkMemoryPropertyFlags has = context->physical().memory.memoryTypes[*type].propertyFlags;
  b.coherent = (has & kCoherent) != 0;
  const bool map = placement != Placement::kDevice ||
                   (device_memory_is_mapped(context->physical()) && (has & kUnified) == kUnified);
  if (map) {
    void* mapped = nullptr;
    KENAZ_TRY(
        check_vk(vk.vkMapMemory(device, memory, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory"));
    b.mapped = static_cast<std::byte*>(mapped);
  }
  VkBufferDeviceAddressInfo address{VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO};
  address.buffer = buffer;
  b.address = vk.vkGetBufferDeviceAddress(device, &address);
  return b;
}

}  // namespace kenaz::device::vulkan
