// The engine that a session has for a program of a client's: values are where those of the
// server's programs are, and calls are made in the program's process, with copies of them.
#pragma once

#include <memory>

#include "server/host/engine.h"
#include "server/workers/client_programs.h"

namespace kenaz {

/// `values` holds them; it is the session's (see host::engine_for_session). `step_aside` is of the
/// thread that it is used by; may be null: see host::Engine.
std::shared_ptr<host::Engine> make_client_engine(std::shared_ptr<host::Engine> values,
                                                 std::shared_ptr<const ClientPrograms> all,
                                                 ClientProgramPtr program,
                                                 host::Engine::StepAside step_aside);

}  // namespace kenaz
