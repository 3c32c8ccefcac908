#include "server/device/vulkan/instance.h"

#include <fmt/format.h>

#include <cstring>

#include "server/device/vulkan/driver_globals.h"

namespace kenaz::device {

void ValidationLog::add(std::string message) {
  ++count_;
  std::lock_guard lock(mutex_);
  if (messages_.size() < kKept) messages_.push_back(std::move(message));
}

std::vector<std::string> ValidationLog::messages() const {
  std::lock_guard lock(mutex_);
  return messages_;
}

namespace vulkan {

namespace {

constexpr char kValidationLayer[] = "VK_LAYER_KHRONOS_validation";

VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                          VkDebugUtilsMessageTypeFlagsEXT,
                                          const VkDebugUtilsMessengerCallbackDataEXT* data,
                                          void* user) {
  static_cast<ValidationLog*>(user)->add(data->pMessage != nullptr ? data->pMessage : "");
  return VK_FALSE;
}

VkDebugUtilsMessengerCreateInfoEXT messenger_info(ValidationLog* log) {
  VkDebugUtilsMessengerCreateInfoEXT info{VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT};
  info.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                         VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
  info.pfnUserCallback = on_message;
  info.pUserData = log;
  return info;
}

}  // namespace

Result<std::unique_ptr<Instance>> Instance::create(std::shared_ptr<ValidationLog> validation,
                                                   std::shared_ptr<VulkanFaults> faults) {
  std::unique_ptr<Instance> self(new Instance);
  self->validation_ = std::move(validation);
  self->faults_ = std::move(faults);
  self->functions_.faults = self->faults_.get();
  KENAZ_ASSIGN(self->library_, Library::open("libvulkan.so.1"));
  auto get =
      reinterpret_cast<PFN_vkGetInstanceProcAddr>(self->library_.symbol("vkGetInstanceProcAddr"));
  if (get == nullptr) return internal_error("libvulkan.so.1 has no vkGetInstanceProcAddr");
  KENAZ_TRY(self->functions_.load_global(get));
  if (self->validation_) KENAZ_TRY(self->require_validation_layer());
  KENAZ_TRY(self->create_instance());
  KENAZ_TRY(self->functions_.load_instance(self->instance_));
  if (self->validation_) KENAZ_TRY(self->create_messenger());
  return self;
}

Instance::~Instance() {
  if (messenger_ != VK_NULL_HANDLE) {
    functions_.vkDestroyDebugUtilsMessengerEXT(instance_, messenger_, nullptr);
  }
  // A failed load_instance may leave the table without it; then there is nothing better to do.
  if (instance_ != VK_NULL_HANDLE && functions_.vkDestroyInstance) {
    functions_.vkDestroyInstance(instance_, nullptr);
  }
}

Status Instance::require_validation_layer() const {
  uint32_t count = 0;
  KENAZ_TRY(check_vk(functions_.vkEnumerateInstanceLayerProperties(&count, nullptr),
                     "vkEnumerateInstanceLayerProperties"));
  std::vector<VkLayerProperties> layers(count);
  KENAZ_TRY(check_vk(functions_.vkEnumerateInstanceLayerProperties(&count, layers.data()),
                     "vkEnumerateInstanceLayerProperties"));
  for (const auto& layer : layers) {
    if (std::strcmp(layer.layerName, kValidationLayer) == 0) return {};
  }
  return bad_request(
      fmt::format("Vulkan validation was asked for, but {} is not installed", kValidationLayer));
}

Status Instance::create_instance() {
  uint32_t version = VK_API_VERSION_1_0;
  KENAZ_TRY(
      check_vk(functions_.vkEnumerateInstanceVersion(&version), "vkEnumerateInstanceVersion"));
  if (version < VK_API_VERSION_1_2) {
    return bad_request(fmt::format("the Vulkan library is of version {}.{}; 1.2 is needed",
                                   VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version)));
  }
  VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.pApplicationName = "kenaz";
  application.pEngineName = "kenaz";
  application.apiVersion = VK_API_VERSION_1_2;
  VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  info.pApplicationInfo = &application;
  const char* layers[] = {kValidationLayer};
  const char* extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
  VkDebugUtilsMessengerCreateInfoEXT messenger = messenger_info(validation_.get());
  if (validation_) {
    info.pNext = &messenger;  // covers vkCreateInstance itself
    info.enabledLayerCount = 1;
    info.ppEnabledLayerNames = layers;
    info.enabledExtensionCount = 1;
    info.ppEnabledExtensionNames = extensions;
  }
  const DriverGlobals not_ours;
  return check_vk(functions_.vkCreateInstance(&info, nullptr, &instance_), "vkCreateInstance");
}

Status Instance::create_messenger() {
  if (!functions_.vkCreateDebugUtilsMessengerEXT || !functions_.vkDestroyDebugUtilsMessengerEXT) {
    return internal_error("the Vulkan library has no debug messengers");
  }
  VkDebugUtilsMessengerCreateInfoEXT info = messenger_info(validation_.get());
  return check_vk(functions_.vkCreateDebugUtilsMessengerEXT(instance_, &info, nullptr, &messenger_),
                  "vkCreateDebugUtilsMessengerEXT");
}

}  // namespace vulkan
}  // namespace kenaz::device
