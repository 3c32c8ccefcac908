// How libFuzzer changes program text: by tokens more often than by bytes, so that much of what it
// makes still parses; and by nesting, where limits have to hold.
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

using Tokens = std::vector<std::string>;

bool word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Words, runs of operator characters, single brackets; white space and comments by themselves.
Tokens split(std::string_view text) {
  Tokens tokens;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    const auto kind = [](char c) {
      if (word(c) || c == '.' || c == '\'') return 0;
      if (std::isspace(static_cast<unsigned char>(c)) != 0) return 1;
      return std::strchr("+-*/%=<>!&|^", c) != nullptr && c != 0 ? 2 : 3;
    };
    while (end < text.size() && kind(text[i]) != 3 && kind(text[end]) == kind(text[i])) ++end;
    if (text.substr(i, 2) == "--") end = std::min(text.find('\n', i), text.size());
    tokens.emplace_back(text.substr(i, end - i));
    i = end;
  }
  return tokens;
}

/// What program text is made of, divided by blanks.
constexpr std::string_view kVocabulary = R"(
def entry let in if then else loop for while do match case module type type^ type~ open import
local include with assert \ -> = : :> [ ] ( ) { } , .. ... ..< ..> #a #b #[unsafe] #[inline] 't
'~t '^t * ?[n]. [n] () i32 i64 u8 f16 f32 f64 bool map reduce scan filter scatter iota replicate
zip unzip flatten unflatten transpose rotate partition reduce_by_index sized 0 1 -1
9223372036854775807 18446744073709551616 1e999 0x1p-9999f32 nan true false _ x n f main sig val
copy length |> <| `f` + - ** // %% >>> && || ! == 'a' "text" -- ???
)";

std::vector<std::string> vocabulary() {
  std::istringstream in{std::string(kVocabulary)};
  return {std::istream_iterator<std::string>(in), {}};
}

class Mutator {
 public:
  Mutator(std::string_view text, unsigned seed) : tokens_(split(text)), random_(seed) {}

  std::string mutate() {
    for (int n = 1 + static_cast<int>(below(3)); n > 0; --n) step();
    std::string out;
    for (const auto& t : tokens_) out += t;
    return out;
  }

  /// Puts a piece of another text into this one.
  std::string cross(std::string_view other) {
    const Tokens pieces = split(other);
    if (!pieces.empty()) {
      const size_t from = below(pieces.size());
      const size_t count = 1 + below(std::min<size_t>(40, pieces.size() - from));
      const auto begin = pieces.begin() + static_cast<std::ptrdiff_t>(from);
      tokens_.insert(at(), begin, begin + static_cast<std::ptrdiff_t>(count));
    }
    return mutate();
  }

 private:
  size_t below(size_t n) { return n == 0 ? 0 : random_() % n; }
  Tokens::iterator at() {
    return tokens_.begin() + static_cast<std::ptrdiff_t>(below(tokens_.size() + 1));
  }
  const std::string& any_word() {
    static const auto words = vocabulary();
    return words[below(words.size())];
  }

  void step() {
    if (tokens_.empty()) {
      tokens_.push_back(any_word());
      return;
    }
    const size_t i = below(tokens_.size());
    const size_t count = 1 + below(std::min<size_t>(12, tokens_.size() - i));
    const auto begin = tokens_.begin() + static_cast<std::ptrdiff_t>(i);
    const auto end = begin + static_cast<std::ptrdiff_t>(count);
    switch (below(8)) {
      case 0: tokens_.erase(begin, end); break;
      case 1: tokens_[i] = any_word(); break;
      case 2: tokens_[i] = tokens_[below(tokens_.size())]; break;
      case 3: tokens_.insert(at(), " " + any_word() + " "); break;
      case 4: {
        const Tokens copy(begin, end);
        tokens_.insert(at(), copy.begin(), copy.end());
        break;
      }
      case 5: std::swap(tokens_[i], tokens_[below(tokens_.size())]); break;
      case 6: repeat(begin, end); break;
      default: nest(i, count);
    }
  }

  /// The same piece many times in a row.
  void repeat(Tokens::iterator begin, Tokens::iterator end) {
    std::string piece;
    for (auto t = begin; t != end; ++t) piece += *t;
    const size_t times = below(8) == 0 ? 1000 : 2 + below(10);
    std::string all;
    for (size_t n = 0; n < times && all.size() < 60'000; ++n) all += piece;
    *begin = all;
  }

  /// A piece inside of many brackets, lambdas, types, ..
  void nest(size_t i, size_t count) {
    static const std::pair<const char*, const char*> kAround[] = {
        {"(", ")"},
        {"[", "]"},
        {"{a=", "}"},
        {"(\\x -> ", ")"},
        {"(let x = ", " in x)"},
        {"(if x then ", " else x)"},
        {"(match x case _ -> ", ")"},
        {"(map (\\x -> ", ") x)"},
        {"(#a ", ")"},
        {"[3]", ""},
        {"-", ""},
        {"!", ""},
        {"module m = { ", " }"},
        {"(loop x = 0 for i < 9 do ", ")"},
        {"#[a] ", ""},
        {"x -> ", ""},
        {"x + ", ""}};
    const auto& [open, close] = kAround[below(std::size(kAround))];
    const size_t depth = below(6) == 0 ? 600 : 1 + below(6);
    std::string before, after;
    for (size_t n = 0; n < depth; ++n) {
      before += open;
      after += close;
    }
    tokens_.insert(tokens_.begin() + static_cast<std::ptrdiff_t>(i + count), after);
    tokens_.insert(tokens_.begin() + static_cast<std::ptrdiff_t>(i), before);
  }

  Tokens tokens_;
  std::minstd_rand random_;
};

size_t put(const std::string& text, uint8_t* out, size_t max_size) {
  const size_t n = std::min(text.size(), max_size);
  std::memcpy(out, text.data(), n);
  return n;
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  if (seed % 8 == 0) return LLVMFuzzerMutate(data, size, max_size);
  Mutator mutator({reinterpret_cast<const char*>(data), size}, seed);
  return put(mutator.mutate(), data, max_size);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* a, size_t a_size, const uint8_t* b,
                                            size_t b_size, uint8_t* out, size_t max_size,
                                            unsigned seed) {
  Mutator mutator({reinterpret_cast<const char*>(a), a_size}, seed);
  return put(mutator.cross({reinterpret_cast<const char*>(b), b_size}), out, max_size);
}
