// The Language Server Protocol, version 3.17, for Futhark: diagnostics, hover, definitions,
// completion, document symbols. docs/editors.md says how editors start it.
#pragma once

namespace kenaz::editor {

/// Serves one editor until it says `exit` or `in` ends; to be called on a thread with a large
/// stack. Gives the exit status: 0 after `shutdown`, else 1.
int serve_editor(int in, int out);

}  // namespace kenaz::editor
