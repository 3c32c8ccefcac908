// One kernel that is being made out of array IR, and the translation of IR that runs inside one of
// its threads. Everything bound at host level becomes an argument where the code mentions it.
//
// The translation is free functions over a Thread, one file per kind of statement.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/body/dests.h"
#include "kernels/body/env.h"
#include "kernels/body/storage.h"

namespace kenaz::body {

struct Thread {
  /// Makes a kernel of its own. single_thread: the kernel runs as one invocation. `place`: the
  /// statement that it is for.
  Thread(Host& host, std::string name, ir::ProvId place = {}, bool single_thread = false);
  /// Adds to a kernel that somebody else makes, who has the builder for as long as this is used.
  Thread(Host& host, kir::Builder& k);
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

 private:
  struct Own {
    kir::Kernel kernel;
    kir::Builder k{kernel};
  };
  std::unique_ptr<Own> own_;

 public:
  Host& host;
  kir::Builder& k;
  kir::Kernel& kernel;
  Arguments args;
  Env env;
  Dests dests;
  PrivateMemory private_memory;
  Heap heap;
  int64_t local_bytes = 0;  // of tables that are used
  bool single_thread;
  /// What the kernel tells the host, by the cells that it stores to.
  program::Kernel::Tells tells = program::Kernel::kNothing;
  int call_depth = 0;

  const ir::Program& ir() const { return host.ir(); }
  /// Device memory for each thread.
  bool has_private_memory() const { return private_memory.used() || heap.used(); }
  /// Arrays of the thread's own, wherever they are.
  bool has_own_arrays() const { return has_private_memory() || local_bytes > 0; }
};

// ---- whole pieces of code

/// A function of the kernel whose body may use all that a thread may.
kir::FunctionId function(Thread& t, const std::string& name, const std::vector<kir::Type>& params,
                         const std::function<kir::Values(const kir::Values&)>& body);
/// (acc.., elem..) -> acc.. for an operator on scalars.
kir::FunctionId operator_function(Thread& t, const std::string& name, const ir::Monoid& m);
/// Translates a body. Where `dests` has memory for an array result, the array is made there if
/// that can be; otherwise the caller must move it (see place).
std::vector<KernelValue> translate(Thread& t, const ir::Body& b,
                                   const std::vector<std::optional<KernelArray>>& dests = {});
void translate(Thread& t, const ir::Stm& s);
/// Before a body is translated again: the sizes and the memory of the time before are not this
/// one's.
void forget(Thread& t, const ir::Body& b);
/// Whether the size of such an array is known when the kernel is made, and at most so many bytes.
bool is_within(const ir::Type& type, int64_t most);
/// Whether a loop whose result is this array works on it in memory of the thread's own, and it is
/// moved to where it is wanted behind the loop.
bool works_apart(const Host& host, ir::VarId v);
/// Binds a lambda's leading parameters to the i-th rows of host or kernel arrays.
void bind_rows(Thread& t, const std::vector<ir::VarId>& params,
               const std::vector<ir::VarId>& inputs, const kir::Value& i);
/// op(acc, elems), in the middle of other code.
std::vector<KernelValue> combine(Thread& t, const ir::Monoid& m,
                                 const std::vector<KernelValue>& acc,
                                 const std::vector<KernelValue>& elems);
/// Writes an element of a scatter to each dest where its index is in bounds. `results`: index
/// components of all dests, then values.
void scatter_element(Thread& t, const std::vector<KernelArray>& dests,
                     const std::vector<int>& ranks, const std::vector<KernelValue>& results);

// ---- elements

kir::Value element(Thread& t, const KernelArray& a, const kir::Values& at);
/// The i-th row: an element if the array has one dimension.
KernelValue row(Thread& t, const KernelArray& a, const kir::Value& i);
/// The place of the i-th row, or element, of an array in memory.
KernelArray row_place(Thread& t, const KernelArray& a, const kir::Value& i);
/// .. and of `n` rows.
KernelArray rows_place(Thread& t, const KernelArray& a, const kir::Value& start,
                       const kir::Value& n);
/// A part of an array.
SliceDims<kir::Value> slice_dims(Thread& t, const std::vector<ir::Dim>& dims);
KernelArray sliced(Thread& t, const KernelArray& a, const SliceDims<kir::Value>& dims);
/// `index` counts elements from the array's base.
kir::Value load(Thread& t, const KernelArray& a, const kir::Value& index);
void store(Thread& t, const KernelArray& a, const kir::Value& index, const kir::Value& value);
/// Elements one after the other; nothing if both are the same.
void copy(Thread& t, const KernelArray& from, const KernelArray& to);
void copy_element(Thread& t, const KernelArray& from, const KernelArray& to, const kir::Values& at);
/// Makes `to` hold the value, unless it is there already.
void place(Thread& t, const KernelValue& v, const KernelArray& to);

}  // namespace kenaz::body
