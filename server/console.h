// What a process says on its standard streams, whatever they are: full, closed, or never there.
#pragma once

#include <string_view>

namespace kenaz {

/// Opens those of the descriptors 0 to 2 that are closed, so that no file opened later becomes one
/// of them: reading such a one ends at once, writing to it fails. First of all in main.
void hold_standard_streams();

/// A message to stderr. Where it cannot go there is nobody to tell.
void complain(std::string_view text);

/// What was asked for, to stdout; false, after a complaint, if not all of it got there.
bool print_out(std::string_view text);

}  // namespace kenaz
