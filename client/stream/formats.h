// What the elements of a stream look like outside: raw, as text, or in Futhark's binary format
// (docs/streams.md).
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "client/lib/pipeline_run.h"
#include "client/stream/fd_input.h"

namespace kenaz::stream {

enum class Format { kRaw, kText, kBinary };

/// The elements' type, and the shape of one: empty for scalars.
struct Element {
  PrimType type = PrimType::kI32;
  client::Shape row;

  size_t values() const;  // scalars in one
  size_t bytes() const { return values() * static_cast<size_t>(prim_size(type)); }
};

/// Reads elements from `input`, which must outlive the source. What is no element, or only a part
/// of one, is a failure of kind kBadRequest that says where, after all elements before it.
std::unique_ptr<client::ElementSource> make_source(Format format, const Element& element,
                                                   FdInput& input);

/// Takes bytes, in order; `flush` sees that they are on their way.
struct Output {
  std::function<Status(std::string_view)> write;
  std::function<Status()> flush;
};

class Sink : public client::ElementSink {
 public:
  /// Writes what belongs behind the last chunk.
  virtual Status finish() = 0;
};
/// `rank` is the number of dimensions of one element. Each chunk is flushed.
std::unique_ptr<Sink> make_sink(Format format, PrimType type, size_t rank, Output output);

}  // namespace kenaz::stream
