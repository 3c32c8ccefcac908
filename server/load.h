// From a program's path to an engine that runs it.
#pragma once

#include <memory>

#include "server/device/vulkan/vulkan_device.h"
#include "server/host/engine.h"
#include "server/metrics/metrics.h"
#include "server/options.h"

namespace kenaz {

/// Compiles the program, prints warnings to stderr, and readies the device (or the reference
/// evaluator). `validation` may be null. What the caches do for it, now and
/// when it runs, is counted.
Result<std::unique_ptr<host::Engine>> load(const Options& options,
                                           std::shared_ptr<device::ValidationLog> validation,
                                           std::shared_ptr<Metrics> metrics);

/// --check: prints warnings to stderr. Kind kCompile if the program could not be served (or, with
/// types_only, has a type error), or has warnings where those are errors.
Status check_loading(const Options& options);
/// --print-params: a line "NAME (CLASS)" for each of the program's tuning parameters. Starts no
/// device: thresholds are those of the least of all devices.
Result<std::string> print_params(const Options& options);
/// --explain: how the program runs on the device, as text or JSON.
Result<std::string> explanation(const Options& options);
/// --dump: the text.
Result<std::string> dump(const Options& options);

}  // namespace kenaz
