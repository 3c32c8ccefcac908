// The open files of a process that another has started.
#pragma once

namespace kenaz {

/// Closes `first` and all above it.
void close_descriptors_from(int first);

}  // namespace kenaz
