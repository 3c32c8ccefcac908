// How many turns the loops of a thread make at most, by a kernel's arguments.
#pragma once

#include "kernels/kir/kir.h"
#include "kernels/program/turns.h"

namespace kenaz::kir {

/// Of the kernel's loops that look whether the call is to stop (Looks), with those around and in
/// them, in launches as most are. Empty: none looks, or how long one goes on is not known, as it
/// hangs on what is in memory. Factors are numbers of Kernel::args.
program::Turns most_turns(const Kernel& kernel);

}  // namespace kenaz::kir
