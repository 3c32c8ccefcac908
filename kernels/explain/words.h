// The words for what a report says, and parts of sentences. For the files of this folder.
#pragma once

#include <string>
#include <string_view>

#include "kernels/explain/report.h"

namespace kenaz::explain {

/// For tools: one word.
std::string_view word(Kind k);
std::string_view word(OneByOne w);
std::string_view word(ir::Stays::Why w);
std::string_view word(ir::OneThread::Why w);
std::string_view word(ir::OneVersion::Why w);
std::string_view word(ir::NoGroups::Why w);

/// For people.
std::string_view sentence(Kind k);
std::string_view sentence(OneByOne w);
std::string_view sentence(ir::Stays::Why w);
std::string_view sentence(ir::OneThread::Why w);
std::string_view sentence(ir::OneVersion::Why w);
std::string_view sentence(ir::NoGroups::Why w);

}  // namespace kenaz::explain
