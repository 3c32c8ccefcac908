// What kernels did on the interpreter, for people and for tools.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/diagnostics/source_reader.h"
#include "server/device/interpreter/observations.h"

namespace kenaz::observe {

using device::interpreter::Observations;
using device::interpreter::ObservedKernel;
using device::interpreter::Site;
using device::interpreter::Unread;

/// A line of a program.
struct Place {
  std::string file;  // empty: not known
  int line = 0;
  std::string range;               // "a.fut:3:4-9"
  int column = 0, end_column = 0;  // within the line; end_column 0: it ends on another one
  friend auto operator<=>(const Place&, const Place&) = default;
};
/// Of a backtrace: the innermost place outside of the prelude, if there is any, else the outermost.
Place user_place(std::string_view backtrace);

/// An access or branch of a kernel, with its copies: a thread may have the code of several
/// elements.
struct Row {
  Place place;
  std::string kernel;
  Site::Kind kind = Site::Kind::kLoad;
  std::string array;
  kir::AccessFigures access;
  kir::BranchFigures branch;
  Unread::Bytes written;  // to device memory; lost: never read. Nothing if not all workgroups ran
};
/// By place, in the order of the program.
std::vector<Row> rows_of(const Observations& seen);

/// What is worth changing.
struct Finding {
  Place place;
  std::string text;  // sentences
  int64_t cost = 0;  // accesses of memory, or turns, that could be saved
};
/// The dearest first.
std::vector<Finding> findings_of(const std::vector<Row>& rows, int subgroup_size);

/// Accesses of device memory, by line.
using Lines = std::map<int, kir::AccessFigures>;
/// By file. Of shared memory only findings tell.
std::map<std::string, Lines> lines_of(const std::vector<Row>& rows);
/// 0 of nothing.
double mean(int64_t sum, int64_t count);
/// The program text of the place; of several lines the first. Empty if it is not known.
std::string quote(const Place& place, const SourceReader& read);
/// "2 launches, 64 workgroups of 128 threads".
std::string launches_text(const ObservedKernel& kernel);
/// "load", "store", ..
std::string_view describe(Site::Kind kind);

/// The program with figures beside its lines, what is worth changing, the kernels.
std::string text(const Observations& seen, const SourceReader& read);
/// One object, with the same; docs/observe.md describes it.
std::string json(const Observations& seen);

/// The same as one page that needs no other file, in HTML.
std::string html(const Observations& seen, const SourceReader& read);

/// "loads", "stores of tile", "a branch", ..
std::string name_of(const Row& row);

}  // namespace kenaz::observe
