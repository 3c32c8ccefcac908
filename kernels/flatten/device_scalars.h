// What one thread of the device is to do.
#pragma once

#include "kernels/ir/ir.h"

namespace kenaz::flatten {

/// Ifs and loops at host level that one thread of the device runs best become ESegs without dims
/// (see is_device_sequential). Comes before the combinators in them are looked at, for they then
/// stay loops of that thread.
void device_scalars(ir::Program& p);

/// Whether a statement is an if or loop that is best run by one thread of the device: it touches
/// array elements, does nothing in parallel that would be worth a launch, and the host knows the
/// sizes of its results beforehand.
bool is_device_sequential(const ir::Program& p, const ir::Stm& s);

/// The statement in an ESeg without dims.
ir::Stm by_one_thread(ir::Program& p, ir::Stm s);

/// The attribute of loops that must run on the host, whatever they contain.
inline constexpr const char* kHostLoop = "host_loop";

}  // namespace kenaz::flatten
