#include "kernels/explain/words.h"

#include "protocol/base/check.h"

namespace kenaz::explain {
namespace {

struct Words {
  std::string_view word, sentence;
};

template <class E>
Words words_of(E value) {
#define WORDS(type, name, tool, people)             \
  if constexpr (std::is_same_v<E, type>) {          \
    if (value == type::name) return {tool, people}; \
  }
#include "kernels/explain/words.def"
#undef WORDS
  UNREACHABLE("a value without words");
}

}  // namespace

std::string_view word(Kind k) { return words_of(k).word; }
std::string_view word(OneByOne w) { return words_of(w).word; }
std::string_view word(ir::Stays::Why w) { return words_of(w).word; }
std::string_view word(ir::OneThread::Why w) { return words_of(w).word; }
std::string_view word(ir::OneVersion::Why w) { return words_of(w).word; }
std::string_view word(ir::NoGroups::Why w) { return words_of(w).word; }

std::string_view sentence(Kind k) { return words_of(k).sentence; }
std::string_view sentence(OneByOne w) { return words_of(w).sentence; }
std::string_view sentence(ir::Stays::Why w) { return words_of(w).sentence; }
std::string_view sentence(ir::OneThread::Why w) { return words_of(w).sentence; }
std::string_view sentence(ir::OneVersion::Why w) { return words_of(w).sentence; }
std::string_view sentence(ir::NoGroups::Why w) { return words_of(w).sentence; }

}  // namespace kenaz::explain
