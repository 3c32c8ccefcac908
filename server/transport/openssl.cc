#include "server/transport/openssl.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <atomic>

#include "protocol/base/check.h"

namespace kenaz {
namespace {

struct Loaded {
  KenazOpenssl functions{};
  decltype(&CONF_modules_unload) unload_modules = nullptr;
  Status status;
};

std::atomic<bool> is_loaded = false;

template <class Function>
void find(void* library, const char* name, Function& function, Status& status) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr && status) status = bad_request(fmt::format("OpenSSL has no {}", name));
}

/// Never unloaded: it keeps what it allocates.
Loaded load() {
  Loaded all;
  const std::string file = fmt::format("libssl.so.{}", OPENSSL_SHLIB_VERSION);
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    all.status = bad_request(fmt::format("cannot load {}: {}", file, why != nullptr ? why : "?"));
    return all;
  }
#define OPENSSL_FUNCTION(name) find(library, #name, all.functions.name##_, all.status);
#include "server/transport/openssl_functions.def"
#undef OPENSSL_FUNCTION
  find(library, "CONF_modules_unload", all.unload_modules, all.status);
  is_loaded = static_cast<bool>(all.status);
  return all;
}

const Loaded& loaded() {
  static const Loaded& all = *new Loaded(load());
  return all;
}

}  // namespace

Status load_openssl() { return loaded().status; }

}  // namespace kenaz

const KenazOpenssl& kenaz_openssl() {
  CHECK(kenaz::loaded().status);
  return kenaz::loaded().functions;
}

void kenaz_unload_openssl_modules(int all) {
  if (kenaz::is_loaded) kenaz::loaded().unload_modules(all);
}
