// A pipeline from a source of elements to a sink: reading, the server's work and writing go on at
// the same time, and who is slowest sets the pace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "client/lib/pipeline.h"

namespace kenaz::client {

/// Where elements come from. Used by one thread, except for `stop`.
class ElementSource {
 public:
  virtual ~ElementSource() = default;
  /// Fills `out`, whose size is a whole number of elements, and waits for as many. Returns the
  /// number of bytes, a whole number of elements. It is less only where the sequence ends, or
  /// before a failure: the next call then returns 0, or that failure.
  virtual Result<size_t> read(std::span<std::byte> out) = 0;
  /// By another thread: the sequence ends here, also for a `read` that waits.
  virtual void stop() = 0;
};

/// Where results go, one chunk after the other, by one thread.
class ElementSink {
 public:
  virtual ~ElementSink() = default;
  virtual Status write(std::span<const std::byte> elements, const Shape& shape) = 0;
};

/// Takes the source's elements through the pipeline in chunks of `chunk` elements, the last of
/// which may have fewer, until the source ends. Two chunks at a time are on the server, and a few
/// more on their way to and from it: so many bytes are taken here and there, however long the
/// sequence. Fails as the first of source, pipeline and sink does; all results of chunks before are
/// written then. Reads and writes on threads of its own, which have ended when it returns.
Status run_pipeline(Pipeline& pipeline, ElementSource& source, ElementSink& sink, int64_t chunk);

}  // namespace kenaz::client
