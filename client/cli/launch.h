// What a launcher that `kenaz vulkan` wrote runs.
#pragma once

namespace kenaz::cli {

/// The words after `kenaz launch`: KIND SERVER PROGRAM NAME ARGUMENT.., where KIND is server or
/// exe, perhaps with -reference, and NAME is what the launcher was called as. The arguments are
/// those of the executables that Futhark's compilers make. Gives the exit code, or becomes the
/// server.
int launch(int argc, char** argv);

}  // namespace kenaz::cli
