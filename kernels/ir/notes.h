// What passes have decided about a program, for those who ask why it runs as it does (explain/).
// Nothing depends on notes: they are neither printed nor parsed, and a pass may leave them as they
// are. They name statements by their place in the source, which copies of a statement share.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "kernels/ir/terms.h"

namespace kenaz::ir {

/// The combinator at `producer` has become part of the one at the note's place.
struct Fused {
  ProvId producer;
  friend bool operator==(const Fused&, const Fused&) = default;
};

/// What stands at the note's place stays in the thread of its element, though it is parallel.
struct Stays {
  enum class Why : uint8_t {
    kAttribute,    // the program asks for it
    kSizes,        // its number of elements, or the size of what it makes, differs between elements
    kFew,          // it has few elements
    kOperator,     // its operator works on arrays, and not on each element by itself
    kLoop,         // it is a loop whose number of iterations differs between elements
    kBranch,       // it is a branch whose condition differs between elements
    kIntermediate  // a value that it needs differs in size between elements, so it cannot be stored
  };
  Why why = Why::kSizes;
  friend bool operator==(const Stays&, const Stays&) = default;
};

/// One thread of the device runs the statement at the note's place.
struct OneThread {
  enum class Why : uint8_t {
    kElements,  // a loop or branch on elements of arrays, in which nothing is worth more threads
    kOperator,  // as Stays::Why::kOperator
  };
  Why why = Why::kElements;
  friend bool operator==(const OneThread&, const OneThread&) = default;
};

/// The nest at the note's place has one version, although several operations come out of it.
struct OneVersion {
  enum class Why : uint8_t {
    kAttribute,
    kNothingSaved,  // leaving inner levels in a thread would not be fewer operations
    kProduct,       // it is a product of matrices, whose rows and columns share what they load
    kSort,          // rows are sorted, for which all are sorted at once
  };
  Why why = Why::kAttribute;
  friend bool operator==(const OneVersion&, const OneVersion&) = default;
};

/// The nest at the note's place has no version for workgroups.
struct NoGroups {
  enum class Why : uint8_t {
    kAttribute,
    kSizes,      // sizes of what is parallel inside differ between elements
    kControl,    // a loop or branch around it depends on elements of arrays
    kOperation,  // it is no map, or something in it that threads of a workgroup do not share yet
    kNothing,    // there is nothing parallel in it
  };
  Why why = Why::kAttribute;
  friend bool operator==(const NoGroups&, const NoGroups&) = default;
};

struct Note {
  ProvId place;
  std::variant<Fused, Stays, OneThread, OneVersion, NoGroups> what;
  friend bool operator==(const Note&, const Note&) = default;
};

/// Adds a note, unless it is there already.
void add_note(std::vector<Note>& notes, const Note& note);

}  // namespace kenaz::ir
